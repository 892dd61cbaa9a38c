// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Arrays passed beside the contoured one: their choice, memory and threads. (Names, types and bytes in all forms: the fuzzer.)
#include "PMBTesting.h"

#include "vtkCellData.h"
#include "vtkDataArraySelection.h"
#include "vtkDoubleArray.h"
#include "vtkIdTypeArray.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkSOADataArrayTemplate.h"

#include <cmath>

using namespace pmbtest;

namespace
{
vtkSmartPointer<vtkImageData> MakeLoaded()
{
  auto image = MakeImage(33, 18, 15, VTK_FLOAT, Distance(16, 8.7, 7.2));
  vtkPointData* pointData = image->GetPointData();
  const Field linear = [](int i, int j, int k) { return 2 * i - 3 * j + 5 * k; };
  pointData->AddArray(MakeArray(image, "double", VTK_DOUBLE, 1, 0, linear));
  vtkNew<vtkSOADataArrayTemplate<double>> soa;
  soa->DeepCopy(MakeArray(image, "soa", VTK_DOUBLE, 2, 1, linear));
  soa->SetName("soa");
  pointData->AddArray(soa);
  pointData->SetVectors(MakeArray(image, "velocity", VTK_FLOAT, 3, 2, linear));
  vtkNew<vtkIdTypeArray> cell;
  cell->SetName("cell");
  cell->SetNumberOfTuples(image->GetNumberOfCells());
  cell->Fill(3);
  image->GetCellData()->AddArray(cell);
  return image;
}

// More triangles than one chunk, copied by several threads: as by one, which copies a chunk. (Values: the fuzzer.)
void TestManyCells()
{
  auto image = MakeImage(70, 70, 70, VTK_FLOAT, Gyroid(6));
  vtkNew<vtkDoubleArray> cells;
  cells->SetName("cells");
  cells->SetNumberOfComponents(3);
  cells->SetNumberOfTuples(image->GetNumberOfCells());
  for (vtkIdType n = 0; n < cells->GetNumberOfValues(); ++n)
  {
    cells->SetValue(n, n);
  }
  image->GetCellData()->AddArray(cells);
  auto one = Contour(image, 0.1, [](vtkPMBContourFilter* f) { f->SetNumberOfThreads(1); });
  auto three = Contour(image, 0.1, [](vtkPMBContourFilter* f) { f->SetNumberOfThreads(3); });
  PMB_CHECK(one->GetNumberOfPolys() > 300000, "triangles: " << one->GetNumberOfPolys());
  PMB_CHECK(one->GetCellData()->GetArray("cells")->GetRange()[1] > cells->GetNumberOfValues() / 2, "values");
  std::string difference;
  PMB_CHECK(SameBytes(one, three, difference), "three threads: " << difference);
}

using Names = std::vector<const char*>;

// Executes a filter that passes only these arrays.
vtkSmartPointer<vtkPMBContourFilter> Choose(vtkImageData* image, const Names& onPoints, const Names& onCells)
{
  auto filter = vtkSmartPointer<vtkPMBContourFilter>::New();
  filter->SetInputData(image);
  filter->SetValue(0, 6.3);
  filter->ChooseArraysOn();
  for (const char* name : onPoints)
  {
    filter->GetPointArraySelection()->EnableArray(name);
  }
  for (const char* name : onCells)
  {
    filter->GetCellArraySelection()->EnableArray(name);
  }
  filter->Update();
  return filter;
}

void TestSelectionMemory(vtkImageData* image)
{
  auto none = Choose(image, {}, {}), soa = Choose(image, { "soa" }, {}), cell = Choose(image, {}, { "cell" });
  const vtkIdType points = none->GetOutput()->GetNumberOfPoints(), triangles = none->GetOutput()->GetNumberOfPolys();
  // SOA arrays are copied; cell arrays need the cell of each triangle.
  const int64_t copied = 2 * sizeof(double) * image->GetNumberOfPoints();
  PMB_CHECK(soa->GetPeakExtraBytes() >= none->GetPeakExtraBytes() + copied, "the copy is counted");
  const int64_t cellIds = sizeof(int64_t) * triangles;
  PMB_CHECK(cell->GetPeakExtraBytes() >= none->GetPeakExtraBytes() + cellIds, "cells are counted");
  // In KiB; arrays have a little spare room.
  const double more = 1024.0 * (soa->GetOutput()->GetActualMemorySize() - none->GetOutput()->GetActualMemorySize());
  PMB_CHECK(std::abs(more - 2.0 * sizeof(double) * points) < 4096, "the output grows by the array: " << more);
}

// What is chosen keeps its role, and a changed selection makes the filter run again.
void TestSelection(vtkImageData* image)
{
  auto chosen = Choose(image, { "double", "unknown", "samples" }, { "unknown" });
  vtkPolyData* mesh = chosen->GetOutput();
  PMB_EQUAL(mesh->GetPointData()->GetNumberOfArrays(), 3, "chosen: normals, scalars, one array");
  chosen->GetPointArraySelection()->DisableArray("double");
  chosen->GetPointArraySelection()->SetUnknownArraySetting(1);
  chosen->Update();
  vtkPointData* pointData = mesh->GetPointData();
  PMB_CHECK(!pointData->HasArray("double") && pointData->HasArray("velocity"), "changed");
  PMB_CHECK(pointData->GetVectors() == pointData->GetArray("velocity"), "the active vectors stay so");

  auto flat = MakeImage(20, 20, 1, VTK_FLOAT, Distance(9, 9, 0));
  flat->GetPointData()->AddArray(MakeArray(flat, "one", VTK_FLOAT, 1, 0, Distance(0, 0, 0)));
  flat->GetPointData()->AddArray(MakeArray(flat, "two", VTK_FLOAT, 1, 0, Distance(0, 0, 0)));
  chosen = Choose(flat, { "two" }, {});
  mesh = chosen->GetOutput();
  PMB_CHECK(mesh->GetPointData()->HasArray("two") && !mesh->GetPointData()->HasArray("one"), "of lines");
}
}

int TestPMBContourFilterArrays(int, char*[])
{
  auto image = MakeLoaded();
  TestManyCells();
  TestSelectionMemory(image);
  TestSelection(image);
  return Result();
}
