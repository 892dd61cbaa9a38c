// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "FuzzJudge.h"

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkFlyingEdges3D.h"
#include "vtkIdList.h"
#include "vtkMarchingCubes.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <cmath>

namespace fuzz
{
namespace
{
// The component alone, on a grid of spacing 1 at the origin.
vtkSmartPointer<vtkImageData> PlainImage(vtkImageData* image, vtkDataArray* array, int component)
{
  auto plain = vtkSmartPointer<vtkImageData>::New();
  int dims[3];
  image->GetDimensions(dims);
  plain->SetDimensions(dims);
  const int type = array->GetDataType() == VTK_BIT ? VTK_UNSIGNED_CHAR : array->GetDataType();
  auto samples = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(type));
  samples->SetNumberOfTuples(array->GetNumberOfTuples());
  samples->CopyComponent(0, array, component); // through double
  plain->GetPointData()->SetScalars(samples);
  return plain;
}

template <typename FilterT>
vtkSmartPointer<vtkPolyData> Run(vtkImageData* image, double isovalue)
{
  vtkNew<FilterT> filter;
  filter->SetInputData(image);
  filter->SetValue(0, isovalue);
  filter->Update();
  return filter->GetOutput();
}

// Sums over the points, in units of samples.
struct Moments
{
  double First[3] = { 0, 0, 0 }, Second = 0;
  void Add(const double p[3])
  {
    for (int c = 0; c < 3; ++c)
    {
      this->First[c] += p[c];
      this->Second += p[c] * p[c];
    }
  }
};

// Where a point is in units of samples, by its place in the world; `inverse` of the three axes.
bool Invert(const double m[12], double inverse[9])
{
  const double a[9] = { m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10] };
  double determinant = 0;
  for (int c = 0; c < 3; ++c)
  {
    determinant += a[c] * (a[3 + (c + 1) % 3] * a[6 + (c + 2) % 3] - a[3 + (c + 2) % 3] * a[6 + (c + 1) % 3]);
  }
  for (int r = 0; r < 3; ++r)
  {
    for (int c = 0; c < 3; ++c)
    {
      const int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
      inverse[3 * c + r] = (a[3 * r1 + c1] * a[3 * r2 + c2] - a[3 * r1 + c2] * a[3 * r2 + c1]) / determinant;
    }
  }
  return std::abs(determinant) > 1e-4;
}

void CompareMoments(const Reference& reference, vtkPolyData* output, vtkPolyData* edges, Report& report)
{
  double inverse[9];
  if (!reference.IsModerate(0.01, 100) || !Invert(reference.Volume.index_to_world, inverse) ||
    output->GetNumberOfPoints() == 0)
  {
    return;
  }
  const double* m = reference.Volume.index_to_world;
  Moments ours, theirs;
  for (vtkIdType n = 0; n < output->GetNumberOfPoints(); ++n)
  {
    double p[3], q[3];
    output->GetPoint(n, p);
    for (int r = 0; r < 3; ++r)
    {
      q[r] = inverse[3 * r] * (p[0] - m[3]) + inverse[3 * r + 1] * (p[1] - m[7]) +
        inverse[3 * r + 2] * (p[2] - m[11]) - static_cast<double>(reference.Volume.first[r]);
    }
    ours.Add(q);
    edges->GetPoint(n, p);
    theirs.Add(p);
  }
  const double count = static_cast<double>(output->GetNumberOfPoints());
  for (int c = 0; c < 3; ++c)
  {
    FUZZ_CHECK(report, std::abs(ours.First[c] - theirs.First[c]) < 0.02 * count,
      "the mean place differs from vtkFlyingEdges3D's along " << c << " by "
                                                              << (ours.First[c] - theirs.First[c]) / count);
  }
  FUZZ_CHECK(report, std::abs(ours.Second - theirs.Second) < 0.02 * count + 1e-4 * theirs.Second,
    "the spread differs from vtkFlyingEdges3D's: " << ours.Second << ", expected " << theirs.Second);
}

// What VTK's filters compute right: with double, without overflow or what is below normal numbers.
bool IsOrdinary(const Reference& reference)
{
  const bool wide = pmb_type_size(reference.Volume.type) == 8 && reference.Volume.type != PMB_FLOAT64;
  const double most = wide ? 1e15 : 1e30;
  bool ordinary = reference.Complete && reference.Minimum >= -most && reference.Maximum <= most;
  for (const Reference::Point& point : reference.Points)
  {
    ordinary = ordinary && point.Slack == 0;
  }
  return ordinary;
}
}

bool JudgeByVTK(const Reference& reference, const Settings& settings, vtkImageData* image, vtkDataArray* array,
  vtkPolyData* output, Report& report)
{
  Settings plain = settings;
  plain.Remove = 0;
  const Reference all(image, array, plain);
  if (settings.Isovalues.size() != 1 || !IsOrdinary(all))
  {
    return false;
  }
  // Where a point is all but on a sample, VTK's filters go different ways in what they merge and leave out.
  bool general = true;
  for (const Reference::Point& point : all.Points)
  {
    general = general && point.T > 1e-3 && point.T < 1 - 1e-3;
  }
  auto samples = PlainImage(image, array, settings.Component);
  const double isovalue = settings.Isovalues[0];
  if (general)
  {
    auto cubes = Run<vtkMarchingCubes>(samples, isovalue);
    FUZZ_CHECK(report, cubes->GetNumberOfPolys() == output->GetNumberOfPolys(),
      output->GetNumberOfPolys() << " triangles, vtkMarchingCubes makes " << cubes->GetNumberOfPolys());
  }
  if (!settings.Remove || general)
  {
    auto edges = Run<vtkFlyingEdges3D>(samples, isovalue);
    FUZZ_CHECK(report, edges->GetNumberOfPolys() == output->GetNumberOfPolys(),
      output->GetNumberOfPolys() << " triangles, vtkFlyingEdges3D makes " << edges->GetNumberOfPolys());
    FUZZ_CHECK(report, edges->GetNumberOfPoints() == output->GetNumberOfPoints(),
      output->GetNumberOfPoints() << " points, vtkFlyingEdges3D makes " << edges->GetNumberOfPoints());
    // It subtracts 32- and 64-bit integers with wrap-around.
    const bool places = array->GetDataTypeSize() <= 2 || reference.Volume.type >= PMB_FLOAT32;
    if (places && edges->GetNumberOfPoints() == output->GetNumberOfPoints())
    {
      CompareMoments(reference, output, edges, report);
    }
  }
  return general || !settings.Remove;
}

namespace
{
const int HidesCell = vtkDataSetAttributes::HIDDENCELL | vtkDataSetAttributes::REFINEDCELL;

bool IsHidden(vtkUnsignedCharArray* flags, vtkIdType id, int bits)
{
  return flags && (flags->GetValue(id) & bits) != 0;
}

// The lines of all squares by their corners. Not exact: where a corner is not finite, or all but at an isovalue.
// `most`: with the hidden squares, as a line on the border of one may pass for its neighbour's.
vtkIdType CountLines(const Settings& settings, vtkImageData* image, vtkDataArray* array, bool& exact, vtkIdType& most)
{
  int dims[3], plane[2], n = 0;
  image->GetDimensions(dims);
  for (int axis = 0; axis < 3; ++axis)
  {
    if (dims[axis] > 1)
    {
      plane[n++] = axis;
    }
  }
  const vtkIdType nx = dims[plane[0]], ny = dims[plane[1]];
  vtkIdType lines = 0;
  most = 0;
  exact = true;
  vtkUnsignedCharArray* ofPoints = FindFlags(image->GetPointData(), image->GetNumberOfPoints());
  vtkUnsignedCharArray* ofCells = FindFlags(image->GetCellData(), image->GetNumberOfCells());
  for (double isovalue : settings.Isovalues)
  {
    for (vtkIdType id = 0; id < nx * ny; ++id)
    {
      const double sample = array->GetComponent(id, settings.Component);
      exact = exact && std::abs(sample) < 1e30 && std::abs(sample - isovalue) > 1e-4 * (std::abs(sample) + 1e-10);
      if (id % nx == nx - 1 || id / nx == ny - 1)
      {
        continue;
      }
      bool in[4], hidden = IsHidden(ofCells, id % nx + (nx - 1) * (id / nx), HidesCell);
      int corner = 0;
      for (vtkIdType at : { id, id + 1, id + nx + 1, id + nx })
      {
        hidden = hidden || IsHidden(ofPoints, at, vtkDataSetAttributes::HIDDENPOINT);
        in[corner++] = array->GetComponent(at, settings.Component) >= isovalue;
      }
      const int here = ((in[0] != in[1]) + (in[1] != in[2]) + (in[2] != in[3]) + (in[3] != in[0])) / 2;
      most += here;
      lines += hidden ? 0 : here;
    }
  }
  return lines;
}
}

void JudgeLines(
  const Settings& settings, vtkImageData* image, vtkDataArray* array, vtkPolyData* output, Report& report)
{
  bool exact;
  vtkIdType most;
  const vtkIdType lines = CountLines(settings, image, array, exact, most);
  const vtkIdType got = output->GetNumberOfLines(), points = output->GetNumberOfPoints();
  FUZZ_CHECK(report, output->GetNumberOfCells() == got, "other cells than lines");
  FUZZ_CHECK(report, exact ? got == lines : got <= most, got << " lines, expected " << lines);
  std::vector<char> used(points, 0);
  vtkNew<vtkIdList> ids;
  for (vtkIdType n = 0; n < got; ++n)
  {
    output->GetLines()->GetCellAtId(n, ids);
    const bool sound = ids->GetNumberOfIds() == 2 && std::min(ids->GetId(0), ids->GetId(1)) >= 0 &&
      std::max(ids->GetId(0), ids->GetId(1)) < points;
    FUZZ_CHECK(report, sound, "the ids of line " << n);
    for (vtkIdType end = 0; sound && end < 2; ++end)
    {
      used[ids->GetId(end)] = 1;
    }
  }
  FUZZ_CHECK(report, std::count(used.begin(), used.end(), 0) == 0, "points that no line uses");
  for (vtkDataSetAttributes* data : { static_cast<vtkDataSetAttributes*>(output->GetPointData()),
         static_cast<vtkDataSetAttributes*>(output->GetCellData()) })
  {
    for (int n = 0; n < data->GetNumberOfArrays(); ++n)
    {
      const vtkIdType tuples = data->GetAbstractArray(n)->GetNumberOfTuples();
      FUZZ_CHECK(report, tuples == (data == output->GetPointData() ? points : got), "tuples of an array of lines");
    }
  }
}
}
