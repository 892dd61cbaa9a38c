// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: isolines of a 2D image, by VTK's own filter.
#ifndef vtkPMBContourSlice_h
#define vtkPMBContourSlice_h

#include "vtkPMBContourOutput.h"

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
// Isolines of one component of the array of an image with exactly one dimension of 1, at the isovalues, one after
// another. The same rules as for surfaces: the image's direction matrix is honoured, a cell with a sample that is not
// finite gives no line, and other arrays come along. Once `goOn` says no the rest is left out; VTK's filter, which takes
// a part of the time, asks only after each isovalue. range: of the finite, visible samples; from high to low if there is none. False: `error`.
bool ContourSlice(vtkImageData* image, vtkDataArray* contoured, int component, const std::vector<double>& isovalues,
  const OutputChoice& choice, vtkPolyData* output, double range[2], std::string& error, const GoOn& goOn);
}

VTK_ABI_NAMESPACE_END
#endif
