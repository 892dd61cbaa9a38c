// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// A part of PMBFakeGPUTest: the memory of the filter's output, which the GPU writes.
#include "FakeGPUTests.h"

#include "vtkCellArray.h"
#include "vtkDataArray.h"
#include "vtkFloatArray.h"
#include "vtkPoints.h"

using namespace fakegputests;
using namespace pmbtest;

namespace
{
// As any other array: emptied and filled again, grown, shrunk.
void EditOutput(vtkPolyData* mesh)
{
  vtkDataArray* normals = mesh->GetPointData()->GetNormals();
  normals->Initialize();
  normals->SetNumberOfComponents(3);
  normals->SetNumberOfTuples(200000);
  normals->Fill(1.0);
  vtkDataArray* gradients = mesh->GetPointData()->GetArray("Gradients");
  gradients->Allocate(10 * gradients->GetNumberOfValues());
  gradients->InsertNextTuple3(1, 2, 3);
  vtkDataArray* points = mesh->GetPoints()->GetData();
  const double last = points->GetComponent(points->GetNumberOfTuples() - 1, 2);
  const vtkIdType count = points->GetNumberOfTuples();
  points->InsertNextTuple3(1, 2, 3);
  PMB_EQUAL(points->GetComponent(count - 1, 2), last, "a point array that has grown");
  mesh->GetPolys()->Initialize();
}

void TestLarge()
{
  fakegpu::Reset();
  const int before = fakegpu::PiecesHeld();
  vtkSmartPointer<vtkPolyData> mesh;
  {
    vtkNew<vtkPMBContourFilter> filter;
    filter->SetInputData(Volume());
    filter->ComputeGradientsOn();
    filter->SetValue(0, 0.1);
    filter->Update();
    mesh = filter->GetOutput();
    vtkPointData* data = mesh->GetPointData();
    vtkDataArray* const arrays[] = { mesh->GetPoints()->GetData(), data->GetNormals(), data->GetArray("Gradients"),
      data->GetArray("other"), mesh->GetPolys()->GetConnectivityArray() };
    for (vtkDataArray* array : arrays)
    {
      PMB_CHECK(fakegpu::IsPiece(array->GetVoidPointer(0)), "not where the GPU writes: " << array->GetName());
    }
    PMB_EQUAL(mesh->GetPolys()->GetConnectivityArray()->GetDataTypeSize(), +sizeof(vtkIdType), "size of an id");
    PMB_EQUAL(mesh->GetPolys()->GetOffsetsArray()->GetDataTypeSize(), +sizeof(vtkIdType), "size of an offset");
    filter->SetDevice(CPU);
    auto kept = vtkSmartPointer<vtkPolyData>::New();
    kept->ShallowCopy(mesh);
    filter->Update();
    PMB_CHECK(!fakegpu::IsPiece(filter->GetOutput()->GetPoints()->GetData()->GetVoidPointer(0)), "by the CPU");
    PMB_EQUAL(fakegpu::Contexts(), 0, "contexts");
    PMB_CHECK(fakegpu::PiecesHeld() >= before + 5, "what is kept is kept");
    mesh = kept;
  }
  std::string difference;
  auto expected = Contour(Volume(), 0.1,
    [](vtkPMBContourFilter* f)
    {
      f->ComputeGradientsOn();
      f->SetDevice(CPU);
    });
  PMB_CHECK(SameBytes(mesh, expected, difference), "an output that outlives filter and context: " << difference);

  EditOutput(mesh);
  mesh = nullptr;
  PMB_EQUAL(fakegpu::PiecesHeld(), before, "host memory not given back");
  PMB_EQUAL(fakegpu::Faults(), 0, "faults");
}

// Too small to be worth it.
void TestSmall()
{
  fakegpu::Reset();
  const int before = fakegpu::PiecesHeld();
  vtkNew<vtkPMBContourFilter> small;
  small->SetInputData(MakeImage(8, 8, 8, VTK_FLOAT, Distance(3, 3, 3)));
  small->SetValue(0, 2.1);
  small->Update();
  PMB_EQUAL(std::string(small->GetLastRunSummary()).find("GPU 0"), size_t(0), "summary");
  PMB_EQUAL(fakegpu::PiecesHeld(), before, "host memory for a small mesh");
}
}

void fakegputests::TestOutputMemory()
{
  TestLarge();
  TestSmall();
}
