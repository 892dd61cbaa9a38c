// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// The choice of the device, on any machine: with a GPU it computes, without one the CPU takes its place and says so.
#include "PMBTesting.h"

#include "vtkCallbackCommand.h"
#include "vtkCellArray.h"
#include "vtkCommand.h"
#include "vtkDataArray.h"
#include "vtkFloatArray.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkWeakPointer.h"

#include <iostream>
#include <limits>
#include <thread>

using namespace pmbtest;

namespace
{
const int CPU = vtkPMBContourFilter::CPU;
const int GPU = vtkPMBContourFilter::GPU;

vtkSmartPointer<vtkImageData> Volume()
{
  auto image = MakeImage(60, 50, 40, VTK_FLOAT, Gyroid(9.1));
  image->GetPointData()->AddArray(MakeArray(image, "other", VTK_SHORT, 2, 0, Noise(3, 1000)));
  return image;
}

// Of a fresh filter on the CPU, with all that there can be.
vtkSmartPointer<vtkPolyData> Expected(vtkImageData* image, double isovalue)
{
  return Contour(image, isovalue,
    [](vtkPMBContourFilter* f)
    {
      f->SetDevice(CPU);
      f->ComputeGradientsOn();
    });
}

void CheckMesh(vtkPMBContourFilter* filter, vtkImageData* image, const std::string& what)
{
  std::string difference;
  auto expected = Expected(image, filter->GetValue(0));
  PMB_CHECK(expected->GetNumberOfPolys() > 100, what << ": too few triangles for a test");
  PMB_CHECK(SameBytes(filter->GetOutput(), expected, difference), what << ": " << difference);
}

// Whether this machine has a GPU that can be used, as the filter says.
bool HasGPU()
{
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputData(Volume());
  filter->SetValue(0, 0.1);
  filter->Update();
  return std::string(filter->GetLastRunSummary()).find("GPU ") == 0;
}

// Device = GPU: the CPU's bytes in any case; without a GPU one warning in all, and the same reason in the summary.
void TestAsked(bool hasGPU)
{
  auto image = Volume();
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(image);
  filter->ComputeGradientsOn();
  filter->SetDevice(GPU);
  for (double isovalue : { 0.1, 0.3, -0.2 })
  {
    filter->SetValue(0, isovalue);
    filter->Update();
    CheckMesh(filter, image, "Device is GPU");
  }
  const std::string summary = filter->GetLastRunSummary();
  PMB_EQUAL(messages.Errors(), 0, "Device is GPU: errors: " + messages.Text());
  PMB_EQUAL(messages.Warnings(), hasGPU ? 0 : 1, "Device is GPU: warnings: " + messages.Text());
  PMB_EQUAL(filter->GetNumberOfBinds(), 1, "Device is GPU: volumes read");
  PMB_EQUAL(filter->GetNumberOfUploads(), hasGPU ? 1 : 0, "Device is GPU: uploads");
  PMB_EQUAL(filter->GetDeviceBytes() > 0, hasGPU, "Device is GPU: memory held there");
  if (hasGPU)
  {
    PMB_EQUAL(summary.find("GPU "), size_t(0), "summary: " + summary);
    return;
  }
  PMB_CHECK(Has(messages.Text(), "no GPU can be used: "), "the warning says what is wrong: " << messages.Text());
  PMB_CHECK(Has(messages.Text(), "Set Device"), "the warning says what to do: " << messages.Text());
  const size_t because = summary.find(" because ");
  PMB_CHECK(summary.find("CPU (") == 0 && because != std::string::npos, "summary: " << summary);
  const std::string reason = summary.substr(because + 9, summary.find(": ", because) - because - 9);
  PMB_CHECK(reason.size() > 10 && Has(messages.Text(), reason), "summary and warning differ: " << summary);

  // The same reason is no news for this filter, whatever is set; it is for another.
  messages.Clear();
  filter->SetDevice(CPU);
  filter->Update();
  PMB_CHECK(
    !Has(filter->GetLastRunSummary(), "because"), "chosen, not fallen back to: " << filter->GetLastRunSummary());
  filter->SetDevice(GPU);
  filter->SetDeviceMemoryLimit(0.5);
  filter->Update();
  PMB_EQUAL(messages.Warnings(), 0, "a second warning: " + messages.Text());
  PMB_EQUAL(filter->GetNumberOfBinds(), 1, "the CPU does not read the volume again for the GPU's settings");
  vtkNew<vtkPMBContourFilter> second;
  Messages others(second);
  second->SetInputData(image);
  second->SetDevice(GPU);
  second->Update();
  PMB_EQUAL(others.Warnings(), 1, "warnings of another filter: " + others.Text());
}

void TestAutomatic()
{
  auto image = Volume();
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(image);
  filter->ComputeGradientsOn();
  filter->SetValue(0, 0.1);
  filter->Update();
  CheckMesh(filter, image, "Automatic");
  filter->SetDeviceIndex(900); // there are no machines with so many
  filter->Update();
  CheckMesh(filter, image, "Automatic, without such a GPU");
  PMB_CHECK(Has(filter->GetLastRunSummary(), "CPU (") && Has(filter->GetLastRunSummary(), " because "),
    "Automatic, without such a GPU: summary: " << filter->GetLastRunSummary());
  PMB_EQUAL(messages.Warnings() + messages.Errors(), 0, "Automatic is silent: " + messages.Text());
}

void TestIndexOutOfRange(bool hasGPU)
{
  auto image = Volume();
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(image);
  filter->ComputeGradientsOn();
  filter->SetDevice(GPU);
  filter->SetDeviceIndex(900);
  filter->SetValue(0, 0.1);
  filter->Update();
  CheckMesh(filter, image, "index out of range");
  PMB_EQUAL(messages.Warnings(), 1, "index out of range: warnings: " + messages.Text());
  PMB_CHECK(Has(messages.Text(), "900"), "the warning names the index: " << messages.Text());
  PMB_CHECK(Has(filter->GetLastRunSummary(), "CPU ("), "summary: " << filter->GetLastRunSummary());
  filter->SetDeviceIndex(0);
  filter->Update();
  CheckMesh(filter, image, "index put right");
  PMB_EQUAL(std::string(filter->GetLastRunSummary()).find("GPU 0") == 0, hasGPU,
    "index put right: " + std::string(filter->GetLastRunSummary()));
}

// A limit that nothing fits into: the mesh is complete, one warning, and no second attempt until something has changed.
void TestLimit(bool hasGPU)
{
  auto image = Volume();
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(image);
  filter->ComputeGradientsOn();
  filter->SetDeviceMemoryLimit(1e-6); // about 1 KiB
  for (double isovalue : { 0.1, 0.3 })
  {
    filter->SetValue(0, isovalue);
    filter->Update();
    CheckMesh(filter, image, "a limit of 1 KiB");
  }
  PMB_EQUAL(messages.Errors(), 0, "a limit of 1 KiB: errors: " + messages.Text());
  PMB_EQUAL(messages.Warnings(), hasGPU ? 1 : 0, "a limit of 1 KiB: warnings: " + messages.Text());
  PMB_CHECK(Has(filter->GetLastRunSummary(), " because "), "summary: " << filter->GetLastRunSummary());
  PMB_EQUAL(filter->GetNumberOfUploads(), 0, "a limit of 1 KiB: uploads");
  PMB_EQUAL(filter->GetNumberOfBinds(), 1, "a limit of 1 KiB: volumes read");
  PMB_EQUAL(filter->GetDeviceBytes(), 0, "a limit of 1 KiB: memory held on the GPU");
  filter->SetDeviceMemoryLimit(std::numeric_limits<double>::infinity());
  filter->Update();
  CheckMesh(filter, image, "no limit any more");
  PMB_EQUAL(std::string(filter->GetLastRunSummary()).find("GPU ") == 0, hasGPU,
    "no limit any more: " + std::string(filter->GetLastRunSummary()));
}

// The array goes between two executions, also on another thread; and what was made from it stays.
void TestArrayDeleted()
{
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetValue(0, 0.1);
  filter->ComputeGradientsOn();
  auto kept = vtkSmartPointer<vtkPolyData>::New();
  vtkSmartPointer<vtkPolyData> expected;
  for (int round = 0; round < 4; ++round)
  {
    auto image = MakeImage(60, 50, 40, VTK_FLOAT, Gyroid(9.0 + round));
    filter->SetInputData(image);
    filter->Update();
    CheckMesh(filter, image, "a new volume");
    kept->ShallowCopy(filter->GetOutput());
    expected = Expected(image, 0.1);
    vtkWeakPointer<vtkDataArray> array = image->GetPointData()->GetScalars();
    filter->SetInputData(nullptr);
    if (round % 2)
    {
      std::thread other([&image]() { image = nullptr; });
      other.join();
    }
    image = nullptr;
    PMB_CHECK(!array, "the filter keeps the array alive");
    PMB_CHECK(filter->GetDeviceBytes() < 60 * 50 * 40 * 4, "the volume is still on the GPU");
    std::string difference;
    PMB_CHECK(SameBytes(kept, expected, difference), "the surface without its volume: " << difference);
  }
}

void TestRelease(bool hasGPU)
{
  auto image = Volume();
  vtkNew<vtkPMBContourFilter> filter;
  filter->ReleaseDeviceMemory(); // before there is anything
  filter->SetInputData(image);
  filter->ComputeGradientsOn();
  filter->SetValue(0, 0.1);
  filter->Update();
  const vtkMTimeType before = filter->GetMTime();
  filter->ReleaseDeviceMemory();
  PMB_EQUAL(filter->GetMTime(), before, "a release modifies");
  PMB_CHECK(filter->GetDeviceBytes() < 60 * 50 * 40 * 4, "the volume is still on the GPU");
  CheckMesh(filter, image, "after a release");
  filter->SetValue(0, 0.3);
  filter->Update();
  CheckMesh(filter, image, "the next run");
  PMB_EQUAL(filter->GetNumberOfUploads(), hasGPU ? 2 : 0, "uploads after a release");
  PMB_EQUAL(filter->GetNumberOfBinds(), hasGPU ? 2 : 1, "volumes read: what the CPU keeps is not released");

  // During a run, from an observer and from another thread: at its end.
  vtkNew<vtkCallbackCommand> releaser;
  releaser->SetClientData(filter.Get());
  releaser->SetCallback(
    [](vtkObject*, unsigned long, void* data, void*)
    {
      auto* running = static_cast<vtkPMBContourFilter*>(data);
      running->ReleaseDeviceMemory();
      std::thread other([running]() { running->ReleaseDeviceMemory(); });
      other.join();
    });
  filter->AddObserver(vtkCommand::ProgressEvent, releaser);
  filter->SetValue(0, -0.2);
  filter->Update();
  CheckMesh(filter, image, "released while running");
  filter->SetValue(0, 0.15);
  filter->Update();
  CheckMesh(filter, image, "after it was released while running");
}

// Output arrays are VTK's like any other: they may grow, shrink, be emptied and filled again, and outlive the filter.
void TestOutputArrays()
{
  auto image = Volume();
  auto mesh = vtkSmartPointer<vtkPolyData>::New();
  {
    vtkNew<vtkPMBContourFilter> filter;
    filter->SetInputData(image);
    filter->SetValue(0, 0.1);
    filter->ComputeGradientsOn();
    filter->Update();
    mesh->ShallowCopy(filter->GetOutput());
  }
  std::string difference;
  PMB_CHECK(SameBytes(mesh, Expected(image, 0.1), difference), "without its filter: " << difference);
  auto* points = vtkFloatArray::SafeDownCast(mesh->GetPoints()->GetData());
  const vtkIdType count = points->GetNumberOfTuples();
  const float last = points->GetValue(3 * count - 1);
  points->InsertNextTuple3(1, 2, 3);
  PMB_EQUAL(points->GetValue(3 * count - 1), last, "a point array that has grown");
  points->Resize(count / 2);
  points->Squeeze();
  PMB_EQUAL(points->GetNumberOfTuples(), count / 2, "a point array that has shrunk");
  auto* normals = vtkFloatArray::SafeDownCast(mesh->GetPointData()->GetNormals());
  normals->Initialize();
  normals->SetNumberOfComponents(3);
  normals->SetNumberOfTuples(100000); // memory that is not the core's, freed by the array all the same
  normals->FillComponent(0, 7);
  normals->Allocate(3000000);
  vtkNew<vtkCellArray> cells;
  cells->DeepCopy(mesh->GetPolys());
  mesh->GetPolys()->Initialize();
  PMB_CHECK(cells->GetNumberOfCells() > 100, "a copy of the cells");

  // One that VTK's own static objects outlive is not to be had; one that lives until the process ends is.
  static vtkSmartPointer<vtkPolyData> forever;
  forever = Contour(image, 0.2);
}

// Two blocks, one of them too large for the GPU where there is one: each gets its own device.
void TestBlocks()
{
  vtkNew<vtkMultiBlockDataSet> blocks;
  auto small = MakeImage(20, 20, 20, VTK_FLOAT, Gyroid(9.1)), large = Volume();
  blocks->SetBlock(0, small);
  blocks->SetBlock(1, large);
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputDataObject(blocks);
  filter->SetDeviceMemoryLimit(400.0 / 1024 / 1024);
  filter->ComputeGradientsOn();
  for (double isovalue : { 0.1, 0.3 })
  {
    filter->SetValue(0, isovalue);
    filter->Update();
    auto* output = vtkMultiBlockDataSet::SafeDownCast(filter->GetOutputDataObject(0));
    std::string difference;
    for (unsigned i = 0; i < 2; ++i)
    {
      PMB_CHECK(
        SameBytes(vtkPolyData::SafeDownCast(output->GetBlock(i)), Expected(i ? large : small, isovalue), difference),
        "block " << i << ": " << difference);
    }
  }
  PMB_CHECK(messages.Errors() == 0 && messages.Warnings() <= 1, "messages: " << messages.Text());
  PMB_CHECK(Has(filter->GetLastRunSummary(), "2 of 2 blocks"), "summary: " << filter->GetLastRunSummary());
}

// The same array in several threads: filters share what is on the GPU, and nothing else.
void TestThreads(bool hasGPU)
{
  auto image = Volume();
  auto expected = Expected(image, 0.1);
  std::vector<vtkSmartPointer<vtkPMBContourFilter>> filters;
  for (int i = 0; i < 4; ++i)
  {
    auto copy = vtkSmartPointer<vtkImageData>::New();
    copy->ShallowCopy(image);
    filters.push_back(vtkSmartPointer<vtkPMBContourFilter>::New());
    filters.back()->SetInputData(copy);
    filters.back()->ComputeGradientsOn();
    filters.back()->SetValue(0, 0.1);
    filters.back()->SetNumberOfThreads(1);
  }
  std::vector<std::thread> threads;
  for (const auto& filter : filters)
  {
    threads.emplace_back(
      [filter]()
      {
        for (int i = 0; i < 10; ++i)
        {
          filter->SetValue(0, 0.1 + 0.01 * (9 - i));
          filter->Update();
        }
      });
  }
  for (std::thread& thread : threads)
  {
    thread.join();
  }
  for (const auto& filter : filters)
  {
    std::string difference;
    PMB_CHECK(SameBytes(filter->GetOutput(), expected, difference), "in a thread of its own: " << difference);
    PMB_CHECK(filter->GetNumberOfUploads() <= 1, "uploads: " << filter->GetNumberOfUploads());
    PMB_EQUAL(filter->GetDeviceBytes() > 0, hasGPU, "memory on the GPU");
  }
}
}

int TestPMBContourFilterDevice(int, char*[])
{
  const bool hasGPU = HasGPU();
  std::cout << (hasGPU ? "With a GPU: what needs a machine without one is left out.\n"
                       : "Without a GPU that can be used: what needs one is left out.\n");
  TestAsked(hasGPU);
  TestAutomatic();
  TestIndexOutOfRange(hasGPU);
  TestLimit(hasGPU);
  TestArrayDeleted();
  TestRelease(hasGPU);
  TestOutputArrays();
  TestBlocks();
  TestThreads(hasGPU);
  return Result();
}
