// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "PMBTesting.h"

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkMassProperties.h"
#include "vtkMath.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkStaticPointLocator.h"
#include "vtkVariant.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>

namespace pmbtest
{
std::vector<double> PointsOf(vtkPolyData* mesh)
{
  std::vector<double> points(3 * mesh->GetNumberOfPoints());
  for (vtkIdType i = 0; i < mesh->GetNumberOfPoints(); ++i)
  {
    mesh->GetPoint(i, &points[3 * i]);
  }
  return points;
}

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

static void Facet(const std::vector<double>& points, const vtkIdType* ids, double cross[3])
{
  double u[3], v[3];
  vtkMath::Subtract(&points[3 * ids[1]], &points[3 * ids[0]], u);
  vtkMath::Subtract(&points[3 * ids[2]], &points[3 * ids[0]], v);
  vtkMath::Cross(u, v, cross);
}

double AreaOf(vtkPolyData* mesh)
{
  vtkNew<vtkMassProperties> mass;
  mass->SetInputData(mesh);
  mass->Update();
  return mass->GetSurfaceArea();
}

namespace
{
bool OnBorder(const double* a, const double* b, const int dims[3])
{
  for (int axis = 0; axis < 3; ++axis)
  {
    if ((a[axis] == 0 && b[axis] == 0) || (a[axis] == dims[axis] - 1 && b[axis] == dims[axis] - 1))
    {
      return true;
    }
  }
  return false;
}

void JudgeEdges(
  const std::vector<double>& points, const std::vector<vtkIdType>& triangles, const int* dims, Judgement& judgement)
{
  std::map<std::pair<vtkIdType, vtkIdType>, int> directed;
  for (size_t t = 0; t < triangles.size(); t += 3)
  {
    for (int e = 0; e < 3; ++e)
    {
      judgement.Repeated += ++directed[{ triangles[t + e], triangles[t + (e + 1) % 3] }] > 1;
    }
  }
  for (const auto& edge : directed)
  {
    const auto reverse = directed.find({ edge.first.second, edge.first.first });
    const int back = reverse == directed.end() ? 0 : reverse->second;
    const double* a = &points[3 * edge.first.first];
    const double* b = &points[3 * edge.first.second];
    judgement.OpenEdges += back != edge.second && !(dims && OnBorder(a, b, dims));
  }
}
}

Judgement Judge(vtkPolyData* mesh, const int dims[3])
{
  Judgement judgement;
  const std::vector<double> points = PointsOf(mesh);
  const std::vector<vtkIdType> triangles = TrianglesOf(mesh);
  const vtkIdType pointCount = mesh->GetNumberOfPoints();
  std::vector<char> used(pointCount, 0);
  for (vtkIdType id : triangles)
  {
    const bool inRange = id >= 0 && id < pointCount;
    judgement.OutOfRange += !inRange;
    if (inRange)
    {
      used[id] = 1;
    }
  }
  if (judgement.OutOfRange)
  {
    return judgement;
  }
  judgement.Orphans = std::count(used.begin(), used.end(), 0);
  for (size_t p = 0; p < points.size(); p += 3)
  {
    judgement.NotFinite += !std::isfinite(points[p] + points[p + 1] + points[p + 2]);
  }
  JudgeEdges(points, triangles, dims, judgement);
  vtkDataArray* normals = mesh->GetPointData()->GetNormals();
  for (size_t t = 0; t < triangles.size(); t += 3)
  {
    double cross[3], sum[3] = { 0, 0, 0 };
    Facet(points, &triangles[t], cross);
    judgement.ZeroArea += vtkMath::Norm(cross) == 0;
    for (int e = 0; normals && e < 3; ++e)
    {
      vtkMath::Add(sum, normals->GetTuple3(triangles[t + e]), sum);
    }
    judgement.Disagreeing += normals && vtkMath::Dot(cross, sum) < 0;
  }
  return judgement;
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

vtkIdType OtherTriangles(vtkPolyData* a, vtkPolyData* b)
{
  vtkNew<vtkStaticPointLocator> locator;
  locator->SetDataSet(b);
  std::vector<std::array<vtkIdType, 3>> sorted[2], other; // rotated: lowest id first
  for (int side = 0; side < 2; ++side)
  {
    const std::vector<vtkIdType> ids = TrianglesOf(side ? b : a);
    for (size_t n = 0; n < ids.size(); n += 3)
    {
      std::array<vtkIdType, 3> t;
      for (int c = 0; c < 3; ++c)
      {
        t[c] = side ? ids[n + c] : locator->FindClosestPoint(a->GetPoint(ids[n + c]));
      }
      std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
      sorted[side].push_back(t);
    }
    std::sort(sorted[side].begin(), sorted[side].end());
  }
  std::set_symmetric_difference(
    sorted[0].begin(), sorted[0].end(), sorted[1].begin(), sorted[1].end(), std::back_inserter(other));
  return static_cast<vtkIdType>(other.size());
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
  if (a->IsNumeric() && a->HasStandardMemoryLayout() && b->HasStandardMemoryLayout() && a->GetDataType() != VTK_BIT)
  {
    const size_t bytes = static_cast<size_t>(a->GetNumberOfValues()) * a->GetDataTypeSize();
    const bool same = bytes == 0 || std::memcmp(a->GetVoidPointer(0), b->GetVoidPointer(0), bytes) == 0;
    return same ? "" : what + ": bytes";
  }
  for (vtkIdType n = 0; n < a->GetNumberOfValues(); ++n)
  {
    if (a->GetVariantValue(n).ToString() != b->GetVariantValue(n).ToString())
    {
      return what + ": values";
    }
  }
  return "";
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

vtkDataArray* PlacesOf(vtkPolyData* mesh)
{
  return mesh->GetPoints() ? mesh->GetPoints()->GetData() : nullptr;
}
}

bool SameBytes(vtkPolyData* a, vtkPolyData* b, std::string& difference)
{
  difference = ArrayDifference(PlacesOf(a), PlacesOf(b), "points");
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
