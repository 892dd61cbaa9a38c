// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourOutput.h"

#include "vtkCellData.h"
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

template <typename ArrayT, typename Get>
void AddArray(vtkFieldData* fields, const char* name, const std::vector<pmb_measures>& measures, Get get)
{
  vtkNew<ArrayT> array;
  array->SetName(name);
  array->SetNumberOfValues(static_cast<vtkIdType>(measures.size()));
  for (size_t i = 0; i < measures.size(); ++i)
  {
    array->SetValue(static_cast<vtkIdType>(i), get(measures[i]));
  }
  fields->AddArray(array);
}

template <typename T>
void AddReals(
  vtkFieldData* fields, const char* name, const std::vector<pmb_measures>& measures, T pmb_measures::*member)
{
  AddArray<vtkDoubleArray>(fields, name, measures, [member](const pmb_measures& m) { return m.*member; });
}

template <typename T>
void AddNumbers(
  vtkFieldData* fields, const char* name, const std::vector<pmb_measures>& measures, T pmb_measures::*member)
{
  AddArray<vtkTypeInt64Array>(fields, name, measures, [member](const pmb_measures& m) { return m.*member; });
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
  AddReals(fields, "Area", measures, &pmb_measures::area);
  AddReals(fields, "Volume", measures, &pmb_measures::volume);
  AddNumbers(fields, "Closed", measures, &pmb_measures::closed);
  AddNumbers(fields, "EulerNumber", measures, &pmb_measures::euler);
  AddNumbers(fields, "Components", measures, &pmb_measures::components);
  AddNumbers(fields, "BoundaryEdges", measures, &pmb_measures::boundary_edges);
  AddNumbers(fields, "NonManifoldEdges", measures, &pmb_measures::nonmanifold_edges);
  return PMB_OK;
}
}
VTK_ABI_NAMESPACE_END
