// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: vtkContourFilter in terms of vtkPMBContourFilter.
#ifndef vtkPMBContourStock_h
#define vtkPMBContourStock_h

#include "vtkABINamespace.h"

#include <string>

VTK_ABI_NAMESPACE_BEGIN
class vtkContourFilter;
class vtkDataObject;
class vtkInformation;
class vtkPMBContourFilter;
class vtkPolyData;

namespace vtkPMBContourStock
{
// Sets the filter as the stock one is set. Returns why VTK's own code has to run with these settings, or nothing.
std::string CopySettings(vtkContourFilter* stock, vtkPMBContourFilter* filter);

// Returns why VTK's own code has to run with this input, or nothing. The filter has the settings.
std::string Refuse(vtkPMBContourFilter* filter, vtkDataObject* input, vtkInformation* inInfo);

// Gives the filter's mesh to the output, with the arrays' order, names and types of the stock filter. Keeps the output's field data.
void HandOver(vtkPMBContourFilter* filter, vtkPolyData* output);
}
VTK_ABI_NAMESPACE_END
#endif
