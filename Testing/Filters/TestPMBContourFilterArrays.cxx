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

// Index of the cell that contains a triangle.
vtkIdType CellAt(const std::vector<double>& points, const vtkIdType* ids, const int dims[3])
{
  vtkIdType cell = 0;
  for (int axis = 2; axis >= 0; --axis)
  {
    const double middle = (points[3 * ids[0] + axis] + points[3 * ids[1] + axis] + points[3 * ids[2] + axis]) / 3;
    cell = (dims[axis] - 1) * cell + static_cast<vtkIdType>(std::floor(middle));
  }
  return cell;
}

// Tuples of each width with its own copy loop, and of another width.
const struct
{
  const char* Name;
  int Type, Components;
} Widths[] = { { "1", VTK_UNSIGNED_CHAR, 1 }, { "2", VTK_SHORT, 1 }, { "4", VTK_FLOAT, 1 }, { "8", VTK_DOUBLE, 1 },
  { "12", VTK_INT, 3 }, { "24", VTK_DOUBLE, 3 }, { "3", VTK_SIGNED_CHAR, 3 }, { "40", VTK_LONG_LONG, 5 } };

double ValueOfCell(vtkIdType cell, int component)
{
  return cell * 31 % 97 + component;
}

void AddWidths(vtkImageData* image)
{
  for (const auto& width : Widths)
  {
    auto array = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(width.Type));
    array->SetName(width.Name);
    array->SetNumberOfComponents(width.Components);
    array->SetNumberOfTuples(image->GetNumberOfCells());
    for (vtkIdType c = 0; c < image->GetNumberOfCells(); ++c)
    {
      for (int k = 0; k < width.Components; ++k)
      {
        array->SetComponent(c, k, ValueOfCell(c, k));
      }
    }
    image->GetCellData()->AddArray(array);
  }
}

// More triangles than one chunk, copied by several threads.
void TestManyCells()
{
  const int dims[3] = { 70, 70, 70 };
  auto image = MakeImage(70, 70, 70, VTK_FLOAT, Gyroid(6));
  AddWidths(image);
  auto mesh = Contour(image, 0.1, [](vtkPMBContourFilter* f) { f->SetNumberOfThreads(3); });
  PMB_CHECK(mesh->GetNumberOfPolys() > 300000, "triangles: " << mesh->GetNumberOfPolys());
  const std::vector<double> points = PointsOf(mesh);
  const std::vector<vtkIdType> ids = TrianglesOf(mesh);
  for (const auto& width : Widths)
  {
    vtkDataArray* array = mesh->GetCellData()->GetArray(width.Name);
    PMB_CHECK(array && array->GetNumberOfComponents() == width.Components, "the cell array of width " << width.Name);
    vtkIdType wrong = 0;
    for (vtkIdType t = 0; array && t < mesh->GetNumberOfPolys(); ++t)
    {
      const vtkIdType cell = CellAt(points, &ids[3 * t], dims);
      for (int k = 0; k < width.Components; ++k)
      {
        wrong += array->GetComponent(t, k) != ValueOfCell(cell, k);
      }
    }
    PMB_EQUAL(wrong, 0, std::string("wrong values, width ") + width.Name);
  }
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
