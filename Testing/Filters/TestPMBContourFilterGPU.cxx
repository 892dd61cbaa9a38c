// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// The filter on the emulated GPU: the choice of the device, failures of each kind at each step, memory held on the GPU and its
// release, memory of the output.
#include "EmulatedGPU.h"
#include "PMBTesting.h"

#include "vtkCallbackCommand.h"
#include "vtkCellArray.h"
#include "vtkDataArray.h"
#include "vtkDoubleArray.h"
#include "vtkExecutive.h"
#include "vtkFieldData.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkWeakPointer.h"

#include <algorithm>
#include <climits>
#include <thread>

using namespace pmbtest;

namespace
{
const int CPU = vtkPMBContourFilter::CPU;
const int GPU = vtkPMBContourFilter::GPU;
const char* const Names[] = { "create", "bind", "count", "emit", "summary" };
const int64_t VolumeBytes = 60 * 50 * 40 * 4; // of its scalars
const double GiB = 1073741824.0;

// With a second array of shorts, "other".
vtkSmartPointer<vtkImageData> Volume(double period = 9.1)
{
  auto image = MakeImage(60, 50, 40, VTK_FLOAT, Gyroid(period));
  image->GetPointData()->AddArray(MakeArray(image, "other", VTK_SHORT, 2, 0, Noise(3, 1000)));
  return image;
}

void OnCPU(vtkPMBContourFilter* filter)
{
  filter->SetDevice(CPU);
}

bool StartsWith(const std::string& text, const std::string& part)
{
  return text.compare(0, part.size(), part) == 0;
}

// A filter of a volume, with its messages.
struct Subject
{
  explicit Subject(vtkSmartPointer<vtkDataObject> input)
    : Said(Filter)
    , Pipeline(Filter->GetExecutive())
  {
    this->Filter->SetInputDataObject(input);
  }

  // Checks the mesh against the CPU's, and the beginning of the summary.
  void Run(double isovalue, const std::string& device, const std::string& what)
  {
    this->Filter->SetValue(0, isovalue);
    this->Filter->Update();
    auto expected = Contour(vtkImageData::SafeDownCast(this->Filter->GetInput()), isovalue, OnCPU);
    std::string difference;
    PMB_CHECK(expected->GetNumberOfPolys() > 100, what << ": too few triangles for a test");
    PMB_CHECK(SameBytes(this->Filter->GetOutput(), expected, difference), what << ": " << difference);
    const std::string summary = this->Filter->GetLastRunSummary();
    PMB_CHECK(StartsWith(summary, device), what << ": not by the " << device << ": " << summary);
  }

  // The same for blocks; block number `empty` has no mesh.
  void RunBlocks(double isovalue, unsigned empty, const std::string& what)
  {
    this->Filter->SetValue(0, isovalue);
    this->Filter->Update();
    auto* blocks = vtkMultiBlockDataSet::SafeDownCast(this->Filter->GetInputDataObject(0, 0));
    auto* output = vtkMultiBlockDataSet::SafeDownCast(this->Filter->GetOutputDataObject(0));
    for (unsigned i = 0; i < blocks->GetNumberOfBlocks(); ++i)
    {
      auto expected = Contour(vtkImageData::SafeDownCast(blocks->GetBlock(i)), isovalue, OnCPU);
      auto* mesh = vtkPolyData::SafeDownCast(output->GetBlock(i));
      std::string difference;
      PMB_CHECK(i == empty ? !mesh || mesh->GetNumberOfPoints() == 0 : mesh && SameBytes(mesh, expected, difference),
        what << ", block " << i << ": " << difference);
    }
  }

  void CheckMessages(int warnings, int errors, const std::string& what) const
  {
    PMB_EQUAL(this->Said.Warnings(), warnings, what + ": warnings: " + this->Said.Text());
    PMB_EQUAL(this->Said.Errors(), errors, what + ": errors: " + this->Said.Text());
    PMB_EQUAL(this->Pipeline.Errors(), 0, what + ": errors of the pipeline");
    PMB_EQUAL(gpu_get().faults, 0, what + ": wrong calls of the core");
  }

  vtkNew<vtkPMBContourFilter> Filter;
  Messages Said, Pipeline;
};

vtkSmartPointer<vtkMultiBlockDataSet> Blocks(unsigned count)
{
  auto blocks = vtkSmartPointer<vtkMultiBlockDataSet>::New();
  for (unsigned i = 0; i < count; ++i)
  {
    blocks->SetBlock(i, Volume(8 + i));
  }
  return blocks;
}

// --- the choice of the device ---------------------------------------------------------------------------------------

void TestChoice()
{
  Subject s(Volume());
  s.Run(0.1, "GPU 0 (emulated GPU)", "automatic");
  s.Filter->SetDevice(GPU);
  s.Run(0.2, "GPU 0 (emulated GPU)", "GPU");
  s.Filter->SetNumberOfThreads(2);
  PMB_EQUAL(gpu_get().uploads, 1, "uploads for another isovalue and a Device that means the same");
  PMB_EQUAL(s.Filter->GetNumberOfBinds(), 1, "binds");
  s.Filter->SetDeviceIndex(3);
  s.Run(0.2, "GPU 3 (emulated GPU)", "the fourth");
  PMB_CHECK(s.Filter->GetDeviceBytes() > VolumeBytes, "bytes on the GPU: " << s.Filter->GetDeviceBytes());
  PMB_EQUAL(gpu_get().contexts, 1, "contexts");
  s.Filter->SetDevice(CPU);
  s.Run(0.2, "CPU (", "CPU");
  PMB_EQUAL(s.Filter->GetDeviceBytes() + gpu_get().bytes + gpu_get().contexts, 0, "left on the GPU");
  s.Filter->SetDeviceIndex(4);
  s.Run(0.3, "CPU (", "CPU, another index");
  PMB_EQUAL(s.Filter->GetNumberOfBinds(), 3, "the index is nothing to the CPU");
  s.CheckMessages(0, 0, "devices that there are");
  s.Filter->SetDevice(GPU);
  s.Run(0.3, "CPU (", "no such GPU");
  PMB_EQUAL(s.Filter->GetNumberOfBinds(), 3, "the CPU has the volume already");
  s.Filter->SetDeviceIndex(-1);
  s.Run(0.3, "GPU 0 (emulated GPU)", "back again");
  PMB_EQUAL(s.Filter->GetNumberOfUploads(), 3, "uploads of three contexts");
  s.CheckMessages(1, 0, "no such GPU");
  gpu_fail_at(GPU_CREATE, 1, GPU_BUSY);
  s.Filter->SetDeviceIndex(0);
  s.Run(0.1, "CPU (", "a busy GPU");
  PMB_CHECK(Has(s.Filter->GetLastRunSummary(), " because the GPU is busy"), s.Filter->GetLastRunSummary());
  s.Run(0.2, "CPU (", "not asked again for each run");
  s.Filter->SetDevice(vtkPMBContourFilter::AUTOMATIC);
  s.Run(0.2, "GPU 0", "asked again when the settings change");
  s.CheckMessages(2, 0, "a GPU that comes and goes");
}

// A ball in a long volume that is larger than the limit: all GPUs take it, or one takes bricks, which stay for the next isovalue.
void TestBricksOnDemand()
{
  Subject s(MakeImage(60, 50, 400, VTK_FLOAT,
    [](int x, int y, int z) { return double((x - 30) * (x - 30) + (y - 25) * (y - 25) + (z - 50) * (z - 50)); }));
  s.Filter->SetDeviceMemoryLimit(5.0 * VolumeBytes / GiB);
  for (int index : { -1, 0 })
  {
    s.Filter->SetDeviceIndex(index);
    s.Run(250, index < 0 ? "4 GPUs from GPU 0" : "GPU 0", "half of the volume");
    s.Run(251, index < 0 ? "4 GPUs from GPU 0" : "GPU 0", "the next isovalue");
    PMB_EQUAL(s.Filter->GetNumberOfBinds(), 2 + index, "binds");
  }
  s.CheckMessages(0, 0, "bricks on demand");
}

void TestLimit()
{
  Subject s(Volume());
  const auto limit = [&](double value, const char* device)
  {
    s.Filter->SetDeviceMemoryLimit(value);
    s.Run(0.1, device, "a limit of " + std::to_string(value));
  };
  limit(0.25 * VolumeBytes / GiB, "CPU (");
  s.Run(0.2, "CPU (", "too little memory, again");
  PMB_CHECK(Has(s.Filter->GetLastRunSummary(), "because no memory on the GPU for the active bricks"),
    s.Filter->GetLastRunSummary());
  PMB_CHECK(Has(s.Said.Text(), "DeviceMemoryLimit"), "the warning says what to do: " << s.Said.Text());
  PMB_EQUAL(s.Filter->GetNumberOfBinds(), 2, "binds: for bricks on demand, and the CPU's");
  s.CheckMessages(1, 0, "too little memory");
  // Another volume is tried; that it is too large too is no new warning.
  auto far = Volume(8.3);
  far->SetExtent(INT_MAX - 59, INT_MAX, 0, 49, 0, 39);
  s.Filter->SetInputData(far);
  s.Run(0.1, "CPU (", "too large");
  PMB_CHECK(Has(s.Said.Text(), "The volume is too large for the GPU"), s.Said.Text());
  s.CheckMessages(2, 0, "another cause");
  s.Filter->SetInputData(Volume(7.7));
  s.Run(0.1, "CPU (", "another volume");
  s.CheckMessages(2, 0, "the first cause again");
  limit(20.0 * VolumeBytes / GiB, "GPU 0");
  limit(1e-15, "CPU (");
  limit(1e300, "GPU 0");
  PMB_EQUAL(s.Said.Errors(), 0, s.Said.Text());
}

// --- failures -------------------------------------------------------------------------------------------------------

// The CPU takes over: without memory until the volume changes, after a fault for good and for all filters on that GPU.
void TestFailure(gpu_call call, gpu_fault kind)
{
  const bool fault = kind == GPU_ILLEGAL_ADDRESS;
  const char* const after = fault ? "CPU (" : "GPU 0";
  const std::string what = std::string(fault ? "a fault at " : "no memory at ") + Names[call];
  gpu_reset();
  const int pieces = gpu_get().pieces;
  Subject s(Volume()), other(Volume(8.3)), apart(other.Filter->GetInput());
  const bool suggests = call == GPU_SUMMARY;
  s.Filter->SetUseSuggestedIsovalue(suggests);
  apart.Filter->SetDeviceIndex(1);
  other.Run(0.3, "GPU 0", what + ": another filter, before");
  apart.Run(0.3, "GPU 1", what + ": another GPU, before");
  gpu_fail_at(call, 1, kind);
  s.Filter->SetValue(0, 0.1);
  s.Filter->Update();
  const std::string summary = s.Filter->GetLastRunSummary();
  s.CheckMessages(1, 0, what);
  PMB_CHECK(!fault || Has(s.Said.Text(), "The GPU cannot be used: the GPU failed: "), s.Said.Text());
  PMB_CHECK(s.Filter->GetOutput()->GetNumberOfPolys() > 100 && Has(summary, "CPU ("), what << ": " << summary);
  PMB_EQUAL(Has(summary, "was suggested"), suggests, what + ": " + summary);
  s.Filter->UseSuggestedIsovalueOff();
  s.Run(0.2, "CPU (", what + ", the next run");
  s.Filter->GetInput()->Modified();
  s.Run(0.25, after, what + ": after");
  other.Run(0.1, after, what + ": another filter, after");
  apart.Run(0.1, "GPU 1", what + ": another GPU, after");
  PMB_EQUAL(other.Filter->GetNumberOfUploads(), 1, what + ": uploads of another filter");
  PMB_EQUAL(apart.Filter->GetNumberOfUploads(), 1, what + ": uploads, another GPU");
  s.CheckMessages(1, 0, what + ": in all");
  other.CheckMessages(0, 0, what + ": another filter");
  apart.CheckMessages(0, 0, what + ": another GPU");
  for (Subject* one : { &s, &other, &apart })
  {
    one->Filter->SetDevice(CPU);
    one->Run(0.1, "CPU (", what + ": to the CPU");
  }
  PMB_EQUAL(gpu_get().contexts + gpu_get().pieces, pieces, what + ": left at the end");
}

// Surfaces made by the GPU are measured too. A failure is an error, but not a fault of the GPU.
void TestMeasures()
{
  Subject s(Volume());
  s.Filter->ComputeMeasuresOn();
  s.Run(0.1, "GPU 0", "measured");
  PMB_CHECK(s.Filter->GetOutput()->GetFieldData()->HasArray("Area"), "measures");
  gpu_fail_measure();
  s.Filter->SetValue(0, 0.2);
  s.Filter->Update();
  PMB_CHECK(Has(s.Said.Text(), "could not be measured: ") && Has(s.Said.Text(), "ComputeMeasures off"),
    "the error says what to do: " << s.Said.Text());
  PMB_EQUAL(s.Filter->GetOutput()->GetNumberOfPolys(), 0, "triangles after an error");
  PMB_EQUAL(s.Filter->GetOutput()->GetFieldData()->GetNumberOfArrays(), 0, "measures after an error");
  s.Run(0.3, "GPU 0", "after the error");
  s.CheckMessages(0, 1, "measures");
}

// Suggestions stay after a release; the next execution makes new ones.
void TestSuggestions()
{
  auto image = Volume();
  Subject s(image);
  s.Run(0.1, "GPU 0", "before");
  for (double isovalue : { 0.2, 0.3 })
  {
    vtkDoubleArray* suggested = s.Filter->GetSuggestedIsovalues();
    PMB_EQUAL(suggested->GetNumberOfValues(), 2, "suggestions");
    const double first = suggested->GetValue(0);
    s.Filter->ReleaseDeviceMemory();
    suggested = s.Filter->GetSuggestedIsovalues();
    PMB_CHECK(suggested->GetNumberOfValues() == 2 && suggested->GetValue(0) == first, "suggestions of before");
    image->Modified();
    s.Run(isovalue, "GPU 0", "after");
    suggested = s.Filter->GetSuggestedIsovalues();
    PMB_CHECK(suggested->GetNumberOfValues() == 2 && suggested->GetValue(0) == first, "from the new context");
  }
  s.CheckMessages(0, 0, "suggestions");
}

// --- memory held on the GPU -----------------------------------------------------------------------------------------

void TestArrayDeleted()
{
  for (bool elsewhere : { false, true })
  {
    auto image = Volume();
    Subject s(image), same(image);
    vtkWeakPointer<vtkDataArray> array = image->GetPointData()->GetScalars();
    s.Run(0.1, "GPU 0", "first");
    same.Run(0.1, "GPU 0", "another filter");
    PMB_EQUAL(gpu_get().uploads, 1 + 2 * elsewhere, "uploads: the filters share the array's");
    const int64_t held = gpu_get().bytes;
    s.Filter->SetInputData(nullptr);
    same.Filter->SetInputData(nullptr);
    PMB_EQUAL(gpu_get().bytes, held, "the array is still there");
    std::thread other([&]() { image = elsewhere ? nullptr : image; });
    other.join();
    image = nullptr;
    PMB_CHECK(!array, "the array is kept alive");
    PMB_EQUAL(s.Filter->GetDeviceBytes() + gpu_get().bytes, 0, "left on the GPU");
    s.Filter->SetInputData(Volume(8.8));
    s.Run(0.1, "GPU 0", "the next volume");
    PMB_EQUAL(gpu_get().bytes, s.Filter->GetDeviceBytes(), "bytes of the next volume");
  }
  PMB_EQUAL(gpu_get().bytes + gpu_get().contexts, 0, "after the filters");
  // The filter has moved on; all observers were removed.
  auto image = Volume(), next = Volume(7.9);
  Subject s(image);
  s.Run(0.1, "GPU 0", "first");
  s.Filter->SetInputData(next);
  s.Run(0.1, "GPU 0", "moved on");
  image = nullptr;
  PMB_CHECK(s.Filter->GetDeviceBytes() > VolumeBytes, "the deleted array is not the bound one");
  next->GetPointData()->GetScalars()->RemoveAllObservers();
  next->Modified();
  s.Run(0.2, "GPU 0", "bound again");
  s.Filter->SetInputData(nullptr);
  next = nullptr;
  PMB_EQUAL(s.Filter->GetDeviceBytes() + gpu_get().faults, 0, "after all observers were removed");
}

void TestRelease()
{
  Subject s(Volume());
  s.Run(0.1, "GPU 0", "first");
  const vtkMTimeType before = s.Filter->GetMTime();
  s.Filter->ReleaseDeviceMemory();
  PMB_EQUAL(s.Filter->GetMTime(), before, "a release modifies");
  PMB_EQUAL(s.Filter->GetDeviceBytes() + gpu_get().bytes, 0, "bytes after the release");
  PMB_EQUAL(gpu_get().trims, 1, "the pool is trimmed");
  s.Run(0.1, "GPU 0", "nothing to do");
  PMB_EQUAL(gpu_get().uploads, 1, "uploads when nothing has changed");
  s.Run(0.2, "GPU 0", "the next run");
  PMB_EQUAL(gpu_get().uploads, 2, "uploads after the release");
  s.CheckMessages(0, 0, "release");
}

// A simulation overwrites two arrays in turn: each step is sent once, and takes the memory of the one before.
void TestTimeSteps()
{
  const vtkSmartPointer<vtkImageData> images[] = { Volume(), Volume() };
  Subject s(images[0]);
  int64_t held = 0;
  for (int step = 1; step <= 6; ++step)
  {
    auto* image = images[step % 2].GetPointer();
    auto* values = static_cast<float*>(image->GetScalarPointer());
    std::reverse(values, values + image->GetNumberOfPoints());
    image->GetPointData()->GetScalars()->Modified();
    s.Filter->SetInputData(image);
    s.Run(0.1, "GPU 0", "step " + std::to_string(step));
    PMB_EQUAL(gpu_get().uploads, step, "uploads");
    PMB_CHECK(step < 3 || gpu_get().bytes == held, gpu_get().bytes << " bytes in step " << step << ", not " << held);
    held = gpu_get().bytes;
  }
  s.CheckMessages(0, 0, "time steps");
}

// Only one of two blocks fits: each gets its device, with one warning, and the summary names both.
void TestDevicesOfBlocks()
{
  auto blocks = Blocks(2);
  blocks->SetBlock(0, MakeImage(20, 20, 20, VTK_FLOAT, Gyroid(9.1)));
  Subject s(blocks);
  s.Filter->SetDeviceMemoryLimit(4.0 * VolumeBytes / GiB);
  for (double isovalue : { 0.1, 0.3 })
  {
    s.RunBlocks(isovalue, 2, "two devices");
    const std::string summary = s.Filter->GetLastRunSummary();
    PMB_CHECK(
      StartsWith(summary, "GPU 0 (emulated GPU); CPU (") && Has(summary, "2 of 2 blocks"), "summary: " << summary);
  }
  s.CheckMessages(1, 0, "two devices");
}

// Each large block stays on the GPU until it, the input or the filter is deleted. A failure concerns one block, once.
void TestHeldBlocks()
{
  auto blocks = Blocks(3);
  Subject s(blocks);
  s.RunBlocks(0.1, 3, "held");
  s.RunBlocks(0.3, 3, "held, another isovalue");
  PMB_EQUAL(s.Filter->GetNumberOfUploads(), 3, "uploads");
  gpu_fail_at(GPU_COUNT, 2, GPU_ILLEGAL_ADDRESS);
  s.RunBlocks(0.2, 3, "a fault at one of three blocks");
  PMB_CHECK(Has(s.Filter->GetLastRunSummary(), "; CPU ("), s.Filter->GetLastRunSummary());
  gpu_reset();
  s.Filter->SetDevice(GPU); // lets the filter try again
  s.RunBlocks(0.3, 3, "after a fault");
  PMB_CHECK(StartsWith(s.Filter->GetLastRunSummary(), "GPU 0 (emulated GPU): 3 of 3"), s.Filter->GetLastRunSummary());
  const vtkIdType uploads = s.Filter->GetNumberOfUploads();
  const vtkIdType all = s.Filter->GetDeviceBytes();
  PMB_CHECK(all > 3 * VolumeBytes, "three volumes on the GPU: " << all);
  vtkImageData::SafeDownCast(blocks->GetBlock(1))->GetPointData()->SetScalars(Volume()->GetPointData()->GetScalars());
  const vtkIdType two = s.Filter->GetDeviceBytes();
  PMB_CHECK(two > all / 2 && two < all - VolumeBytes, "less when an array is deleted: " << two << " of " << all);
  s.Filter->ReleaseDeviceMemory();
  PMB_EQUAL(s.Filter->GetDeviceBytes(), 0, "all is released");
  s.RunBlocks(0.4, 3, "after a release");
  PMB_CHECK(s.Filter->GetDeviceBytes() > two + VolumeBytes, "and comes back: " << s.Filter->GetDeviceBytes());
  s.Filter->SetInputDataObject(Blocks(1));
  s.RunBlocks(0.4, 1, "other blocks");
  PMB_CHECK(s.Filter->GetDeviceBytes() < all / 2, "other blocks: these are let go: " << s.Filter->GetDeviceBytes());
  PMB_EQUAL(s.Filter->GetNumberOfUploads(), uploads + 4, "their uploads stay counted");
  s.CheckMessages(1, 0, "blocks");
}

// --- the memory of the output, which the GPU writes -----------------------------------------------------------------

void TestOutputMemory()
{
  const int before = gpu_get().pieces;
  auto mesh = vtkSmartPointer<vtkPolyData>::New();
  {
    Subject s(Volume());
    s.Run(0.1, "GPU 0", "its output");
    mesh->ShallowCopy(s.Filter->GetOutput());
    vtkPointData* data = mesh->GetPointData();
    for (vtkDataArray* array : { mesh->GetPoints()->GetData(), data->GetNormals(), data->GetArray("other"),
           mesh->GetPolys()->GetConnectivityArray() })
    {
      PMB_CHECK(gpu_is_piece(array->GetVoidPointer(0)), "not where the GPU writes: " << array->GetName());
    }
    s.Filter->SetDevice(CPU);
    s.Run(0.1, "CPU (", "the CPU's output");
    PMB_CHECK(!gpu_is_piece(s.Filter->GetOutput()->GetPoints()->GetData()->GetVoidPointer(0)), "by the CPU");
  }
  std::string difference;
  PMB_CHECK(
    SameBytes(mesh, Contour(Volume(), 0.1, OnCPU), difference), "an output that outlives all: " << difference);
  // Like any array: emptied and filled again, enlarged.
  vtkDataArray* normals = mesh->GetPointData()->GetNormals();
  normals->Initialize();
  normals->SetNumberOfComponents(3);
  normals->SetNumberOfTuples(200000);
  normals->Fill(1.0);
  vtkDataArray* points = mesh->GetPoints()->GetData();
  const vtkIdType count = points->GetNumberOfTuples();
  const double last = points->GetComponent(count - 1, 2);
  points->InsertNextTuple3(1, 2, 3);
  PMB_EQUAL(points->GetComponent(count - 1, 2), last, "a point array that has grown");
  mesh = nullptr;
  Subject small(MakeImage(8, 8, 8, VTK_FLOAT, Distance(3, 3, 3)));
  small.Filter->SetValue(0, 2.1);
  small.Filter->Update();
  PMB_EQUAL(gpu_get().pieces, before, "host memory not given back, or for a small mesh");
  PMB_EQUAL(gpu_get().faults, 0, "faults");
}
}

int main()
{
  const std::function<void()> tests[] = { TestChoice, TestBricksOnDemand, TestLimit, TestMeasures, TestArrayDeleted,
    TestRelease, TestTimeSteps, TestDevicesOfBlocks, TestHeldBlocks, TestOutputMemory, TestSuggestions };
  for (const auto& test : tests)
  {
    gpu_reset();
    test();
  }
  for (gpu_call call : { GPU_CREATE, GPU_BIND, GPU_COUNT, GPU_EMIT, GPU_SUMMARY })
  {
    TestFailure(call, GPU_NO_MEMORY);
    if (call != GPU_CREATE)
    {
      TestFailure(call, GPU_ILLEGAL_ADDRESS);
    }
  }
  gpu_reset();
  // One output lives until the process ends.
  static auto forever = Contour(Volume(), 0.1);
  PMB_CHECK(gpu_get().pieces > 0, "an output that outlives main()");
  return Result();
}
