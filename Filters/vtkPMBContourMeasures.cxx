// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourOutput.h"

#include "vtkDataSetAttributes.h"
#include "vtkDoubleArray.h"
#include "vtkFieldData.h"
#include "vtkNew.h"
#include "vtkPolyData.h"
#include "vtkTypeInt64Array.h"
#include "vtkUnsignedCharArray.h"

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
// What another piece, or a finer level, shows.
const int NotShown =
  vtkDataSetAttributes::DUPLICATECELL | vtkDataSetAttributes::REFINEDCELL | vtkDataSetAttributes::HIDDENCELL;

template <typename ArrayT, typename T>
void AddArray(
  vtkFieldData* fields, const char* name, const std::vector<pmb_measures>& measures, T pmb_measures::*member)
{
  vtkNew<ArrayT> array;
  array->SetName(name);
  array->SetNumberOfValues(static_cast<vtkIdType>(measures.size()));
  for (size_t i = 0; i < measures.size(); ++i)
  {
    array->SetValue(static_cast<vtkIdType>(i), measures[i].*member);
  }
  fields->AddArray(array);
}
}

pmb_status MeasureSurface(pmb_context* context, const pmb_mesh& mesh, const std::vector<pmb_sizes>& parts,
  const std::vector<double>& isovalues, vtkPolyData* output)
{
  std::vector<pmb_measures> measures(parts.size());
  for (pmb_measures& m : measures)
  {
    m.struct_size = sizeof(m);
  }
  pmb_measure_request request = {};
  request.struct_size = sizeof(request);
  request.mesh = &mesh;
  request.parts = parts.data();
  request.part_count = static_cast<int64_t>(parts.size());
  auto* ghosts = vtkUnsignedCharArray::SafeDownCast(
    output->GetCellData()->GetAbstractArray(vtkDataSetAttributes::GhostArrayName()));
  if (ghosts && ghosts->GetNumberOfComponents() == 1)
  {
    request.flags = ghosts->GetPointer(0);
    request.left_out = NotShown;
  }
  const pmb_status status = pmb_measure(context, &request, measures.data());
  if (status != PMB_OK)
  {
    return status;
  }
  vtkFieldData* fields = output->GetFieldData();
  vtkNew<vtkDoubleArray> values;
  values->SetName("Isovalue");
  for (double isovalue : isovalues)
  {
    values->InsertNextValue(isovalue);
  }
  fields->AddArray(values);
  AddArray<vtkDoubleArray>(fields, "Area", measures, &pmb_measures::area);
  AddArray<vtkDoubleArray>(fields, "Volume", measures, &pmb_measures::volume);
  AddArray<vtkTypeInt64Array>(fields, "Closed", measures, &pmb_measures::closed);
  AddArray<vtkTypeInt64Array>(fields, "EulerNumber", measures, &pmb_measures::euler);
  AddArray<vtkTypeInt64Array>(fields, "Components", measures, &pmb_measures::components);
  AddArray<vtkTypeInt64Array>(fields, "BoundaryEdges", measures, &pmb_measures::boundary_edges);
  AddArray<vtkTypeInt64Array>(fields, "NonManifoldEdges", measures, &pmb_measures::nonmanifold_edges);
  return PMB_OK;
}
}
VTK_ABI_NAMESPACE_END
