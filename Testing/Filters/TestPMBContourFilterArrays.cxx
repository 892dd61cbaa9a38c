// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Arrays passed beside the contoured one. (The contoured array in all forms, and all bytes: the fuzzer.)
#include "PMBTesting.h"

#include "vtkCellData.h"
#include "vtkDataArraySelection.h"
#include "vtkDoubleArray.h"
#include "vtkFloatArray.h"
#include "vtkIdTypeArray.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkSOADataArrayTemplate.h"
#include "vtkStringArray.h"
#include "vtkUnsignedCharArray.h"

#include <cmath>

using namespace pmbtest;

namespace
{
const int Dims[3] = { 33, 18, 15 };
const vtkIdType Cells = vtkIdType(Dims[0] - 1) * (Dims[1] - 1) * (Dims[2] - 1);

vtkSmartPointer<vtkImageData> MakeLoaded()
{
  auto image = MakeImage(Dims[0], Dims[1], Dims[2], VTK_FLOAT, Distance(16, 8.7, 7.2));
  vtkPointData* pointData = image->GetPointData();
  const Field linear = [](int i, int j, int k) { return 2 * i - 3 * j + 5 * k; };
  pointData->AddArray(MakeArray(image, "double", VTK_DOUBLE, 1, 0, linear));
  pointData->AddArray(
    MakeArray(image, "int3", VTK_INT, 3, 1, [=](int i, int j, int k) { return 10 * linear(i, j, k); }));
  pointData->AddArray(MakeArray(image, "uchar", VTK_UNSIGNED_CHAR, 1, 0, [](int, int, int) { return 200; }));
  vtkNew<vtkSOADataArrayTemplate<double>> soa;
  soa->DeepCopy(MakeArray(image, "soa", VTK_DOUBLE, 2, 1, linear));
  soa->SetName("soa");
  pointData->AddArray(soa);
  pointData->SetVectors(MakeArray(image, "velocity", VTK_FLOAT, 3, 2, linear));
  // These have no meaning between two points.
  vtkNew<vtkStringArray> names;
  names->SetName("names");
  names->SetNumberOfTuples(image->GetNumberOfPoints());
  pointData->AddArray(names);
  vtkNew<vtkIdTypeArray> ids;
  ids->SetName("ids");
  ids->SetNumberOfTuples(image->GetNumberOfPoints());
  pointData->SetGlobalIds(ids);
  // Of the wrong length.
  vtkNew<vtkFloatArray> shorter;
  shorter->SetName("shorter");
  shorter->SetNumberOfTuples(5);
  pointData->AddArray(shorter);
  // With the name of an array that the filter makes.
  pointData->AddArray(MakeArray(image, "Normals", VTK_FLOAT, 3, 0, linear));

  vtkNew<vtkIdTypeArray> cell;
  cell->SetName("cell");
  cell->SetNumberOfTuples(Cells);
  vtkNew<vtkStringArray> labels;
  labels->SetName("label");
  labels->SetNumberOfTuples(Cells);
  vtkNew<vtkUnsignedCharArray> ghosts;
  ghosts->SetName(vtkDataSetAttributes::GhostArrayName());
  ghosts->SetNumberOfTuples(Cells);
  for (vtkIdType c = 0; c < Cells; ++c)
  {
    cell->SetValue(c, c);
    labels->SetValue(c, std::to_string(c));
    ghosts->SetValue(c, c % (Dims[0] - 1) < 4 ? vtkDataSetAttributes::DUPLICATECELL : 0);
  }
  cell->InsertNextValue(-1); // longer than the image: no harm
  image->GetCellData()->AddArray(cell);
  image->GetCellData()->AddArray(labels);
  image->GetCellData()->AddArray(ghosts);
  vtkNew<vtkStringArray> note;
  note->SetName("note");
  image->GetFieldData()->AddArray(note);
  return image;
}

// Names, roles and types. (Values, and arrays in all forms: the fuzzer.)
void TestPointArrays(vtkImageData* image)
{
  auto mesh = Contour(image, 6.3);
  PMB_CHECK(mesh->GetFieldData()->HasArray("note"), "field data of the input is the output's");
  vtkPointData* pointData = mesh->GetPointData();
  for (const char* name : { "names", "ids", "shorter" })
  {
    PMB_CHECK(!pointData->HasArray(name), name << " must not be on the surface");
  }
  PMB_CHECK(pointData->GetVectors() == pointData->GetArray("velocity"), "the active vectors stay so");
  PMB_CHECK(pointData->GetNormals() && std::abs(pointData->GetNormals()->GetComponent(0, 0)) <= 1, "own normals");
  PMB_EQUAL(pointData->GetNumberOfArrays(), 7, "point arrays");

  auto without = Contour(image, 6.3, [](vtkPMBContourFilter* f) { f->ComputeNormalsOff(); });
  PMB_CHECK(without->GetPointData()->HasArray("Normals"), "the input's array of that name, if there are no normals");

  auto bare = Contour(image, 6.3, [](vtkPMBContourFilter* f) { f->InterpolateAttributesOff(); });
  PMB_EQUAL(bare->GetPointData()->GetNumberOfArrays(), 2, "point arrays when they are not passed");
  PMB_EQUAL(bare->GetCellData()->GetNumberOfArrays(), 1, "cell arrays when they are not passed: the ghost types");
  PMB_CHECK(bare->GetCellGhostArray() != nullptr, "ghost types always come along");
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

void TestSelection()
{
  auto image = MakeLoaded();
  auto chosen = Choose(image, { "double", "names", "unknown", "samples" }, { "label", "unknown" });
  vtkPolyData* mesh = chosen->GetOutput();
  PMB_EQUAL(mesh->GetPointData()->GetNumberOfArrays(), 3, "chosen: normals, scalars, one array");
  PMB_CHECK(mesh->GetPointData()->HasArray("double"), "the chosen array");
  PMB_EQUAL(mesh->GetCellData()->GetNumberOfArrays(), 2, "chosen: a cell array and the ghost types");
  PMB_CHECK(mesh->GetCellData()->HasArray("label") && mesh->GetCellGhostArray(), "their names");

  // A changed selection makes the filter run again; unknown arrays can be passed.
  chosen->GetPointArraySelection()->DisableArray("double");
  chosen->GetPointArraySelection()->SetUnknownArraySetting(1);
  chosen->Update();
  PMB_CHECK(!mesh->GetPointData()->HasArray("double") && mesh->GetPointData()->HasArray("velocity"), "changed");
  chosen->ChooseArraysOff();
  chosen->Update();
  PMB_EQUAL(mesh->GetPointData()->GetNumberOfArrays(), 7, "all again");
  chosen->ChooseArraysOn();
  chosen->InterpolateAttributesOff();
  chosen->Update();
  PMB_EQUAL(mesh->GetPointData()->GetNumberOfArrays(), 2, "none");
  image->GetCellData()->RemoveArray(vtkDataSetAttributes::GhostArrayName());
  TestSelectionMemory(image);

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
  TestPointArrays(image);
  TestManyCells();
  TestSelection();
  return Result();
}
