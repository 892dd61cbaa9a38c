// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What there is to tell after an execution, of all its blocks together.
#include "vtkPMBContourInternals.h"

#include <algorithm>
#include <sstream>

VTK_ABI_NAMESPACE_BEGIN
vtkPMBContourFilter::vtkInternals::Report vtkPMBContourFilter::vtkInternals::End(std::string& summary)
{
  const Totals& sum = this->Sum;
  Report report;
  this->Contexts.End(/*complete=*/!sum.Aborted);
  if (sum.Blocks == 0)
  {
    summary = "No surface: the input has no blocks";
  }
  else if (sum.Blocks > 1 && sum.Aborted)
  {
    summary = "Aborted";
  }
  else if (sum.Blocks > 1 && !sum.Devices.empty())
  {
    summary = this->SummarizeBlocks();
  }
  else if (!sum.Error.empty()) // of a block that need not have been the last
  {
    summary = "Failed: " + sum.Error;
  }
  // A piece may have none of the blocks that have it.
  if (sum.Lacking > 0 && !sum.Found && !sum.Several && !sum.Aborted)
  {
    report.Error = sum.WhyLacking;
    summary = "Failed: " + sum.WhyLacking;
  }
  report.Warnings = sum.Warnings;
  report.Warnings.push_back(this->ExplainOthers());
  report.Warnings.push_back(this->ExplainNotFinite());
  report.Warnings.push_back(this->ExplainRange());
  return report;
}

std::string vtkPMBContourFilter::vtkInternals::SummarizeBlocks() const
{
  const Totals& sum = this->Sum;
  std::ostringstream text;
  text.precision(3);
  for (const std::string& device : sum.Devices)
  {
    text << (text.tellp() > 0 ? "; " : "") << device;
  }
  text << ": " << sum.Contoured << " of " << sum.Blocks << " blocks, " << sum.Triangles << " triangles";
  text << (sum.Lines > 0 ? ", " + std::to_string(sum.Lines) + " lines" : "");
  text << " and " << sum.Points << " points in " << sum.Seconds << " s";
  if (sum.Lacking > 0)
  {
    text << "; without the array: " << sum.Lacking;
  }
  if (sum.Others > 0)
  {
    text << "; no image data: " << sum.Others;
  }
  text << (sum.Error.empty() ? "" : "; failed: ") << sum.Error << this->Suggested.Note;
  return text.str();
}

// Blocks that cannot be contoured are worth a warning, once for each kind of them.
std::string vtkPMBContourFilter::vtkInternals::ExplainOthers()
{
  std::string kinds;
  for (const std::string& kind : this->Sum.Kinds)
  {
    if (this->ToldKinds.insert(kind).second)
    {
      kinds += (kinds.empty() ? "" : ", ") + kind;
    }
  }
  if (kinds.empty())
  {
    return std::string();
  }
  std::ostringstream warning;
  warning
    << this->Sum.Others << " of " << this->Sum.Blocks << " blocks are no image data (" << kinds
    << ") and have an empty output: contour them with vtkContourFilter (in ParaView: Contour), or resample them to "
       "image data first. This is said once.";
  return warning.str();
}

std::string vtkPMBContourFilter::vtkInternals::ExplainNotFinite() const
{
  if (this->Sum.NotFinite.empty())
  {
    return std::string();
  }
  return "Isovalues that are no finite numbers are left out: " + this->Sum.NotFinite + ". " +
    (this->Sum.Replaced ? "There is no other: the suggested one is used. " : "") + "Set finite numbers.";
}

std::string vtkPMBContourFilter::vtkInternals::ExplainRange() const
{
  const Totals& sum = this->Sum;
  const auto isInside = [&sum](double isovalue) { return isovalue >= sum.Minimum && isovalue <= sum.Maximum; };
  if (sum.Ranges == 0 || sum.Several || sum.Isovalues.empty() ||
    std::any_of(sum.Isovalues.begin(), sum.Isovalues.end(), isInside))
  {
    return std::string();
  }
  std::ostringstream warning;
  if (sum.Minimum > sum.Maximum)
  {
    warning << "The array '" << sum.ArrayName << "' has no finite sample: the output is empty.";
  }
  else
  {
    warning << "No isovalue lies in the range of the array '" << sum.ArrayName << "', " << sum.Minimum << " to "
            << sum.Maximum << ": the output is empty.";
  }
  return warning.str();
}
VTK_ABI_NAMESPACE_END
