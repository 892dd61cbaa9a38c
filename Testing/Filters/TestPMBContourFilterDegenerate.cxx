// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Isovalues that equal samples: no triangle without area, no two points at one place, no orphan; and switched off, the
// counts of vtkFlyingEdges3D. One point per sheet: the same triangles in space with the same data, as a manifold.
#include "PMBTesting.h"

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"

#include <cmath>
#include <map>

using namespace pmbtest;

namespace
{
void Compare(vtkImageData* image, double isovalue, const std::string& what)
{
  auto clean = Contour(image, isovalue);
  auto all = Contour(image, isovalue, [](vtkPMBContourFilter* f) { f->RemoveDegenerateTrianglesOff(); });
  auto reference = FlyingEdges(image, isovalue);
  PMB_EQUAL(all->GetNumberOfPolys(), reference->GetNumberOfPolys(), what + ": triangles without removal");
  PMB_EQUAL(all->GetNumberOfPoints(), reference->GetNumberOfPoints(), what + ": points without removal");

  int dims[3];
  image->GetDimensions(dims);
  const Judgement before = Judge(all, dims), after = Judge(clean, dims);
  PMB_CHECK(before.ZeroArea > 0 && before.Duplicates > 0, what << ": nothing to remove, the test says nothing");
  PMB_EQUAL(after.ZeroArea, 0, what + ": triangles without area");
  PMB_EQUAL(after.Duplicates, 0, what + ": points at one place");
  PMB_EQUAL(after.Orphans, 0, what + ": orphans");
  PMB_EQUAL(after.OutOfRange, 0, what + ": ids out of range");
  PMB_EQUAL(after.OpenEdges, 0, what + ": open edges");
  // What is left out has no area, so nothing else may be gone.
  PMB_EQUAL(clean->GetNumberOfPolys(), all->GetNumberOfPolys() - before.ZeroArea, what + ": triangles left");
  PMB_CHECK(std::abs(AreaOf(clean) / AreaOf(all) - 1) < 1e-6, what << ": area changed by the removal");
}

// How many directed edges more than one triangle has.
int RepeatedEdges(vtkPolyData* mesh)
{
  const std::vector<vtkIdType> ids = TrianglesOf(mesh);
  std::map<std::pair<vtkIdType, vtkIdType>, int> uses;
  int repeated = 0;
  for (size_t n = 0; n < ids.size(); ++n)
  {
    repeated += ++uses[{ ids[n], ids[n - n % 3 + (n + 1) % 3] }] == 2;
  }
  return repeated;
}

// Whether an array of points has the same at every corner of two meshes.
bool SameAtCorners(
  vtkDataArray* a, vtkDataArray* b, const std::vector<vtkIdType>& at, const std::vector<vtkIdType>& bt)
{
  bool same =
    a && b && a->GetDataType() == b->GetDataType() && a->GetNumberOfComponents() == b->GetNumberOfComponents();
  for (size_t n = 0; same && n < at.size(); ++n)
  {
    for (int c = 0; c < a->GetNumberOfComponents(); ++c)
    {
      same = same && a->GetComponent(at[n], c) == b->GetComponent(bt[n], c);
    }
  }
  return same;
}

void CompareSheets(vtkPolyData* joined, vtkPolyData* split, const std::string& what)
{
  PMB_CHECK(RepeatedEdges(joined) > 0, what << ": nothing touches, the test says nothing");
  PMB_EQUAL(RepeatedEdges(split), 0, what + ": edges of more than two triangles");
  PMB_CHECK(split->GetNumberOfPoints() > joined->GetNumberOfPoints(), what << ": points");
  const std::vector<vtkIdType> before = TrianglesOf(joined), after = TrianglesOf(split);
  PMB_EQUAL(after.size(), before.size(), what + ": corners");
  PMB_EQUAL(split->GetPolys()->IsStorage64Bit(), joined->GetPolys()->IsStorage64Bit(), what + ": type of ids");
  PMB_CHECK(SameAtCorners(joined->GetPoints()->GetData(), split->GetPoints()->GetData(), before, after),
    what << ": coordinates");
  PMB_EQUAL(
    split->GetPointData()->GetNumberOfArrays(), joined->GetPointData()->GetNumberOfArrays(), what + ": arrays");
  for (int n = 0; n < joined->GetPointData()->GetNumberOfArrays(); ++n)
  {
    vtkDataArray* array = joined->GetPointData()->GetArray(n);
    vtkDataArray* other = split->GetPointData()->GetArray(n);
    PMB_CHECK(SameAtCorners(array, other, before, after), what << ": point array " << array->GetName());
    PMB_EQUAL(other->GetNumberOfTuples(), split->GetNumberOfPoints(), what + ": tuples");
  }
  PMB_EQUAL(split->GetCellData()->GetNumberOfArrays(), joined->GetCellData()->GetNumberOfArrays(), what + ": arrays");
  for (int n = 0; n < joined->GetCellData()->GetNumberOfArrays(); ++n)
  {
    vtkDataArray *array = joined->GetCellData()->GetArray(n), *other = split->GetCellData()->GetArray(n);
    PMB_EQUAL(other->GetNumberOfTuples(), array->GetNumberOfTuples(), what + ": triangles of a cell array");
    for (vtkIdType i = 0; i < array->GetNumberOfValues(); ++i)
    {
      PMB_EQUAL(other->GetVariantValue(i), array->GetVariantValue(i), what + ": cell array");
    }
  }
}

// With all that a point can have, of two isovalues.
void SetAll(vtkPMBContourFilter* filter, int remove)
{
  filter->SetRemoveDegenerateTriangles(remove);
  filter->SetNumberOfContours(3);
  filter->SetValue(0, 1);
  filter->SetValue(1, 1.5);
  filter->SetValue(2, 2);
  filter->SetComputeNormals(true);
  filter->SetComputeGradients(true);
  filter->SetComputeScalars(true);
  filter->SetInterpolateAttributes(true);
}

vtkSmartPointer<vtkImageData> NoiseWithArrays(unsigned seed)
{
  auto image = MakeImage(21, 17, 13, VTK_SHORT, Noise(seed, 4));
  image->GetPointData()->AddArray(MakeArray(image, "three", VTK_FLOAT, 3, 1, Noise(seed + 1, 99)));
  image->GetPointData()->AddArray(MakeArray(image, "char", VTK_CHAR, 1, 0, Noise(seed + 2, 99)));
  image->GetCellData()->AddArray(MakeArray(image, "cells", VTK_INT, 2, 0, Noise(seed + 3, 99)));
  return image;
}

void Sheets()
{
  auto image = NoiseWithArrays(7);
  for (bool wide : { false, true })
  {
    auto contour = [&](int remove)
    {
      return Contour(image, 1,
        [=](vtkPMBContourFilter* filter)
        {
          SetAll(filter, remove);
          filter->SetUse64BitIds(wide);
          filter->SetOutputPointsPrecision(wide ? vtkAlgorithm::DOUBLE_PRECISION : vtkAlgorithm::SINGLE_PRECISION);
        });
    };
    auto split = contour(2);
    CompareSheets(contour(1), split, wide ? "wide" : "narrow");
    PMB_EQUAL(split->GetPointData()->GetNumberOfArrays(), 5, "normals, gradients, scalars and two arrays");
    PMB_EQUAL(split->GetCellData()->GetNumberOfArrays(), 1, "cell arrays");
  }
}

void SheetsOfBlocks()
{
  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetBlock(0, NoiseWithArrays(7));
  blocks->SetBlock(2, NoiseWithArrays(30));
  vtkNew<vtkPMBContourFilter> filter;
  SetAll(filter, 2);
  filter->SetInputDataObject(blocks);
  filter->Update();
  auto* output = vtkMultiBlockDataSet::SafeDownCast(filter->GetOutputDataObject(0));
  for (unsigned n : { 0, 2 })
  {
    auto* image = vtkImageData::SafeDownCast(blocks->GetBlock(n));
    auto* mesh = output ? vtkPolyData::SafeDownCast(output->GetBlock(n)) : nullptr;
    std::string difference = "nothing";
    PMB_CHECK(mesh && SameBytes(mesh, Contour(image, 1, [](vtkPMBContourFilter* f) { SetAll(f, 2); }), difference),
      "block " << n << ": " << difference);
  }
}

// Lines have no sheets.
void SheetsOfSlice()
{
  auto image = MakeImage(21, 17, 1, VTK_SHORT, Noise(7, 4));
  auto contour = [&](int remove)
  { return Contour(image, 1, [=](vtkPMBContourFilter* f) { f->SetRemoveDegenerateTriangles(remove); }); };
  auto lines = contour(2);
  std::string difference;
  PMB_CHECK(lines->GetNumberOfLines() > 0 && SameBytes(lines, contour(1), difference), "slice: " << difference);
}
}

int TestPMBContourFilterDegenerate(int, char*[])
{
  Sheets();
  SheetsOfBlocks();
  SheetsOfSlice();
  for (int type : { VTK_UNSIGNED_CHAR, VTK_SHORT, VTK_INT, VTK_FLOAT, VTK_DOUBLE, VTK_UNSIGNED_LONG_LONG })
  {
    const std::string name = vtkImageScalarTypeNameMacro(type);
    Compare(MakeImage(21, 17, 13, type, Noise(7, 4)), 1, name + " noise at 1");
    Compare(MakeImage(40, 11, 9, type, Noise(8, 6)), 3, name + " noise at 3");
  }
  Compare(MakeImage(34, 12, 12, VTK_SHORT, [](int i, int j, int k) { return i + j + k; }), 20, "ramp");
  Compare(MakeImage(25, 25, 25, VTK_INT,
            [](int i, int j, int k) { return std::abs(i - 12) + std::abs(j - 12) + std::abs(k - 12); }),
    8, "octahedron");
  return Result();
}
