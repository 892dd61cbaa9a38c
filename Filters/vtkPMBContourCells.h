// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the image's cell arrays, copied to the triangles.
#ifndef vtkPMBContourCells_h
#define vtkPMBContourCells_h

#include "vtkPMBContourArrays.h"

#include <utility>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkAbstractArray;
class vtkIdList;

namespace vtkPMBContour
{
// Pairs of an array with a tuple for each cell, and one with a tuple for each triangle.
using CellArrayPairs = std::vector<std::pair<vtkAbstractArray*, vtkSmartPointer<vtkAbstractArray>>>;

// Copies to every triangle the tuple of its cell, on at most so many threads. `goOn` is asked by this thread, every few
// milliseconds; once it says no the rest is left out, and the result is false.
bool CopyCells(const CellArrayPairs& arrays, vtkIdList* cells, int threads, const GoOn& goOn);
}

VTK_ABI_NAMESPACE_END
#endif
