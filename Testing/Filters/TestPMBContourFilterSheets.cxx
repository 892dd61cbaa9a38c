// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// RemoveDegenerateTriangles = 2, a point for each sheet: the same triangles in space with the same data, as a manifold. (1 and
// 0: TestPMBContourFilterParity. To the byte: the fuzzer.)
#include "PMBTesting.h"

#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkPointData.h"

using namespace pmbtest;

namespace
{
// With all that a point can have, of three isovalues.
vtkSmartPointer<vtkPolyData> Sheets(vtkImageData* image, int remove)
{
  return Contour(image, 1,
    [=](vtkPMBContourFilter* filter)
    {
      filter->SetRemoveDegenerateTriangles(remove);
      filter->GenerateValues(3, 1, 2);
      filter->ComputeGradientsOn();
    });
}
}

int TestPMBContourFilterSheets(int, char*[])
{
  auto image = MakeImage(21, 17, 13, VTK_SHORT, Noise(7, 4));
  image->GetPointData()->AddArray(MakeArray(image, "three", VTK_FLOAT, 3, 1, Noise(8, 99)));
  auto cells = MakeArray(image, "cells", VTK_INT, 2, 0, Noise(10, 99));
  image->GetCellData()->AddArray(cells);
  auto joined = Sheets(image, 1), split = Sheets(image, 2);
  PMB_CHECK(Judge(joined).Repeated > 0, "nothing touches, the test says nothing");
  PMB_EQUAL(Judge(split).Repeated, 0, "edges of more than two triangles");
  PMB_CHECK(split->GetNumberOfPoints() > joined->GetNumberOfPoints(), "points");
  const std::vector<vtkIdType> before = TrianglesOf(joined), after = TrianglesOf(split);
  PMB_EQUAL(after.size(), before.size(), "corners");
  PMB_EQUAL(split->GetPointData()->GetNumberOfArrays(), 4, "normals, gradients, scalars and another array");
  for (int n = -1; n < split->GetPointData()->GetNumberOfArrays() && after.size() == before.size(); ++n)
  {
    vtkDataArray* a = n < 0 ? joined->GetPoints()->GetData() : joined->GetPointData()->GetArray(n);
    vtkDataArray* b = n < 0 ? split->GetPoints()->GetData() : split->GetPointData()->GetArray(n);
    PMB_EQUAL(b->GetNumberOfTuples(), split->GetNumberOfPoints(), "tuples");
    int wrong = 0;
    for (size_t corner = 0; corner < after.size(); ++corner)
    {
      for (int c = 0; c < a->GetNumberOfComponents(); ++c)
      {
        wrong += a->GetComponent(before[corner], c) != b->GetComponent(after[corner], c);
      }
    }
    PMB_EQUAL(wrong, 0, "values at corners, array " + std::to_string(n));
  }
  PMB_CHECK(split->GetCellData()->HasArray("cells"), "cell arrays");
  // Lines have no sheets.
  auto flat = MakeImage(21, 17, 1, VTK_SHORT, Noise(7, 4));
  auto lines = Sheets(flat, 2);
  std::string difference;
  PMB_CHECK(lines->GetNumberOfLines() > 0 && SameBytes(lines, Sheets(flat, 1), difference), "slice: " << difference);
  return Result();
}
