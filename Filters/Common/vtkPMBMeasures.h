// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: turns the core's results on a volume and a surface into VTK's arrays and tables.
#ifndef vtkPMBMeasures_h
#define vtkPMBMeasures_h

#include "vtkPMBContexts.h"

VTK_ABI_NAMESPACE_BEGIN
class vtkDoubleArray;
class vtkPolyData;
class vtkTable;

namespace vtkPMB
{
// Measures the mesh of each isovalue, without ghost triangles, and adds arrays with a tuple for each to the output's field
// data. Adds nothing on failure. Throws Failed; returns PMB_OK or PMB_ABORTED.
pmb_status MeasureSurface(pmb_context* context, const pmb_mesh& mesh, const std::vector<pmb_sizes>& parts,
  const std::vector<double>& isovalues, vtkPolyData* output);

// Finds isovalues to start with, the best first, and vtkPMBContourFilter::GetIsovalueCurve(), for the bound volume. Both are
// empty on failure.
pmb_status Explore(const Context& context, vtkDoubleArray* isovalues, vtkDoubleArray* curve);

// Fills the table of vtkPMBIsovalueHistogram for the bound volume; without rows if its range is empty. Leaves the table as it
// was on failure. Throws std::bad_alloc.
pmb_status FillHistogram(const Context& context, int bins, vtkTable* table);
}
VTK_ABI_NAMESPACE_END
#endif
