// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: how much there is to do in an execution, for the pace of its progress.
#ifndef vtkPMBContourWork_h
#define vtkPMBContourWork_h

#include "vtkPMBContourInput.h"
#include "vtkPMBContourOutput.h"

#include "pmb.h"

#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
const double SamplesOfBrick = 32 * 4 * 4;

// What the isovalues give, all of them together: an estimate, until it is counted.
struct Surface
{
  double Points = 0;
  double Triangles = 0;
  double ActiveBricks = 0;
};

// What the time of an execution depends on.
struct Work
{
  bool OnGPU = false;
  bool Binds = false;  // the volume is not there yet
  bool Copies = false; // to where the core can read it
  double Samples = 0;
  double SampleBytes = 0; // of one
  double Isovalues = 1;
  Surface TheSurface;
  double PointBytes = 0;    // of what the core writes for a point, without other arrays
  double TriangleBytes = 0; // of its ids and offset
  double PassedValues = 0;  // for a point, of other arrays
  double CopiedValues = 0;  // samples of other arrays that are copied first
  double CellBytes = 0;     // of a triangle's cell arrays that lie tuple after tuple
  double OtherCells = 0;    // its other cell arrays
  bool Suggests = false;
  bool Measures = false;
};

// What the isovalues will give, from some rows of samples all over the volume: good to perhaps a third. Looked at is only a
// volume that is so large that this takes no time beside reading it, and only if there is an isovalue (one that is to be
// suggested is not there yet); else the result is `known`, what the last volume or the last isovalue gave.
Surface EstimateSurface(const Binding& volume, vtkDataArray* array, int component,
  const std::vector<double>& isovalues, const Surface& known);

// All but OnGPU, Binds, Suggests and Measures.
Work DescribeWork(const Binding& volume, vtkImageData* image, vtkDataArray* array, const OutputChoice& choice,
  size_t isovalues, const Surface& surface);
}

VTK_ABI_NAMESPACE_END
#endif
