// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "PMBTesting.h"

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkMath.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkStaticPointLocator.h"
#include "vtkVariant.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pmbtest
{
std::vector<vtkIdType> TrianglesOf(vtkPolyData* mesh)
{
  vtkDataArray* ids = mesh->GetPolys()->GetConnectivityArray();
  std::vector<vtkIdType> triangles(3 * mesh->GetNumberOfPolys());
  for (size_t n = 0; n < triangles.size(); ++n)
  {
    triangles[n] = static_cast<vtkIdType>(ids->GetComponent(static_cast<vtkIdType>(n), 0));
  }
  return triangles;
}

double Hausdorff(vtkPolyData* a, vtkPolyData* b)
{
  if (a->GetNumberOfPoints() == 0 || b->GetNumberOfPoints() == 0)
  {
    return a->GetNumberOfPoints() == b->GetNumberOfPoints() ? 0 : std::numeric_limits<double>::infinity();
  }
  double greatest = 0;
  for (const auto& pair : { std::make_pair(a, b), std::make_pair(b, a) })
  {
    vtkNew<vtkStaticPointLocator> locator;
    locator->SetDataSet(pair.second);
    for (vtkIdType i = 0; i < pair.first->GetNumberOfPoints(); ++i)
    {
      double p[3], q[3];
      pair.first->GetPoint(i, p);
      pair.second->GetPoint(locator->FindClosestPoint(p), q);
      greatest = std::max(greatest, vtkMath::Distance2BetweenPoints(p, q));
    }
  }
  return std::sqrt(greatest);
}

namespace
{
std::string ArrayDifference(vtkAbstractArray* a, vtkAbstractArray* b, const std::string& what)
{
  if (!a || !b)
  {
    return a == b ? "" : what + ": only one has it";
  }
  if (a->GetDataType() != b->GetDataType() || a->GetNumberOfComponents() != b->GetNumberOfComponents() ||
    a->GetNumberOfTuples() != b->GetNumberOfTuples())
  {
    return what + ": type or size";
  }
  vtkIdType at = 0;
  const vtkIdType end = a->GetNumberOfValues();
  if (a->IsNumeric() && a->HasStandardMemoryLayout() && b->HasStandardMemoryLayout() && a->GetDataType() != VTK_BIT)
  {
    const size_t size = a->GetDataTypeSize();
    const char *x = static_cast<char*>(a->GetVoidPointer(0)), *y = static_cast<char*>(b->GetVoidPointer(0));
    at = end == 0 ? end : (std::mismatch(x, x + end * size, y).first - x) / static_cast<vtkIdType>(size);
  }
  else
  {
    while (at < end && a->GetVariantValue(at).ToString() == b->GetVariantValue(at).ToString())
    {
      ++at;
    }
  }
  return at == end ? ""
                   : what + ": value " + std::to_string(at) + " is " + a->GetVariantValue(at).ToString() + " and " +
      b->GetVariantValue(at).ToString();
}
}

std::string FieldDifference(vtkFieldData* a, vtkFieldData* b, const std::string& what)
{
  std::string difference = a->GetNumberOfArrays() == b->GetNumberOfArrays() ? "" : what + ": number of arrays";
  for (int n = 0; n < a->GetNumberOfArrays() && difference.empty(); ++n)
  {
    vtkAbstractArray *x = a->GetAbstractArray(n), *y = b->GetAbstractArray(n);
    const std::string name = x->GetName() ? x->GetName() : "", other = y->GetName() ? y->GetName() : "";
    difference =
      name == other ? ArrayDifference(x, y, what + " '" + name + "'") : what + ": '" + name + "' and '" + other + "'";
  }
  return difference;
}

bool SameBytes(vtkPolyData* a, vtkPolyData* b, std::string& difference)
{
  const auto places = [](vtkPolyData* mesh) { return mesh->GetPoints() ? mesh->GetPoints()->GetData() : nullptr; };
  difference = ArrayDifference(places(a), places(b), "points");
  for (bool lines : { false, true })
  {
    vtkCellArray* x = lines ? a->GetLines() : a->GetPolys();
    vtkCellArray* y = lines ? b->GetLines() : b->GetPolys();
    difference += ArrayDifference(x->GetConnectivityArray(), y->GetConnectivityArray(), "ids");
    difference += ArrayDifference(x->GetOffsetsArray(), y->GetOffsetsArray(), "offsets");
  }
  difference += FieldDifference(a->GetPointData(), b->GetPointData(), "point array");
  difference += FieldDifference(a->GetCellData(), b->GetCellData(), "cell array");
  return difference.empty();
}
}
