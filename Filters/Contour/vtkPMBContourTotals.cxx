// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourTotals.h"

#include <algorithm>
#include <cmath>
#include <sstream>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
int Digits(int least, double minimum, double maximum)
{
  const double most = std::max(std::abs(minimum), std::abs(maximum)), range = maximum - minimum;
  return range > 0 && range < most ? std::min(17, least + static_cast<int>(std::log10(most / range))) : least;
}

void Totals::AddRange(const char* array, const std::vector<double>& isovalues, double minimum, double maximum)
{
  this->HasRange = true;
  this->Minimum = std::min(this->Minimum, minimum);
  this->Maximum = std::max(this->Maximum, maximum);
  this->ArrayName = array ? array : "";
  this->Isovalues = isovalues;
}

void Totals::AddContour(const std::string& device, int64_t triangles, int64_t lines, int64_t points, double seconds)
{
  ++this->Contoured;
  this->Triangles += triangles;
  this->Lines += lines;
  this->Points += points;
  this->Seconds += seconds;
  if (std::find(this->Devices.begin(), this->Devices.end(), device) == this->Devices.end())
  {
    this->Devices.push_back(device);
  }
}

std::string Totals::Summarize() const
{
  const bool isAlone = this->Blocks == 1;
  std::ostringstream text;
  text.precision(3);
  for (const std::string& device : this->Devices)
  {
    text << (text.tellp() > 0 ? "; " : "") << device;
  }
  text << ": ";
  isAlone ? text << this->Reading : text << this->Contoured << " of " << this->Blocks << " blocks, ";
  if (!isAlone || !this->HasSlice)
  {
    text << this->Triangles << " triangles" << (this->Lines > 0 ? ", " : "");
  }
  if (isAlone ? this->HasSlice : this->Lines > 0)
  {
    text << this->Lines << " lines";
  }
  text << " and " << this->Points << " points in " << this->Seconds << " s";
  if (this->Lacking > 0)
  {
    text << "; without the array: " << this->Lacking;
  }
  if (this->Others > 0)
  {
    text << "; no image data: " << this->Others;
  }
  text << (this->Error.empty() ? "" : "; failed: ") << this->Error << this->Note;
  return text.str();
}

std::string Totals::WarnOfBlocks(Once& told) const
{
  std::string kinds;
  for (const std::string& kind : this->Kinds)
  {
    if (told(kind))
    {
      kinds += (kinds.empty() ? "" : ", ") + kind;
    }
  }
  std::ostringstream text;
  text
    << this->Others << " of " << this->Blocks << " blocks are not image data (" << kinds
    << ") and give no surface: contour them with vtkContourFilter (in ParaView: Contour), or resample them to image "
       "data first. This warning appears once.";
  return kinds.empty() ? "" : text.str();
}

std::string Totals::WarnOfIsovalues() const
{
  return this->NotFinite.empty() ? ""
                                 : "Isovalues that are not finite are ignored: " + this->NotFinite + ". " +
      (this->Replaced ? "No other is set: the suggested isovalue is used. " : "") + "Set finite numbers.";
}

std::string Totals::WarnOfRange() const
{
  const auto isInside = [this](double isovalue) { return isovalue >= this->Minimum && isovalue <= this->Maximum; };
  if (!this->HasRange || this->Several || this->Isovalues.empty() ||
    std::any_of(this->Isovalues.begin(), this->Isovalues.end(), isInside))
  {
    return "";
  }
  std::ostringstream text;
  text.precision(Digits(6, this->Minimum, this->Maximum));
  text << "No isovalue lies in the range of the array '" << this->ArrayName << "', " << this->Minimum << " to "
       << this->Maximum;
  return (this->Minimum > this->Maximum ? "The array '" + this->ArrayName + "' has no finite sample" : text.str()) +
    ": the output is empty.";
}
}
VTK_ABI_NAMESPACE_END
