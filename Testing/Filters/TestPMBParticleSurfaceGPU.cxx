// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// vtkPMBParticleSurface on the emulated GPU: the choice of the device, failures, memory held.
#include "EmulatedGPU.h"
#include "PMBTesting.h"

#include "vtkCellArray.h"
#include "vtkDataArray.h"
#include "vtkNew.h"
#include "vtkPMBParticleSurface.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"

#include <cmath>
#include <set>

using namespace pmbtest;

namespace
{
const int CPU = vtkPMBContourFilter::CPU;
const int GPU = vtkPMBContourFilter::GPU;

vtkSmartPointer<vtkPolyData> Cloud()
{
  auto cloud = vtkSmartPointer<vtkPolyData>::New();
  vtkNew<vtkPoints> points;
  for (int i = 0; i < 4096; ++i)
  {
    points->InsertNextPoint(i % 16, i / 16 % 16, i / 256 + 0.2 * std::sin(i));
  }
  cloud->SetPoints(points);
  return cloud;
}

// A filter of the cloud, with its messages.
struct Subject
{
  Subject()
    : Said(Filter)
  {
    this->Filter->SetInputData(Cloud());
  }

  // Checks the mesh against the CPU's, and where it was made.
  void Run(int device, int warnings, const std::string& what)
  {
    vtkNew<vtkPMBParticleSurface> expected;
    expected->SetInputData(Cloud());
    expected->SetDevice(CPU);
    expected->Update();
    this->Filter->Modified();
    this->Filter->Update();
    std::string difference;
    PMB_CHECK(expected->GetOutput()->GetNumberOfPolys() > 100, what << ": too few triangles for a test");
    PMB_CHECK(SameBytes(this->Filter->GetOutput(), expected->GetOutput(), difference), what << ": " << difference);
    PMB_EQUAL(this->Filter->GetUsedDevice(), device, what + ": the device");
    PMB_EQUAL(this->Said.Warnings(), warnings, what + ": warnings: " + this->Said.Text());
    PMB_EQUAL(this->Said.Errors(), 0, what + ": errors: " + this->Said.Text());
    PMB_EQUAL(gpu_get().faults, 0, what + ": wrong calls of the core");
  }

  vtkNew<vtkPMBParticleSurface> Filter;
  Messages Said;
};

void TestChoice()
{
  Subject s;
  s.Run(GPU, 0, "automatic");
  PMB_CHECK(gpu_is_piece(s.Filter->GetOutput()->GetPoints()->GetData()->GetVoidPointer(0)), "where the GPU writes");
  s.Filter->SetDevice(CPU);
  s.Run(CPU, 0, "on the CPU");
  PMB_EQUAL(gpu_get().contexts, 0, "contexts on the GPU, without use");
  s.Filter->SetDevice(GPU);
  s.Run(GPU, 0, "on the GPU");
  gpu_fail_at(GPU_CREATE, 1, GPU_BUSY);
  s.Filter->SetDeviceIndex(1);
  s.Run(CPU, 1, "no GPU");
  PMB_CHECK(Has(s.Said.Text(), "the GPU is busy") && Has(s.Said.Text(), "Run On"), "says why: " << s.Said.Text());
  gpu_fail_at(GPU_CREATE, 1, GPU_BUSY);
  s.Filter->SetDevice(vtkPMBContourFilter::AUTOMATIC);
  s.Run(CPU, 1, "no GPU, and none was asked for");
}

// The CPU takes over, with one warning per cause; the next execution tries the GPU again.
void TestFailures()
{
  Subject s;
  for (int i = 0; i < 2; ++i)
  {
    gpu_fail_at(GPU_COUNT, 1, GPU_NO_MEMORY);
    s.Run(CPU, 1, "no memory");
    s.Run(GPU, 1, "after that");
  }
  PMB_CHECK(Has(s.Said.Text(), "The GPU has too little memory: no memory on the GPU"), "says why: " << s.Said.Text());
  gpu_fail_at(GPU_COUNT, 1, GPU_ILLEGAL_ADDRESS);
  s.Run(CPU, 2, "a fault");
  s.Run(CPU, 2, "after the fault");
}
// Animation steps with equally many triangles: after the second, all arrays reuse the addresses of earlier ones.
void TestSteps()
{
  auto cloud = Cloud();
  vtkNew<vtkPMBParticleSurface> filter;
  filter->SetInputData(cloud);
  filter->SetRadius(0.5);
  filter->SetDevice(CPU);
  std::set<void*> used;
  for (int step = 0; step < 6; ++step)
  {
    for (vtkIdType i = 0; i < cloud->GetNumberOfPoints(); ++i)
    {
      double place[3];
      cloud->GetPoint(i, place);
      cloud->GetPoints()->SetPoint(i, place[0] + 32 * 0.25, place[1], place[2]); // by a brick
    }
    cloud->GetPoints()->Modified();
    filter->Update();
    vtkPolyData* mesh = filter->GetOutput();
    for (vtkDataArray* array : { mesh->GetPoints()->GetData(), mesh->GetPointData()->GetNormals(),
           mesh->GetPolys()->GetConnectivityArray(), mesh->GetPolys()->GetOffsetsArray() })
    {
      const bool is_new = used.insert(array->GetVoidPointer(0)).second;
      PMB_CHECK(array->GetNumberOfTuples() > 10000, "too small for a test");
      PMB_CHECK(
        step < 2 || !is_new, "new memory in step " << step << " for " << array->GetNumberOfTuples() << " tuples");
    }
  }
}
}

int main()
{
  TestChoice();
  gpu_reset();
  TestSteps();
  gpu_reset();
  TestFailures();
  PMB_EQUAL(gpu_get().contexts + gpu_get().pieces, 0, "left on the GPU, or of its memory");
  return Result();
}
