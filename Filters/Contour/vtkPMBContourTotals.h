// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the results of all blocks of an execution of vtkPMBContourFilter, and what the user reads of them.
#ifndef vtkPMBContourTotals_h
#define vtkPMBContourTotals_h

#include "vtkPMBOnce.h"

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
// The digits with which numbers between these are told apart as well as `least` digits tell those around 0.
int Digits(int least, double minimum, double maximum);

struct Totals
{
  // Adds a block's range.
  void AddRange(const char* array, const std::vector<double>& isovalues, double minimum, double maximum);

  // Adds a block that was contoured.
  void AddContour(const std::string& device, int64_t triangles, int64_t lines, int64_t points, double seconds);

  // Describes the execution.
  std::string Summarize() const;

  // Returns warnings, each of which may be empty. told: the kinds of blocks in earlier ones.
  std::string WarnOfBlocks(Once& told) const;
  std::string WarnOfIsovalues() const;
  std::string WarnOfRange() const;

  int Blocks = 0;
  int Contoured = 0;
  int Lacking = 0;             // blocks without the array
  std::string WhyLacking;      // the error of the first of them
  bool Found = false;          // whether a block has the array
  int Others = 0;              // blocks that are no image data
  std::set<std::string> Kinds; // their classes
  int64_t Triangles = 0;
  int64_t Lines = 0;
  int64_t Points = 0;
  double Seconds = 0.0;
  std::vector<std::string> Devices; // that computed them
  std::string Reading;              // how the volume was read
  bool HasSlice = false;
  bool Aborted = false;
  bool Several = false; // this is one of several pieces
  std::string Error;    // the last one
  Once Errors;
  std::string Note; // on the suggested isovalue
  // About the samples that were read.
  bool HasRange = false;
  std::vector<double> Isovalues;
  std::string NotFinite; // isovalues that were left out
  bool Replaced = false; // all of them were left out, and the suggested one is drawn
  double Minimum = std::numeric_limits<double>::infinity();
  double Maximum = -std::numeric_limits<double>::infinity();
  std::string ArrayName;
};
}
VTK_ABI_NAMESPACE_END
#endif
