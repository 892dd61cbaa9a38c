// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the user is told after an execution, of all its blocks together.
#include "vtkPMBContourInternals.h"

#include <algorithm>
#include <sstream>

VTK_ABI_NAMESPACE_BEGIN
std::string vtkPMBContourFilter::vtkInternals::ExplainNoMemory() const
{
  std::ostringstream text;
  text << "There is not enough memory for the mesh";
  if (this->Counted.points > 0)
  {
    text << " of " << this->Counted.triangles << " triangles and " << this->Counted.points << " points";
  }
  text << ": contour a part of the volume (Extract Subset), or turn normals, gradients and other arrays off.";
  return text.str();
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
  text << (sum.Error.empty() ? "" : "; failed: ") << sum.Error << sum.Note;
  return text.str();
}

// Blocks that cannot be contoured are worth a warning, once for each kind of them.
std::string vtkPMBContourFilter::vtkInternals::ExplainOthers()
{
  std::string kinds;
  for (const std::string& kind : this->Sum.Kinds)
  {
    if (this->Told.insert(kind).second)
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
  if (sum.Ranges == 0 || sum.Several || sum.StandsIn || sum.Isovalues.empty() ||
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
