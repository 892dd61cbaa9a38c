// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "FuzzJudge.h"

#include "PMBTesting.h"

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkFloatArray.h"
#include "vtkMath.h"
#include "vtkMatrix3x3.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <map>

namespace fuzz
{
namespace
{
enum Place
{
  SOUND,
  UNSOUND,
  EXTREME
};

Place JudgePlace(vtkImageData* image, bool invertible)
{
  int extent[6];
  double origin[3], spacing[3], m[3][3];
  image->GetExtent(extent);
  image->GetOrigin(origin);
  image->GetSpacing(spacing);
  bool extreme = false;
  for (int r = 0; r < 3; ++r)
  {
    double first = origin[r];
    for (int c = 0; c < 3; ++c)
    {
      m[r][c] = image->GetDirectionMatrix()->GetElement(r, c);
      const double step = m[r][c] * spacing[c];
      first += step * extent[2 * c];
      if (!std::isfinite(step) || !std::isfinite(origin[r]))
      {
        return UNSOUND;
      }
      extreme =
        extreme || !std::isfinite(first) || (m[r][c] != 0 && !(std::abs(step) >= 1e-100 && std::abs(step) <= 1e100));
    }
  }
  const double determinant = vtkMatrix3x3::Determinant(&m[0][0]);
  if (invertible && (spacing[0] == 0 || spacing[1] == 0 || spacing[2] == 0 || determinant == 0))
  {
    return UNSOUND;
  }
  return extreme && invertible ? EXTREME : SOUND;
}

}

Outcome Expect(const Settings& settings, vtkImageData* image, vtkDataArray*& array)
{
  array = nullptr;
  int extent[6], thick = 0;
  image->GetExtent(extent);
  double points = 1;
  bool tooWide = false;
  for (int axis = 0; axis < 3; ++axis)
  {
    const double size = std::max(0.0, double(extent[2 * axis + 1]) - extent[2 * axis] + 1);
    points *= size;
    thick += size > 1;
    tooWide = tooWide || size > 2147483647.0;
  }
  if (points == 0 || thick < 2)
  {
    return tooWide ? EITHER : NOTHING;
  }
  bool ofPoints;
  vtkAbstractArray* any = FindArray(settings, image, ofPoints);
  vtkDataArray* numbers = vtkDataArray::SafeDownCast(any);
  if (!numbers || !ofPoints || double(numbers->GetNumberOfTuples()) < points || settings.Component < 0 ||
    settings.Component >= numbers->GetNumberOfComponents())
  {
    return tooWide ? EITHER : FAULT;
  }
  if (settings.Isovalues.empty())
  {
    return NOTHING;
  }
  const Place place = JudgePlace(image, /*invertible=*/thick == 3);
  if (place == UNSOUND)
  {
    return FAULT;
  }
  array = numbers;
  return thick == 2 ? LINES : (place == EXTREME ? EITHER : MESH);
}

namespace
{
double Length(const double v[3])
{
  const double big = std::max(std::abs(v[0]), std::max(std::abs(v[1]), std::abs(v[2])));
  if (!(big > 0 && big <= DBL_MAX))
  {
    return big;
  }
  return big * std::sqrt(std::pow(v[0] / big, 2) + std::pow(v[1] / big, 2) + std::pow(v[2] / big, 2));
}

bool JudgeSizes(
  const Reference& reference, const Settings& settings, vtkDataArray* array, vtkPolyData* output, Report& report)
{
  const vtkIdType triangles = static_cast<vtkIdType>(reference.Cells.size());
  const vtkIdType points = static_cast<vtkIdType>(reference.Points.size());
  FUZZ_CHECK(report, output->GetNumberOfPolys() == triangles,
    output->GetNumberOfPolys() << " triangles, expected " << triangles);
  FUZZ_CHECK(
    report, output->GetNumberOfPoints() == points, output->GetNumberOfPoints() << " points, expected " << points);
  FUZZ_CHECK(report, output->GetNumberOfCells() == triangles, "other cells than triangles");
  if (output->GetNumberOfPolys() != triangles || output->GetNumberOfPoints() != points || points == 0)
  {
    return false;
  }
  const bool wide = settings.Precision == vtkAlgorithm::DOUBLE_PRECISION ||
    (settings.Precision >= vtkAlgorithm::DEFAULT_PRECISION && array->GetDataType() == VTK_DOUBLE);
  FUZZ_CHECK(report, output->GetPoints()->GetDataType() == (wide ? VTK_DOUBLE : VTK_FLOAT), "the points' type");
  FUZZ_CHECK(report, output->GetPolys()->IsStorage64Bit() == settings.Wide, "the ids' type");
  return true;
}

bool JudgeTriangles(const Reference& reference, vtkPolyData* output, Report& report)
{
  vtkCellArray* polys = output->GetPolys();
  vtkDataArray* ids = polys->GetConnectivityArray();
  vtkDataArray* offsets = polys->GetOffsetsArray();
  for (vtkIdType n = 0; n <= polys->GetNumberOfCells(); ++n)
  {
    if (offsets->GetComponent(n, 0) != 3.0 * n)
    {
      report.Add("offset " + std::to_string(n) + " is wrong");
      return false;
    }
  }
  for (size_t n = 0; n < reference.Ids.size(); ++n)
  {
    const auto id = static_cast<int64_t>(ids->GetComponent(static_cast<vtkIdType>(n), 0));
    if (id != reference.Ids[n])
    {
      FUZZ_CHECK(report, false,
        "triangle " << n / 3 << " of cell " << reference.Cells[n / 3] << ", corner " << n % 3 << ": id " << id
                    << ", expected " << reference.Ids[n]);
      return false;
    }
  }
  return true;
}

// Each point is on its edge, where the isovalue is.
void JudgePoints(const Reference& reference, vtkPolyData* output, Report& report)
{
  const bool wide = output->GetPoints()->GetDataType() == VTK_DOUBLE;
  for (size_t n = 0; n < reference.Points.size() && !report.IsFull(); ++n)
  {
    const Reference::Point& point = reference.Points[n];
    double got[3], end[2][3];
    output->GetPoint(static_cast<vtkIdType>(n), got);
    for (int side = 0; side < 2; ++side)
    {
      const double t = std::min(1.0, std::max(0.0, point.T + (side ? point.Slack : -point.Slack)));
      reference.Locate(point, t, end[side]);
    }
    for (int c = 0; c < 3; ++c)
    {
      // Rounded once to the type of the points, from a sum of doubles.
      const double room = reference.Size(point, c) * 8 * DBL_EPSILON;
      double low = std::min(end[0][c], end[1][c]) - room, high = std::max(end[0][c], end[1][c]) + room;
      if (!wide)
      {
        low = static_cast<float>(low);
        high = static_cast<float>(high);
      }
      FUZZ_CHECK(report, got[c] >= low && got[c] <= high,
        "point " << n << ", coordinate " << c << " is " << got[c] << ", expected " << low << " to " << high);
    }
  }
}

// The direction in the world from a point's higher to its lower sample.
void Downhill(const Reference& reference, size_t n, double down[3])
{
  const Reference::Point& point = reference.Points[n];
  const bool highFirst =
    ref_inside(&reference.Volume, point.Lower[0], point.Lower[1], point.Lower[2], reference.Isovalues[n]);
  for (int c = 0; c < 3; ++c)
  {
    down[c] = 0;
    for (int axis = 0; axis < 3; ++axis)
    {
      const double step = static_cast<double>(point.Upper[axis] - point.Lower[axis]);
      down[c] += reference.Volume.index_to_world[4 * c + axis] * step * (highFirst ? 1 : -1);
    }
  }
}

void JudgeNormals(const Reference& reference, const Settings& settings, vtkPolyData* output, Report& report)
{
  // Without them arrays of the image may have their names.
  vtkDataArray* normals = settings.Normals ? output->GetPointData()->GetNormals() : nullptr;
  vtkDataArray* gradients = settings.Gradients ? output->GetPointData()->GetArray("Gradients") : nullptr;
  for (size_t n = 0; n < reference.Points.size() && !report.IsFull(); ++n)
  {
    const Reference::Point& point = reference.Points[n];
    double g[3], slack[3], unit[3] = { 0, 0, 0 };
    const bool zero = ref_gradient(point.Mesh, point.Index, g, slack) && point.Slack == 0;
    const double size = Length(slack), length = Length(g), rounding = 2e-6 * size + FLT_MIN;
    const bool known = settings.Estimator <= 0 && point.Slack <= 1e-12 && size < FLT_MAX / 8;
    if (normals)
    {
      normals->GetTuple(static_cast<vtkIdType>(n), unit);
      FUZZ_CHECK(report, std::abs(Length(unit) - 1) < 1e-5, "normal " << n << " has the length " << Length(unit));
    }
    if (normals && known && length > 1e3 * rounding)
    {
      for (int c = 0; c < 3; ++c)
      {
        FUZZ_CHECK(report, std::abs(unit[c] + g[c] / length) < 1e-5 + 4 * rounding / length,
          "normal " << n << ", component " << c << " is " << unit[c] << ", expected " << -g[c] / length);
      }
    }
    else if (normals && known && zero)
    {
      double down[3];
      Downhill(reference, n, down);
      FUZZ_CHECK(report, Length(down) == 0 || vtkMath::Dot(unit, down) > 0, "normal " << n << " points upward");
    }
    for (int c = 0; gradients && c < 3; ++c)
    {
      const double got = gradients->GetComponent(static_cast<vtkIdType>(n), c);
      FUZZ_CHECK(report, !std::isnan(got) && (!known || std::abs(got - g[c]) <= rounding),
        "gradient " << n << ", component " << c << " is " << got << ", expected " << g[c] << " +- " << rounding);
    }
  }
}

// Two points of a mesh edge that may be open: all four ends of their grid edges lie in one border face.
bool OnBorder(const Reference& reference, const Reference::Point& a, const Reference::Point& b)
{
  for (int c = 0; c < 3; ++c)
  {
    for (int64_t side : { int64_t(0), reference.Volume.dims[c] - 1 })
    {
      if (a.Lower[c] == side && a.Upper[c] == side && b.Lower[c] == side && b.Upper[c] == side)
      {
        return true;
      }
    }
  }
  return false;
}

void JudgeTopology(const Reference& reference, const Settings& settings, Report& report)
{
  std::map<std::pair<int64_t, int64_t>, int> directed;
  std::vector<char> used(reference.Points.size(), 0);
  for (size_t n = 0; n < reference.Ids.size(); ++n)
  {
    const int64_t from = reference.Ids[n], to = reference.Ids[n - n % 3 + (n + 1) % 3];
    const int uses = ++directed[{ from, to }];
    used[from] = 1;
    FUZZ_CHECK(report, from != to, "a triangle has the point " << from << " twice");
    FUZZ_CHECK(report, uses == 1 || settings.Remove == 1, "the edge " << from << "-" << to << " is used twice");
  }
  FUZZ_CHECK(report, std::count(used.begin(), used.end(), 0) == 0, "points that no triangle uses");
  if (!reference.Complete)
  {
    return;
  }
  for (const auto& edge : directed)
  {
    const auto back = directed.find({ edge.first.second, edge.first.first });
    const Reference::Point &a = reference.Points[edge.first.first], &b = reference.Points[edge.first.second];
    FUZZ_CHECK(report, (back != directed.end() && back->second == edge.second) || OnBorder(reference, a, b),
      "the edge " << edge.first.first << "-" << edge.first.second << " is open");
  }
}

// Facets look to lower values: seen over the whole mesh, whatever the map to the world does.
void JudgeFacets(const Reference& reference, vtkPolyData* output, Report& report)
{
  double sum = 0;
  for (size_t n = 0; n < reference.Ids.size(); n += 3)
  {
    double p[3][3], u[3], v[3], cross[3], down[3] = { 0, 0, 0 };
    for (int c = 0; c < 3; ++c)
    {
      double one[3];
      output->GetPoint(reference.Ids[n + c], p[c]);
      Downhill(reference, reference.Ids[n + c], one);
      vtkMath::Add(down, one, down);
    }
    vtkMath::Subtract(p[1], p[0], u);
    vtkMath::Subtract(p[2], p[0], v);
    vtkMath::Cross(u, v, cross);
    const double scale = Length(cross) * Length(down);
    sum += scale > 0 && std::isfinite(scale) ? vtkMath::Dot(cross, down) / scale : 0;
  }
  FUZZ_CHECK(report, sum >= -1e-3, "the facets look to higher values: " << sum);
}
}

void JudgeMesh(const Reference& reference, const Settings& settings, vtkImageData*, vtkDataArray* array,
  vtkPolyData* output, Report& report)
{
  if (!JudgeSizes(reference, settings, array, output, report) || !JudgeTriangles(reference, output, report))
  {
    return;
  }
  JudgePoints(reference, output, report);
  JudgeNormals(reference, settings, output, report);
  if (reference.Cells.size() < 100000) // it takes its time
  {
    JudgeTopology(reference, settings, report);
  }
  if (reference.IsModerate(1e-3, 1e3))
  {
    JudgeFacets(reference, output, report);
  }
}
}
