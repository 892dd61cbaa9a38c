// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: when an image was changed last. The acceleration of VTK's filters (Acceleration/) calls
// vtkPMBContourFilter as a pipeline does, and beside that filter's public interface it uses this.
#ifndef vtkPMBContourImageTime_h
#define vtkPMBContourImageTime_h

#include "vtkABINamespace.h"
#include "vtkType.h"

VTK_ABI_NAMESPACE_BEGIN
class vtkAlgorithm;
class vtkImageData;
class vtkInformationIdTypeKey;

namespace vtkPMBContour
{
// When the samples may last have changed, by everything that a user or a filter marks: the array, the image, or an
// algorithm upstream. All are marks of the same clock, so the latest counts. The image that this filter gets says nothing
// behind ParaView's vtkPVPostFilter, which makes a new copy of it with each execution, also for another isovalue: there
// the time is that of what the post filter gets.
vtkMTimeType LastChange(vtkAlgorithm* filter, vtkImageData* image);

// In the information of the input of vtkPMBContourFilter: that time, where the place of another filter in the pipeline
// tells it. Without it the place of vtkPMBContourFilter does.
vtkInformationIdTypeKey* ImageTime();
}
VTK_ABI_NAMESPACE_END
#endif
