// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "FuzzJudge.h"

#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkFieldData.h"
#include "vtkMath.h"
#include "vtkUnsignedCharArray.h"

#include <cmath>
#include <map>
#include <set>

namespace fuzz
{
namespace
{
// The triangles of one isovalue that are not ghosts, counted the slow way.
struct Counts
{
  double Area = 0, Volume = 0, Size = 0; // Size: of the volumes that were added up
  bool Closed = true;
  int64_t Euler = 0, Components = 0, Boundary = 0, NonManifold = 0;
};

int64_t Root(std::map<int64_t, int64_t>& parents, int64_t id)
{
  while (parents[id] != id)
  {
    parents[id] = parents[parents[id]];
    id = parents[id];
  }
  return id;
}

void AddGeometry(vtkPolyData* output, const int64_t ids[3], Counts& counts)
{
  double p[3][3], u[3], v[3], cross[3];
  for (int c = 0; c < 3; ++c)
  {
    output->GetPoint(ids[c], p[c]);
  }
  vtkMath::Subtract(p[1], p[0], u);
  vtkMath::Subtract(p[2], p[0], v);
  vtkMath::Cross(u, v, cross);
  counts.Area += vtkMath::Norm(cross) / 2;
  vtkMath::Cross(p[1], p[2], cross);
  counts.Volume += vtkMath::Dot(p[0], cross) / 6;
  counts.Size += std::abs(vtkMath::Norm(p[0]) * vtkMath::Norm(p[1]) * vtkMath::Norm(p[2]));
}

Counts Count(const Reference& reference, vtkPolyData* output, size_t first, size_t end)
{
  auto* ghosts = vtkUnsignedCharArray::SafeDownCast(
    output->GetCellData()->GetAbstractArray(vtkDataSetAttributes::GhostArrayName()));
  const int left =
    vtkDataSetAttributes::DUPLICATECELL | vtkDataSetAttributes::REFINEDCELL | vtkDataSetAttributes::HIDDENCELL;
  Counts counts;
  std::map<std::pair<int64_t, int64_t>, std::pair<int, int>> edges; // uses upward and downward
  std::map<int64_t, int64_t> parents;
  for (size_t n = first; n < end; ++n)
  {
    const int64_t* ids = &reference.Ids[3 * n];
    if (ghosts && ghosts->GetNumberOfComponents() == 1 && (ghosts->GetValue(static_cast<vtkIdType>(n)) & left))
    {
      continue;
    }
    AddGeometry(output, ids, counts);
    ++counts.Euler;
    for (int c = 0; c < 3; ++c)
    {
      const int64_t a = ids[c], b = ids[(c + 1) % 3];
      auto& uses = edges[{ std::min(a, b), std::max(a, b) }];
      ++(a < b ? uses.first : uses.second);
      parents.emplace(a, a);
    }
    parents[Root(parents, ids[1])] = Root(parents, ids[0]);
    parents[Root(parents, ids[2])] = Root(parents, ids[0]);
  }
  counts.Euler += static_cast<int64_t>(parents.size()) - static_cast<int64_t>(edges.size());
  for (const auto& edge : edges)
  {
    const int up = edge.second.first, down = edge.second.second;
    counts.Closed = counts.Closed && up == down;
    counts.Boundary += up + down == 1;
    counts.NonManifold += up + down > 2;
  }
  for (const auto& parent : parents)
  {
    counts.Components += parent.first == parent.second;
  }
  return counts;
}

double Read(vtkPolyData* output, const char* name, size_t n, Report& report)
{
  vtkDataArray* array = output->GetFieldData()->GetArray(name);
  const bool there = array && array->GetNumberOfTuples() > static_cast<vtkIdType>(n);
  FUZZ_CHECK(report, there, "there is no measure '" << name << "' of isovalue " << n);
  return there ? array->GetComponent(static_cast<vtkIdType>(n), 0) : std::nan("");
}
}

void JudgeMeasures(const Reference& reference, const Settings& settings, vtkPolyData* output, Report& report)
{
  if (!settings.Measures || !report.Faults.empty() || reference.Cells.size() > 100000)
  {
    return;
  }
  for (size_t n = 0; n + 1 < reference.FirstTriangles.size(); ++n)
  {
    const Counts c = Count(reference, output, reference.FirstTriangles[n], reference.FirstTriangles[n + 1]);
    const std::pair<const char*, int64_t> numbers[] = { { "Closed", c.Closed }, { "EulerNumber", c.Euler },
      { "Components", c.Components }, { "BoundaryEdges", c.Boundary }, { "NonManifoldEdges", c.NonManifold } };
    for (const auto& number : numbers)
    {
      const double got = Read(output, number.first, n, report);
      FUZZ_CHECK(report, got == static_cast<double>(number.second),
        number.first << " of isovalue " << n << " is " << got << ", expected " << number.second);
    }
    FUZZ_CHECK(report, Read(output, "Isovalue", n, report) == settings.Isovalues[n], "isovalue " << n);
    if (reference.IsModerate(1e-3, 1e3))
    {
      const double area = Read(output, "Area", n, report), volume = Read(output, "Volume", n, report);
      FUZZ_CHECK(report, std::abs(area - c.Area) <= 1e-9 * c.Area, "the area is " << area << ", expected " << c.Area);
      FUZZ_CHECK(report, std::abs(volume - c.Volume) <= 1e-9 * c.Size,
        "the volume is " << volume << ", expected " << c.Volume);
    }
  }
}
}
