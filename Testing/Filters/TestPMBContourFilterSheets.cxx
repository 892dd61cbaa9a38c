// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// RemoveDegenerateTriangles = 2, a point for each sheet: the same triangles in space with the same data, as a manifold. (1 and
// 0: TestPMBContourFilterParity.)
#include "PMBTesting.h"

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"

using namespace pmbtest;

namespace
{
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
  PMB_CHECK(Judge(joined).Repeated > 0, what << ": nothing touches, the test says nothing");
  PMB_EQUAL(Judge(split).Repeated, vtkIdType(0), what + ": edges of more than two triangles");
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
  vtkNew<vtkPolyData> cells[2]; // the cell arrays alone
  cells[0]->GetCellData()->ShallowCopy(joined->GetCellData());
  cells[1]->GetCellData()->ShallowCopy(split->GetCellData());
  std::string difference;
  PMB_CHECK(SameBytes(cells[0], cells[1], difference), what << ": " << difference);
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
}

int TestPMBContourFilterSheets(int, char*[])
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
  // Lines have no sheets.
  auto flat = MakeImage(21, 17, 1, VTK_SHORT, Noise(7, 4));
  auto lines = Contour(flat, 1, [](vtkPMBContourFilter* f) { f->SetRemoveDegenerateTriangles(2); });
  std::string difference;
  PMB_CHECK(lines->GetNumberOfLines() > 0 && SameBytes(lines, Contour(flat, 1), difference), "slice: " << difference);
  return Result();
}
