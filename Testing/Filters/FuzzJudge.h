// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the fuzzer demands of the filter's output.
#ifndef FuzzJudge_h
#define FuzzJudge_h

#include "FuzzInput.h"
#include "FuzzReference.h"

#include "vtkPolyData.h"

#include <sstream>
#include <string>
#include <vector>

namespace fuzz
{
// The faults of one round, each a line.
struct Report
{
  std::vector<std::string> Faults;

  std::vector<std::string> About; // what they are of

  // More than a few tell no more.
  bool IsFull() const { return this->Faults.size() >= 10; }
  void Add(const std::string& fault)
  {
    if (!this->IsFull())
    {
      this->Faults.push_back(fault);
    }
  }
};

#define FUZZ_CHECK(report, condition, what)    \
  do                                           \
  {                                            \
    if (!(condition))                          \
    {                                          \
      std::ostringstream fuzzText;             \
      fuzzText.precision(17);                  \
      fuzzText << what << " (" #condition ")"; \
      (report).Add(fuzzText.str());            \
    }                                          \
  } while (false)

enum Outcome
{
  NOTHING, // an empty output, no error
  FAULT,   // an empty output, one error
  LINES,
  MESH,
  EITHER // at the border of what numbers hold: MESH or FAULT, or without memory for it FAULT
};

// What an execution with these settings has to give. `array`: what is contoured, if anything can be.
Outcome Expect(const Settings& settings, vtkImageData* image, vtkDataArray*& array);

void JudgeMesh(const Reference& reference, const Settings& settings, vtkImageData* image, vtkDataArray* array,
  vtkPolyData* output, Report& report);
void JudgeLines(
  const Settings& settings, vtkImageData* image, vtkDataArray* array, vtkPolyData* output, Report& report);
// With one point per sheet: the triangles and corners of the joined mesh, which the reference is, as a manifold. Gives the
// reference the points and ids of the output. False: it is another mesh.
bool JudgeSheets(
  Reference& reference, const Settings& settings, vtkImageData* image, vtkPolyData* output, Report& report);
// Point, cell and field arrays that come along.
void JudgeArrays(const Reference& reference, const Settings& settings, vtkImageData* image, vtkDataArray* array,
  vtkPolyData* output, Report& report);
// The field arrays about area, volume and topology.
void JudgeMeasures(const Reference& reference, const Settings& settings, vtkPolyData* output, Report& report);
// Against vtkMarchingCubes and vtkFlyingEdges3D, if they can do this one. False: they cannot.
bool JudgeByVTK(const Reference& reference, const Settings& settings, vtkImageData* image, vtkDataArray* array,
  vtkPolyData* output, Report& report);

// Empty: equal to the byte, arrays and their names included.
std::string Difference(vtkPolyData* a, vtkPolyData* b);
}
#endif
