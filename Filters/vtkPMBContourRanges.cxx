// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourOutput.h"

#include "vtkDataArray.h"
#include "vtkInformation.h"
#include "vtkInformationDoubleVectorKey.h"
#include "vtkInformationInformationVectorKey.h"
#include "vtkInformationVector.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"

#include <algorithm>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
const int MostComponents = 9; // pmb_find_ranges takes no more

// VTK keeps the bounds of points, and has no call to set them.
struct KeptBounds : vtkPoints
{
  static void Set(vtkPoints* points, const double bounds[6])
  {
    std::copy(bounds, bounds + 6, points->*(&KeptBounds::Bounds));
    (points->*(&KeptBounds::ComputeTime)).Modified();
  }
};

// As vtkDataArray::GetRange() and GetFiniteRange() keep what they have found; all values are finite.
void Keep(vtkDataArray* array, const double* ranges)
{
  const int components = array->GetNumberOfComponents();
  vtkInformation* info = array->GetInformation();
  for (auto* key : { vtkAbstractArray::PER_COMPONENT(), vtkAbstractArray::PER_FINITE_COMPONENT() })
  {
    vtkNew<vtkInformationVector> each;
    each->SetNumberOfInformationObjects(components);
    for (int i = 0; i < components; ++i)
    {
      each->GetInformationObject(i)->Set(vtkDataArray::COMPONENT_RANGE(), ranges + 2 * i, 2);
    }
    info->Set(key, each);
  }
  info->Set(vtkDataArray::L2_NORM_RANGE(), ranges + 2 * components, 2);
  info->Set(vtkDataArray::L2_NORM_FINITE_RANGE(), ranges + 2 * components, 2);
}
}

pmb_status KeepRanges(pmb_context* context, vtkPolyData* output)
{
  double ranges[2 * (MostComponents + 1)];
  auto find = [&](vtkDataArray* array)
  {
    const Memory memory = FindMemory(array);
    const pmb_status status = pmb_find_ranges(
      context, memory.Samples, memory.Type, array->GetNumberOfComponents(), array->GetNumberOfTuples(), ranges);
    if (status == PMB_OK)
    {
      Keep(array, ranges);
    }
    return status;
  };
  vtkPoints* points = output->GetPoints();
  if (!points || points->GetNumberOfPoints() == 0)
  {
    return PMB_OK;
  }
  pmb_status status = find(points->GetData());
  if (status == PMB_OK)
  {
    KeptBounds::Set(points, ranges);
  }
  vtkPointData* arrays = output->GetPointData();
  for (int i = 0; i < arrays->GetNumberOfArrays() && status == PMB_OK; ++i)
  {
    vtkDataArray* array = arrays->GetArray(i);
    const bool real = array && (array->GetDataType() == VTK_FLOAT || array->GetDataType() == VTK_DOUBLE);
    if (real && array->GetNumberOfComponents() <= MostComponents)
    {
      status = find(array);
    }
  }
  return status;
}
}
VTK_ABI_NAMESPACE_END
