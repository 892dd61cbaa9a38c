// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: area, volume and topology of the surface, as field data.
#ifndef vtkPMBContourMeasures_h
#define vtkPMBContourMeasures_h

#include "vtkABINamespace.h"

#include "pmb.h"

#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkPolyData;

namespace vtkPMBContour
{
// Measures the mesh that is in the output, where that of each isovalue is a part, and adds arrays with a tuple per isovalue
// to the output's field data. Triangles that the cells' vtkGhostType says are not to be shown are left out. If the status
// is not PMB_OK, the context knows why, and nothing is added.
pmb_status MeasureSurface(pmb_context* context, const pmb_mesh& mesh, const std::vector<pmb_sizes>& parts,
  const std::vector<double>& isovalues, vtkPolyData* output);
}

VTK_ABI_NAMESPACE_END
#endif
