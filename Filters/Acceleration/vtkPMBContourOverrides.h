// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: how VTK's filters come to a StandIn.
#ifndef vtkPMBContourOverrides_h
#define vtkPMBContourOverrides_h

#include "vtkABINamespace.h"

#include <string>

VTK_ABI_NAMESPACE_BEGIN
class vtkAlgorithm;

namespace vtkPMBContour
{
// A vtkPMBContourAcceleration::FilterType: which of the three this is; 0 for everything else, subclasses included.
int WhichFilter(vtkAlgorithm* algorithm);

// Makes vtkContourFilter::New() give overrides, from now on.
void RegisterFactory();

// Makes a pipeline of ours the executive of all algorithms that are made from now on, for vtkFlyingEdges3D and
// vtkMarchingCubes, whose New() asks no factory. Returns nothing, or the class of executive that the program has set.
std::string RegisterPipeline();
}
VTK_ABI_NAMESPACE_END
#endif
