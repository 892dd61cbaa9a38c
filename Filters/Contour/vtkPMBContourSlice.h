// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: isolines of flat images.
#ifndef vtkPMBContourSlice_h
#define vtkPMBContourSlice_h

#include "vtkPMBProgress.h"

#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkDataArray;
class vtkImageData;
class vtkPMBContourFilter;
class vtkPolyData;

namespace vtkPMB
{
// Makes isolines of an image with exactly one dimension of 1 by the rules of surfaces, one isovalue after another. range: of the
// finite, visible samples; low > high without any. Throws Failed.
void ContourSlice(vtkPMBContourFilter* filter, vtkImageData* image, vtkDataArray* contoured,
  const std::vector<double>& isovalues, vtkPolyData* output, double range[2], const Report& report);
}
VTK_ABI_NAMESPACE_END
#endif
