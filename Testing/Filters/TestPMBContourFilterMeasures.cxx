// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Measures in the field data, for several isovalues and blocks. (Values, ghost triangles: the fuzzer; too little memory:
// TestPMBContourFilterGPU; an abort: TestPMBContourFilterAbort.)
#include "PMBTesting.h"

#include "vtkDataArray.h"
#include "vtkFieldData.h"
#include "vtkIntArray.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"

#include <map>

using namespace pmbtest;

namespace
{
const char* const Names[] = { "Isovalue", "Area", "Volume", "Closed", "EulerNumber", "Components", "BoundaryEdges",
  "NonManifoldEdges" };
using Measures = std::map<std::string, double>;

// The measures of one isovalue; fails if arrays are missing.
Measures Read(vtkPolyData* mesh, vtkIdType isovalue, vtkIdType isovalues)
{
  Measures measures;
  for (const char* name : Names)
  {
    vtkDataArray* array = mesh->GetFieldData()->GetArray(name);
    PMB_CHECK(array && array->GetNumberOfTuples() == isovalues && array->GetNumberOfComponents() == 1,
      "the array " << name << " is not there, or of another size");
    measures[name] = array && isovalue < array->GetNumberOfTuples() ? array->GetComponent(isovalue, 0) : -1;
  }
  return measures;
}

int CountArrays(vtkPolyData* mesh)
{
  int count = 0;
  for (const char* name : Names)
  {
    count += mesh->GetFieldData()->HasArray(name);
  }
  return count;
}

void Measuring(vtkPMBContourFilter* filter)
{
  filter->ComputeMeasuresOn();
}

// Off: no arrays; on: nothing else changes; the input's fields stay; flat and empty input.
void TestWhenThereAreSome()
{
  auto image = MakeImage(30, 30, 30, VTK_FLOAT, Distance(14, 15, 16));
  vtkNew<vtkIntArray> field;
  field->SetName("field");
  field->InsertNextValue(42);
  image->GetFieldData()->AddArray(field);
  PMB_EQUAL(vtkSmartPointer<vtkPMBContourFilter>::New()->GetComputeMeasures(), 0, "default");
  auto off = Contour(image, 9);
  PMB_EQUAL(CountArrays(off), 0, "measures though they are off");
  auto on = Contour(image, 9, Measuring);
  std::string difference;
  PMB_CHECK(SameBytes(off, on, difference), "the mesh with measures: " << difference);
  PMB_CHECK(on->GetFieldData()->GetArray("field") != nullptr, "the input's field is gone");
  Measures m = Read(Contour(image, image->GetScalarRange()[0], Measuring), 0, 1);
  PMB_CHECK(
    m["Area"] == 0 && m["Closed"] == 1 && m["Components"] == 0, "an empty surface has an area of " << m["Area"]);
  auto flat = MakeImage(30, 30, 1, VTK_FLOAT, Distance(14, 15, 0));
  PMB_EQUAL(CountArrays(Contour(flat, 9, Measuring)), 0, "measures of isolines");
}

void TestSeveralIsovaluesAndBlocks()
{
  auto image = MakeImage(40, 40, 40, VTK_FLOAT, Gyroid(15));
  const double isovalues[] = { 0.5, -0.25, image->GetScalarRange()[0], 0.5 }; // the third has no surface
  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetBlock(0, image);
  blocks->SetBlock(1, MakeImage(30, 12, 12, VTK_SHORT, Noise(3, 3)));
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputDataObject(blocks);
  filter->ComputeMeasuresOn();
  for (int i = 0; i < 4; ++i)
  {
    filter->SetValue(i, isovalues[i]);
  }
  filter->Update();
  auto* output = vtkMultiBlockDataSet::SafeDownCast(filter->GetOutputDataObject(0));
  for (int i = 0; i < 4; ++i)
  {
    for (unsigned b = 0; b < 2; ++b)
    {
      auto* block = vtkImageData::SafeDownCast(blocks->GetBlock(b));
      auto* mesh = vtkPolyData::SafeDownCast(output->GetBlock(b));
      PMB_CHECK(Read(mesh, i, 4) == Read(Contour(block, isovalues[i], Measuring), 0, 1),
        "isovalue " << i << " of four, block " << b << ": other measures than alone");
    }
  }
  filter->ComputeMeasuresOff();
  filter->Update();
  PMB_EQUAL(CountArrays(vtkPolyData::SafeDownCast(output->GetBlock(0))), 0, "measures of the run before");
}
}

int TestPMBContourFilterMeasures(int, char*[])
{
  TestWhenThereAreSome();
  TestSeveralIsovaluesAndBlocks();
  return Result();
}
