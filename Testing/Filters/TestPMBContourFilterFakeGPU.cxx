// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// What the filter does with a GPU, without one: failures of each kind at each step, what it holds there and when it lets
// go, the memory of its output. The GPU is FakeGPU's; nothing here says that the real one computes right.
#include "FakeGPU.h"
#include "PMBTesting.h"

#include "vtkCallbackCommand.h"
#include "vtkCellArray.h"
#include "vtkDataArray.h"
#include "vtkExecutive.h"
#include "vtkFieldData.h"
#include "vtkFloatArray.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkSOADataArrayTemplate.h"
#include "vtkTrivialProducer.h"
#include "vtkWeakPointer.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

using namespace pmbtest;

void TestExplore(); // FakeGPUExplore.cxx

namespace
{
const int CPU = vtkPMBContourFilter::CPU;
const int GPU = vtkPMBContourFilter::GPU;

vtkSmartPointer<vtkImageData> Volume(double period = 9.1)
{
  auto image = MakeImage(60, 50, 40, VTK_FLOAT, Gyroid(period));
  image->GetPointData()->AddArray(MakeArray(image, "other", VTK_SHORT, 2, 0, Noise(3, 1000)));
  return image;
}
const int64_t VolumeBytes = 60 * 50 * 40 * 4;

// Runs the filter and checks its mesh against the CPU's, and the beginning of what it says of the run.
void Run(vtkPMBContourFilter* filter, double isovalue, const std::string& device, const std::string& what)
{
  filter->SetValue(0, isovalue);
  filter->Update();
  auto* image = vtkImageData::SafeDownCast(filter->GetInput());
  auto expected = Contour(image, isovalue, [](vtkPMBContourFilter* f) { f->SetDevice(CPU); });
  std::string difference;
  PMB_CHECK(expected->GetNumberOfPolys() > 100, what << ": too few triangles for a test");
  PMB_CHECK(SameBytes(filter->GetOutput(), expected, difference), what << ": " << difference);
  const std::string summary = filter->GetLastRunSummary();
  PMB_EQUAL(summary.find(device), size_t(0), what + ": not by the " + device + ": " + summary);
}

void TestChoice()
{
  fakegpu::Reset();
  auto image = Volume();
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(image);
  Run(filter, 0.1, "GPU 0 (Fake)", "automatic");
  filter->SetDevice(GPU);
  Run(filter, 0.2, "GPU 0 (Fake)", "GPU");
  PMB_EQUAL(fakegpu::Uploads(), 1, "uploads for another isovalue and a Device that means the same");
  PMB_EQUAL(filter->GetNumberOfBinds(), 1, "binds");
  filter->SetDeviceIndex(3);
  Run(filter, 0.2, "GPU 3 (Fake)", "the fourth");
  PMB_EQUAL(filter->GetDeviceBytes(), VolumeBytes, "bytes on the GPU");
  filter->SetDevice(CPU);
  Run(filter, 0.2, "CPU (", "CPU");
  PMB_EQUAL(filter->GetDeviceBytes() + fakegpu::BytesHeld() + fakegpu::Contexts(), 0, "left on the GPU");
  filter->SetDeviceIndex(4);
  Run(filter, 0.3, "CPU (", "CPU, another index");
  PMB_EQUAL(filter->GetNumberOfBinds(), 3, "the index is nothing to the CPU");
  PMB_EQUAL(messages.Warnings(), 0, messages.Text());
  filter->SetDevice(GPU);
  Run(filter, 0.3, "CPU (", "no such GPU");
  PMB_EQUAL(messages.Warnings(), 1, "no such GPU: " + messages.Text());
  PMB_EQUAL(filter->GetNumberOfBinds(), 3, "the CPU has the volume already");
  filter->SetDeviceIndex(-1);
  Run(filter, 0.3, "GPU 0 (Fake)", "back again");
  PMB_EQUAL(filter->GetNumberOfUploads(), 3, "uploads of three contexts");
  filter->SetNumberOfThreads(2);
  Run(filter, 0.3, "GPU 0 (Fake)", "other threads");
  PMB_EQUAL(fakegpu::Contexts(), 1, "contexts");
  PMB_EQUAL(messages.Warnings() + messages.Errors(), 1, messages.Text());
  PMB_EQUAL(fakegpu::Faults(), 0, "faults");
}

void TestLimit()
{
  fakegpu::Reset();
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(Volume());
  filter->SetDeviceMemoryLimit(0.25 * VolumeBytes / 1073741824.0);
  for (double isovalue : { 0.1, 0.2, 0.3 })
  {
    Run(filter, isovalue, "CPU (", "too little memory");
    PMB_CHECK(Has(filter->GetLastRunSummary(), "because no memory on the fake GPU: limit 120000"),
      "summary: " << filter->GetLastRunSummary());
  }
  PMB_EQUAL(messages.Warnings(), 1, "warnings: " + messages.Text());
  PMB_CHECK(Has(messages.Text(), "DeviceMemoryLimit"), "the warning says what to do: " << messages.Text());
  PMB_EQUAL(filter->GetNumberOfBinds(), 1, "binds: the CPU's, once");
  // Another volume is tried, and that it is too large as well is no news.
  auto other = Volume(8.3);
  filter->SetInputData(other);
  fakegpu::FailAt(fakegpu::BIND, 1, PMB_TOO_LARGE);
  Run(filter, 0.1, "CPU (", "too large");
  PMB_EQUAL(messages.Warnings(), 2, "another cause: " + messages.Text());
  filter->SetInputData(Volume(7.7));
  Run(filter, 0.1, "CPU (", "another volume");
  PMB_EQUAL(messages.Warnings(), 2, "the first cause again: " + messages.Text());
  filter->SetDeviceMemoryLimit(2.0 * VolumeBytes / 1073741824.0);
  Run(filter, 0.1, "GPU 0", "a higher limit");
  filter->SetDeviceMemoryLimit(1e-15);
  Run(filter, 0.1, "CPU (", "less than a byte is not the same as no limit");
  filter->SetDeviceMemoryLimit(1e300);
  Run(filter, 0.1, "GPU 0", "more than can be");
  PMB_EQUAL(messages.Errors() + fakegpu::Faults(), 0, "errors: " + messages.Text());
}

// Out of memory at each step: the CPU takes over, nothing is left on the GPU, and it is not tried again.
void TestOutOfMemory()
{
  const char* const names[] = { "create", "bind", "count", "emit" };
  for (int call = fakegpu::CREATE; call <= fakegpu::EMIT; ++call)
  {
    const std::string what = std::string("no memory at ") + names[call];
    fakegpu::Reset();
    const int before = fakegpu::PiecesHeld();
    vtkNew<vtkPMBContourFilter> filter;
    Messages messages(filter);
    filter->SetInputData(Volume());
    fakegpu::FailAt(static_cast<fakegpu::Call>(call), 1, PMB_OUT_OF_MEMORY);
    Run(filter, 0.1, "CPU (", what);
    Run(filter, 0.2, "CPU (", what);
    PMB_EQUAL(messages.Warnings(), 1, what + ": warnings: " + messages.Text());
    PMB_EQUAL(messages.Errors(), 0, what + ": errors: " + messages.Text());
    PMB_EQUAL(fakegpu::Contexts() + fakegpu::PiecesHeld(), before, what + ": left on the GPU");
    filter->GetInput()->Modified();
    Run(filter, 0.2, "GPU 0", what + ", the volume has changed");
    PMB_EQUAL(fakegpu::Faults(), 0, what + ": faults");
  }
}

// A structure of arrays is copied for the core: once for both devices.
void TestCopies()
{
  fakegpu::Reset();
  auto image = Volume();
  vtkNew<vtkSOADataArrayTemplate<float>> soa;
  soa->DeepCopy(image->GetPointData()->GetScalars());
  image->GetPointData()->SetScalars(soa);
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputData(image);
  for (int failed = 0; failed < 20; ++failed)
  {
    fakegpu::FailAt(fakegpu::COUNT, 1, PMB_OUT_OF_MEMORY);
    soa->Modified();
    Run(filter, 0.1, "CPU (", "a copy that the GPU has no memory for");
  }
  const int64_t one = filter->GetPeakExtraBytes();
  PMB_CHECK(one > VolumeBytes && one < 3 * VolumeBytes, "extra bytes: " << one);
  filter->GetInput()->Modified();
  Run(filter, 0.1, "GPU 0", "a copy on the GPU");
  PMB_EQUAL(fakegpu::Versions().back(), uint64_t(0), "a copy is nobody else's");
}

// A GPU that breaks: an error, an empty output, and the next run works with a new context.
void TestInternalError()
{
  const char* const names[] = { "create", "bind", "count", "emit" };
  for (int call = fakegpu::BIND; call <= fakegpu::EMIT; ++call)
  {
    const std::string what = std::string("broken at ") + names[call];
    fakegpu::Reset();
    vtkNew<vtkPMBContourFilter> filter;
    Messages messages(filter), pipeline(filter->GetExecutive());
    filter->SetInputData(Volume());
    Run(filter, 0.3, "GPU 0", what + ": before");
    fakegpu::FailAt(static_cast<fakegpu::Call>(call), 1, PMB_INTERNAL);
    filter->GetInput()->Modified();
    filter->SetValue(0, 0.1);
    filter->Update();
    PMB_EQUAL(messages.Errors(), 1, what + ": errors: " + messages.Text());
    PMB_EQUAL(messages.Warnings() + pipeline.Errors(), 0, what + ": further messages");
    PMB_CHECK(Has(messages.Text(), "the fake GPU has a fault"), what << ": " << messages.Text());
    PMB_EQUAL(
      filter->GetOutput()->GetNumberOfPoints() + filter->GetOutput()->GetNumberOfCells(), 0, what + ": output");
    PMB_EQUAL(std::string(filter->GetLastRunSummary()).find("Failed: "), size_t(0), what + ": summary");
    PMB_EQUAL(fakegpu::Contexts() + filter->GetDeviceBytes(), 0, what + ": left on the GPU");
    Run(filter, 0.2, "GPU 0", what + ", the next run");
    PMB_EQUAL(messages.Errors(), 1, what + ", the next run: errors: " + messages.Text());
    PMB_EQUAL(filter->GetNumberOfUploads(), fakegpu::Uploads(), what + ": uploads of both contexts");
    PMB_EQUAL(fakegpu::Faults(), 0, what + ": faults");
  }
}

void TestMemoryOfOutput()
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

  // As any other array: emptied and filled again, grown, shrunk.
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
  mesh = nullptr;
  PMB_EQUAL(fakegpu::PiecesHeld(), before, "host memory not given back");
  PMB_EQUAL(fakegpu::Faults(), 0, "faults");

  // Too small to be worth it.
  vtkNew<vtkPMBContourFilter> small;
  small->SetInputData(MakeImage(8, 8, 8, VTK_FLOAT, Distance(3, 3, 3)));
  small->SetValue(0, 2.1);
  small->Update();
  PMB_EQUAL(std::string(small->GetLastRunSummary()).find("GPU 0"), size_t(0), "summary");
  PMB_EQUAL(fakegpu::PiecesHeld(), before, "host memory for a small mesh");
}

void TestVersions()
{
  fakegpu::Reset();
  auto image = Volume();
  vtkNew<vtkPMBContourFilter> first, second;
  first->SetInputData(image);
  second->SetInputData(image);
  Run(first, 0.1, "GPU 0", "first");
  Run(second, 0.2, "GPU 0", "second");
  std::vector<uint64_t> versions = fakegpu::Versions();
  PMB_CHECK(versions.size() == 2 && versions[0] != 0 && versions[0] == versions[1], "two filters, one state");
  image->GetPointData()->GetScalars()->Modified();
  Run(first, 0.1, "GPU 0", "the array has changed");
  image->Modified();
  Run(first, 0.1, "GPU 0", "the image has changed");
  versions = fakegpu::Versions();
  PMB_EQUAL(versions.size(), size_t(4), "uploads");
  PMB_CHECK(versions[1] < versions[2] && versions[2] < versions[3], "other states, other versions");
  // A producer of their own for several filters; marked alone, it must have the volume read again.
  vtkNew<vtkTrivialProducer> producer;
  producer->SetOutput(image);
  for (vtkPMBContourFilter* filter : { first.Get(), second.Get() })
  {
    filter->SetInputConnection(producer->GetOutputPort());
    Run(filter, 0.1, "GPU 0", "behind a producer");
  }
  versions = fakegpu::Versions();
  PMB_CHECK(versions[versions.size() - 1] == versions[versions.size() - 2], "behind a producer: one state");
  producer->Modified();
  Run(first, 0.2, "GPU 0", "the producer was marked");
  Run(second, 0.2, "GPU 0", "the producer was marked");
  versions = fakegpu::Versions();
  const size_t n = versions.size();
  PMB_CHECK(
    versions[n - 1] == versions[n - 2] && versions[n - 3] < versions[n - 1], "marked: another state, one for all");
  // Whoever knows of a later change must not be given what others have read before.
  vtkNew<vtkTrivialProducer> known;
  known->SetOutput(image);
  vtkNew<vtkPMBContourFilter> third;
  third->SetInputConnection(known->GetOutputPort());
  Run(third, 0.1, "GPU 0", "a producer that was made later");
  PMB_CHECK(fakegpu::Versions().back() > versions.back(), "a change that only one knows of");
  vtkNew<vtkSOADataArrayTemplate<float>> soa;
  soa->DeepCopy(image->GetPointData()->GetScalars());
  image->GetPointData()->SetScalars(soa);
  Run(first, 0.1, "GPU 0", "a structure of arrays");
  PMB_EQUAL(fakegpu::Versions().back(), uint64_t(0), "a copy is nobody else's");
}

void TestArrayDeleted()
{
  fakegpu::Reset();
  for (bool elsewhere : { false, true })
  {
    vtkNew<vtkPMBContourFilter> filter, same;
    auto image = Volume();
    vtkWeakPointer<vtkDataArray> array = image->GetPointData()->GetScalars();
    filter->SetInputData(image);
    same->SetInputData(image);
    Run(filter, 0.1, "GPU 0", "first");
    Run(same, 0.1, "GPU 0", "another filter");
    PMB_EQUAL(fakegpu::BytesHeld(), 2 * VolumeBytes, "bytes on the GPU");
    filter->SetInputData(nullptr);
    same->SetInputData(nullptr);
    PMB_EQUAL(fakegpu::BytesHeld(), 2 * VolumeBytes, "the array is still there");
    std::thread other([&]() { image = elsewhere ? nullptr : image; });
    other.join();
    image = nullptr;
    PMB_CHECK(!array, "the array is kept alive");
    PMB_EQUAL(filter->GetDeviceBytes() + same->GetDeviceBytes() + fakegpu::BytesHeld(), 0, "left on the GPU");
    filter->SetInputData(Volume(8.8));
    Run(filter, 0.1, "GPU 0", "the next volume");
    PMB_EQUAL(fakegpu::BytesHeld(), VolumeBytes, "bytes of the next volume");
  }
  PMB_EQUAL(fakegpu::BytesHeld() + fakegpu::Contexts(), 0, "after the filters");

  // The filter goes first; the filter has moved on; all observers were removed.
  auto image = Volume(), next = Volume(7.9);
  {
    vtkNew<vtkPMBContourFilter> filter;
    filter->SetInputData(image);
    Run(filter, 0.1, "GPU 0", "a short life");
  }
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputData(image);
  Run(filter, 0.1, "GPU 0", "first");
  filter->SetInputData(next);
  Run(filter, 0.1, "GPU 0", "moved on");
  image = nullptr;
  PMB_EQUAL(filter->GetDeviceBytes(), VolumeBytes, "the deleted array is not the bound one");
  next->GetPointData()->GetScalars()->RemoveAllObservers();
  next->Modified();
  Run(filter, 0.2, "GPU 0", "bound again");
  filter->SetInputData(nullptr);
  next = nullptr;
  PMB_EQUAL(filter->GetDeviceBytes(), 0, "after all observers were removed");
  PMB_EQUAL(fakegpu::Faults(), 0, "faults");
}

void TestRelease()
{
  fakegpu::Reset();
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputData(Volume());
  Run(filter, 0.1, "GPU 0", "first");
  filter->ReleaseDeviceMemory();
  PMB_EQUAL(filter->GetDeviceBytes() + fakegpu::BytesHeld(), 0, "bytes after the release");
  PMB_EQUAL(fakegpu::Trims(), 1, "the pool is trimmed");
  Run(filter, 0.1, "GPU 0", "nothing to do");
  PMB_EQUAL(fakegpu::Uploads(), 1, "uploads when nothing has changed");
  Run(filter, 0.2, "GPU 0", "the next run");
  PMB_EQUAL(fakegpu::Uploads(), 2, "uploads after the release");

  // From within a run: at its end.
  vtkNew<vtkCallbackCommand> releaser;
  releaser->SetClientData(filter.Get());
  releaser->SetCallback([](vtkObject*, unsigned long, void* data, void*)
    { static_cast<vtkPMBContourFilter*>(data)->ReleaseDeviceMemory(); });
  filter->AddObserver(vtkCommand::ProgressEvent, releaser);
  Run(filter, -0.3, "GPU 0", "released while running");
  PMB_EQUAL(filter->GetDeviceBytes() + fakegpu::BytesHeld(), 0, "bytes after the run");
  PMB_CHECK(fakegpu::Trims() >= 2, "the pool is trimmed");
  PMB_EQUAL(fakegpu::Faults(), 0, "faults");
}

// A surface that the GPU has made is measured like any other. If that fails it is an error, and no fault of the GPU.
void TestMeasures()
{
  fakegpu::Reset();
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(Volume());
  filter->ComputeMeasuresOn();
  Run(filter, 0.1, "GPU 0", "measured");
  vtkDataArray* area = filter->GetOutput()->GetFieldData()->GetArray("Area");
  PMB_CHECK(area && std::abs(area->GetComponent(0, 0) - AreaOf(filter->GetOutput())) < 0.1, "area");
  fakegpu::FailAt(fakegpu::MEASURE, 1, PMB_OUT_OF_MEMORY);
  filter->SetValue(0, 0.2);
  filter->Update();
  PMB_EQUAL(messages.Errors(), 1, "errors: " + messages.Text());
  PMB_CHECK(
    Has(messages.Text(), "could not be measured: no memory on") && Has(messages.Text(), "ComputeMeasures off"),
    "the error says what to do: " << messages.Text());
  PMB_EQUAL(filter->GetOutput()->GetNumberOfPolys(), 0, "triangles after an error");
  PMB_EQUAL(filter->GetOutput()->GetFieldData()->GetNumberOfArrays(), 0, "measures after an error");
  Run(filter, 0.3, "GPU 0", "after the error");
  filter->ComputeMeasuresOff();
  fakegpu::FailAt(fakegpu::MEASURE, 1, PMB_OUT_OF_MEMORY);
  Run(filter, 0.4, "GPU 0", "without measures");
  PMB_EQUAL(messages.Errors() + messages.Warnings(), 1, messages.Text());
  PMB_EQUAL(fakegpu::Faults(), 0, "faults");
}

void TestAbort()
{
  fakegpu::Reset();
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(Volume());
  vtkNew<vtkCallbackCommand> stopper;
  stopper->SetClientData(filter.Get());
  stopper->SetCallback([](vtkObject*, unsigned long, void* data, void*)
    { static_cast<vtkPMBContourFilter*>(data)->SetAbortExecute(1); });
  const unsigned long tag = filter->AddObserver(vtkCommand::ProgressEvent, stopper);
  filter->SetValue(0, 0.1);
  filter->Update();
  PMB_EQUAL(std::string(filter->GetLastRunSummary()), std::string("Aborted"), "summary");
  filter->RemoveObserver(tag);
  filter->SetAbortExecute(0);
  Run(filter, 0.2, "GPU 0", "after an abort");
  PMB_EQUAL(messages.Warnings() + messages.Errors(), 0, messages.Text());
}

// Of two blocks only one fits: each gets its device, with one warning, and the summary names both.
void TestBlocks()
{
  fakegpu::Reset();
  vtkNew<vtkMultiBlockDataSet> blocks;
  auto small = MakeImage(20, 20, 20, VTK_FLOAT, Gyroid(9.1)), large = Volume();
  blocks->SetBlock(0, small);
  blocks->SetBlock(1, large);
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputDataObject(blocks);
  filter->SetDeviceMemoryLimit(0.5 * VolumeBytes / 1073741824.0);
  for (double isovalue : { 0.1, 0.3 })
  {
    filter->SetValue(0, isovalue);
    filter->Update();
    auto* output = vtkMultiBlockDataSet::SafeDownCast(filter->GetOutputDataObject(0));
    for (unsigned i = 0; i < 2; ++i)
    {
      std::string difference;
      auto expected = Contour(i ? large : small, isovalue, [](vtkPMBContourFilter* f) { f->SetDevice(CPU); });
      PMB_CHECK(SameBytes(vtkPolyData::SafeDownCast(output->GetBlock(i)), expected, difference),
        "block " << i << ": " << difference);
    }
    const std::string summary = filter->GetLastRunSummary();
    PMB_CHECK(summary.find("GPU 0 (Fake); CPU (") == 0 && Has(summary, "2 of 2 blocks"), "summary: " << summary);
  }
  PMB_EQUAL(messages.Warnings(), 1, "warnings: " + messages.Text());
  PMB_EQUAL(messages.Errors() + fakegpu::Faults(), 0, "errors: " + messages.Text());
}

// Each large block stays on the GPU, until it, the input or the filter is gone.
void TestHeldBlocks()
{
  fakegpu::Reset();
  vtkNew<vtkMultiBlockDataSet> blocks, other;
  for (unsigned i = 0; i < 3; ++i)
  {
    blocks->SetBlock(i, Volume(8 + i));
  }
  other->SetBlock(0, Volume(7));
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputDataObject(blocks);
  for (double isovalue : { 0.1, 0.3, 0.2 })
  {
    filter->SetValue(0, isovalue);
    filter->Update();
    PMB_EQUAL(filter->GetNumberOfUploads(), 3, "uploads");
  }
  const int64_t three = filter->GetDeviceBytes();
  PMB_CHECK(three >= 3 * VolumeBytes, "three volumes on the GPU: " << three);
  vtkImageData::SafeDownCast(blocks->GetBlock(1))->GetPointData()->SetScalars(Volume()->GetPointData()->GetScalars());
  PMB_CHECK(filter->GetDeviceBytes() <= three - VolumeBytes, "less when an array is deleted");
  filter->ReleaseDeviceMemory();
  PMB_EQUAL(filter->GetDeviceBytes(), 0, "all is released");
  filter->SetValue(0, 0.4);
  filter->Update();
  PMB_EQUAL(filter->GetDeviceBytes(), three, "and comes back");
  PMB_EQUAL(filter->GetNumberOfUploads(), 6, "uploads after that");
  filter->SetInputDataObject(other);
  filter->Update();
  PMB_EQUAL(filter->GetDeviceBytes(), three / 3, "other blocks: these are let go");
  PMB_EQUAL(filter->GetNumberOfUploads(), 7, "their uploads stay counted");
  PMB_EQUAL(fakegpu::Faults(), 0, "faults");
}

// Arrays are deleted by one thread while filters run, come and go in others, and a third asks and releases.
void TestThreads()
{
  fakegpu::Reset();
  const int before = fakegpu::PiecesHeld();
  std::mutex mutex;
  std::condition_variable news;
  std::deque<vtkSmartPointer<vtkImageData>> forDeletion;
  std::vector<vtkPMBContourFilter*> alive;
  bool done = false;

  std::thread deleter(
    [&]()
    {
      std::unique_lock<std::mutex> lock(mutex);
      while (!done || !forDeletion.empty())
      {
        news.wait(lock, [&]() { return done || !forDeletion.empty(); });
        while (!forDeletion.empty())
        {
          vtkSmartPointer<vtkImageData> image = forDeletion.front();
          forDeletion.pop_front();
          lock.unlock();
          image = nullptr;
          lock.lock();
        }
      }
    });
  std::thread asker(
    [&]()
    {
      std::unique_lock<std::mutex> lock(mutex);
      for (int i = 0; !done; ++i)
      {
        for (vtkPMBContourFilter* filter : alive) // none goes while the lock is held
        {
          filter->GetDeviceBytes();
          filter->GetNumberOfUploads();
          if (i % 8 == 0)
          {
            filter->ReleaseDeviceMemory();
          }
        }
        lock.unlock();
        std::this_thread::yield();
        lock.lock();
      }
    });
  auto work = [&](int seed)
  {
    for (int life = 0; life < 4; ++life)
    {
      auto filter = vtkSmartPointer<vtkPMBContourFilter>::New();
      filter->SetNumberOfThreads(1);
      filter->SetValue(0, 0.1);
      {
        const std::lock_guard<std::mutex> lock(mutex);
        alive.push_back(filter);
      }
      for (int i = 0; i < 6; ++i)
      {
        auto image = MakeImage(33, 20, 10, VTK_FLOAT, Gyroid(5.0 + seed + 0.1 * i));
        filter->SetInputData(image);
        filter->Update();
        if (filter->GetOutput()->GetNumberOfPolys() < 100)
        {
          Fail(__FILE__, __LINE__, std::string("too few triangles: ") + filter->GetLastRunSummary());
        }
        filter->SetInputData(nullptr);
        const std::lock_guard<std::mutex> lock(mutex);
        forDeletion.push_back(image);
        image = nullptr;
        news.notify_one();
      }
      const std::lock_guard<std::mutex> lock(mutex);
      alive.erase(std::find(alive.begin(), alive.end(), filter.Get()));
    }
  };
  std::thread workers[] = { std::thread(work, 0), std::thread(work, 1), std::thread(work, 2) };
  for (std::thread& worker : workers)
  {
    worker.join();
  }
  {
    const std::lock_guard<std::mutex> lock(mutex);
    done = true;
  }
  news.notify_one();
  deleter.join();
  asker.join();
  PMB_EQUAL(fakegpu::BytesHeld() + fakegpu::Contexts(), 0, "left on the GPU");
  PMB_EQUAL(fakegpu::PiecesHeld(), before, "host memory not given back");
  PMB_EQUAL(fakegpu::Faults(), 0, "faults");
}

// The GPU goes while a filter has a context there, and comes back.
void TestComesAndGoes()
{
  fakegpu::Reset();
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  fakegpu::SetPresent(false);
  filter->SetInputData(Volume());
  filter->SetDevice(GPU);
  Run(filter, 0.1, "CPU (", "no GPU");
  PMB_CHECK(Has(filter->GetLastRunSummary(), " because it is gone: "), "summary: " << filter->GetLastRunSummary());
  fakegpu::SetPresent(true);
  Run(filter, 0.2, "CPU (", "not asked again for each run");
  filter->SetDevice(vtkPMBContourFilter::AUTOMATIC);
  Run(filter, 0.2, "GPU 0", "asked again when the settings change");
  PMB_EQUAL(messages.Warnings(), 1, "warnings: " + messages.Text());
}
}

int main()
{
  TestChoice();
  TestLimit();
  TestOutOfMemory();
  TestCopies();
  TestInternalError();
  TestMemoryOfOutput();
  TestVersions();
  TestArrayDeleted();
  TestRelease();
  TestMeasures();
  TestAbort();
  TestBlocks();
  TestHeldBlocks();
  TestThreads();
  TestComesAndGoes();
  TestExplore();
  // One output lives until the process ends.
  static auto forever = Contour(Volume(), 0.1);
  PMB_CHECK(fakegpu::PiecesHeld() > 0, "an output that outlives main()");
  return Result();
}
