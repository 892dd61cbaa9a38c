// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Progress never falls, comes on the caller's thread, and ends at 1. An abort at any progress event, from another thread or from
// upstream, stops soon and leaves an empty output; the next run is complete. Soon: with less than a fifth of the processor time
// of a whole run.
#include "PMBTesting.h"

#include "vtkCellData.h"
#include "vtkCommand.h"
#include "vtkCompositeDataSet.h"
#include "vtkDataArray.h"
#include "vtkFieldData.h"
#include "vtkImageShiftScale.h"
#include "vtkInformation.h"
#include "vtkInformationIntegerKey.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"
#include "vtkPMBIsovalueHistogram.h"
#include "vtkPointData.h"
#include "vtkSOADataArrayTemplate.h"
#include "vtkTable.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <iostream>
#include <thread>

using namespace pmbtest;

namespace
{
const int Size = 112;
const double Isovalue = 0.1;

// The input of a run.
enum
{
  POINT_ARRAYS = 1,
  CELL_ARRAYS = 2,
  ARRAYS_APART = 4, // in an array per component: they are copied first
  VOLUME_APART = 8,
  HIDDEN = 16,
  BLOCKS = 32
};

struct Run
{
  const char* Name;
  int Input;
  Setup Settings;
};

// Runs that together contain each step of the filter.
const Run Runs[] = { { "plain", 0, [](vtkPMBContourFilter*) {} },
  { "4 isovalues", 0, [](vtkPMBContourFilter* f) { f->GenerateValues(4, 136, 146); } },
  { "gradients, 2 arrays", POINT_ARRAYS, [](vtkPMBContourFilter* f) { f->ComputeGradientsOn(); } },
  { "2 arrays, copied first", POINT_ARRAYS | ARRAYS_APART, [](vtkPMBContourFilter*) {} },
  { "2 cell arrays", CELL_ARRAYS, [](vtkPMBContourFilter*) {} },
  { "2 cell arrays, apart", CELL_ARRAYS | ARRAYS_APART, [](vtkPMBContourFilter*) {} },
  { "measures", 0, [](vtkPMBContourFilter* f) { f->ComputeMeasuresOn(); } },
  { "volume copied first", VOLUME_APART, [](vtkPMBContourFilter*) {} },
  { "hidden points", HIDDEN, [](vtkPMBContourFilter*) {} },
  { "8 blocks of half size", BLOCKS, [](vtkPMBContourFilter*) {} },
  { "suggested isovalue", 0, [](vtkPMBContourFilter* f) { f->UseSuggestedIsovalueOn(); } } };

vtkSmartPointer<vtkDataArray> Copy(vtkDataArray* samples, const char* name, bool apart)
{
  vtkSmartPointer<vtkDataArray> array = vtkSmartPointer<vtkUnsignedCharArray>::New();
  if (apart)
  {
    array = vtkSmartPointer<vtkSOADataArrayTemplate<unsigned char>>::New();
  }
  array->DeepCopy(samples);
  array->SetName(name);
  return array;
}

vtkSmartPointer<vtkImageData> MakeVolume(int n, int input)
{
  const Field gyroid = Gyroid(16);
  auto image =
    MakeImage(n, n, n, VTK_UNSIGNED_CHAR, [&](int i, int j, int k) { return 255 * (gyroid(i, j, k) + 1.5) / 3; });
  vtkSmartPointer<vtkDataArray> samples = image->GetPointData()->GetScalars();
  for (const char* name : { "a", "b" })
  {
    auto array = Copy(samples, name, (input & ARRAYS_APART) != 0);
    (input & POINT_ARRAYS) ? image->GetPointData()->AddArray(array) : 0;
    (input & CELL_ARRAYS) ? image->GetCellData()->AddArray(array) : 0;
  }
  if (input & VOLUME_APART)
  {
    image->GetPointData()->SetScalars(Copy(samples, "samples", true));
  }
  if (input & HIDDEN)
  {
    image->AllocatePointGhostArray()->SetValue(7, vtkDataSetAttributes::HIDDENPOINT);
  }
  return image;
}

vtkSmartPointer<vtkDataObject> MakeInput(int input)
{
  if (!(input & BLOCKS))
  {
    return MakeVolume(Size, input);
  }
  auto blocks = vtkSmartPointer<vtkMultiBlockDataSet>::New();
  for (unsigned b = 0; b < 8; ++b)
  {
    blocks->SetBlock(b, MakeVolume(Size / 2, 0));
  }
  return blocks;
}

// An image, a mesh, or those of all blocks.
std::vector<vtkDataSet*> LeavesOf(vtkDataObject* data)
{
  return vtkCompositeDataSet::GetDataSets<vtkDataSet>(data);
}

vtkSmartPointer<vtkDataObject> CopyOf(vtkDataObject* data)
{
  auto copy = vtkSmartPointer<vtkDataObject>::Take(data->NewInstance());
  copy->ShallowCopy(data);
  return copy;
}

void CheckNothing(vtkPMBContourFilter* filter, const std::string& what)
{
  for (vtkDataSet* mesh : LeavesOf(filter->GetOutputDataObject(0)))
  {
    PMB_CHECK(mesh && mesh->GetNumberOfPoints() == 0 && mesh->GetNumberOfCells() == 0, what << ": a mesh is left");
    PMB_CHECK(mesh && mesh->GetPointData()->GetNumberOfArrays() + mesh->GetCellData()->GetNumberOfArrays() == 0,
      what << ": arrays are left");
    PMB_CHECK(mesh && mesh->GetFieldData()->GetNumberOfArrays() == 0, what << ": measures are left");
  }
  PMB_EQUAL(std::string(filter->GetLastRunSummary()), std::string("Aborted"), what + ": summary");
  PMB_EQUAL(filter->GetOutputInformation(0)->Get(vtkAlgorithm::ABORTED()), 1, what + ": the output says so");
}

void CheckSame(vtkPMBContourFilter* filter, vtkDataObject* expected, const std::string& what)
{
  const auto meshes = LeavesOf(filter->GetOutputDataObject(0)), others = LeavesOf(expected);
  PMB_EQUAL(meshes.size(), others.size(), what + ": blocks");
  for (size_t i = 0; i < std::min(meshes.size(), others.size()); ++i)
  {
    std::string difference;
    PMB_CHECK(SameBytes(vtkPolyData::SafeDownCast(meshes[i]), vtkPolyData::SafeDownCast(others[i]), difference),
      what << ": " << difference);
  }
}

double ProcessorTime()
{
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// Records progress, and aborts at an event with a number or when progress reaches a value.
class Watcher : public vtkCommand
{
public:
  static Watcher* New() { return new Watcher; }
  void Execute(vtkObject* caller, unsigned long, void* data) override
  {
    const double progress = *static_cast<double*>(data);
    this->Foreign += std::this_thread::get_id() != this->Thread;
    this->Falls += !(progress >= this->Last && progress <= 1.0);
    this->Last = progress;
    if (this->AbortedAt < 0 && progress < 1 && (this->Events == this->AbortAtEvent || progress >= this->AbortAt))
    {
      vtkAlgorithm* algorithm = this->Target ? this->Target : static_cast<vtkAlgorithm*>(caller);
      this->AsGUI ? algorithm->SetAbortExecuteAndUpdateTime() : algorithm->SetAbortExecute(1);
      this->AbortedAt = ProcessorTime();
      this->EventsBefore = this->Events;
    }
    ++this->Events;
  }
  void Clear()
  {
    this->Last = this->AbortedAt = -1;
    this->AbortAt = 2;
    this->AbortAtEvent = -1;
    this->Events = 0;
  }
  double Last = -1, AbortAt = 2, AbortedAt = -1;
  int Events = 0, AbortAtEvent = -1, EventsBefore = 0, Falls = 0, Foreign = 0;
  bool AsGUI = false;             // like ParaView 6.1's button
  vtkAlgorithm* Target = nullptr; // to abort; null: the caller

private:
  std::thread::id Thread = std::this_thread::get_id();
};

struct Runner
{
  explicit Runner(const Run& run)
    : Input(MakeInput(run.Input))
  {
    this->Filter->AddObserver(vtkCommand::ProgressEvent, this->Watch);
    this->Filter->SetNumberOfThreads(2);
    this->Filter->SetInputDataObject(this->Input);
    this->Filter->SetValue(0, 255 * (Isovalue + 1.5) / 3);
    run.Settings(this->Filter);
  }

  // As in a first extraction, or as after a change of a setting.
  void Update(bool anew)
  {
    if (anew)
    {
      this->Filter->SetInputDataObject(CopyOf(this->Input));
      for (vtkDataSet* image : LeavesOf(this->Input))
      {
        image->GetPointData()->GetScalars()->Modified();
      }
    }
    this->Filter->Modified();
    this->Filter->Update();
  }

  vtkSmartPointer<vtkDataObject> Input;
  vtkNew<vtkPMBContourFilter> Filter;
  vtkNew<Watcher> Watch;
};

// Aborts at event number `event`. Returns false if the run has fewer events.
bool TestAbortAt(Runner& runner, bool anew, int event, vtkDataObject* expected, const std::string& what)
{
  runner.Watch->Clear();
  runner.Watch->AbortAtEvent = event;
  runner.Watch->AsGUI = event % 2 == 1;
  runner.Update(anew);
  runner.Filter->SetAbortExecute(0);
  if (runner.Watch->AbortedAt < 0)
  {
    return false;
  }
  // VTK itself still reports the end, and the start and end of a block.
  const int after = runner.Watch->Events - 1 - event, most = vtkImageData::SafeDownCast(runner.Input) ? 1 : 3;
  PMB_CHECK(after <= most, what << ": " << after << " events after it");
  CheckNothing(runner.Filter, what);
  runner.Watch->Clear();
  if (event % 4 == 0)
  {
    runner.Filter->Modified();
    runner.Filter->Update();
    CheckSame(runner.Filter, expected, what);
  }
  return true;
}

void TestAborts(const Run& run)
{
  Runner runner(run);
  const std::string name = run.Name;
  Messages messages(runner.Filter);
  runner.Filter->Update();
  const auto expected = CopyOf(runner.Filter->GetOutputDataObject(0));
  for (bool anew : { true, false })
  {
    runner.Watch->Clear();
    const auto start = std::chrono::steady_clock::now();
    runner.Update(anew);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const int events = runner.Watch->Events;
    PMB_CHECK(
      events >= 2 && events <= 120 + 50 * seconds.count(), name << ": " << events << " events"); // 20 ms or 1%
    PMB_EQUAL(runner.Watch->Last, 1.0, name + ": progress ends at 1");
    const vtkIdType binds = runner.Filter->GetNumberOfBinds();
    int done = 0;
    for (int event = 0; event < events; event += std::max(1, events / 6))
    {
      const std::string what = name + (anew ? ", first" : ", again") + ", abort at event " + std::to_string(event);
      done += TestAbortAt(runner, anew, event, expected, what);
    }
    PMB_CHECK(done >= 1, name << ": no abort");
    if (!anew && vtkImageData::SafeDownCast(runner.Input))
    {
      PMB_EQUAL(runner.Filter->GetNumberOfBinds(), binds, name + ": the volume is read again after an abort");
    }
  }
  PMB_EQUAL(runner.Watch->Falls + runner.Watch->Foreign, 0, name + ": progress falls, or comes on other threads");
  PMB_EQUAL(messages.Text(), std::string(), name + ": messages");
}

// Cell arrays are copied after the core has finished, and must not delay an abort.
void TestSoon()
{
  auto image = MakeImage(220, 220, 220, VTK_FLOAT, Gyroid(12.7));
  vtkNew<vtkUnsignedCharArray> cells;
  cells->SetName("cells");
  cells->SetNumberOfValues(image->GetNumberOfCells());
  cells->Fill(1);
  image->GetCellData()->AddArray(cells);
  const double start = ProcessorTime();
  PMB_CHECK(Contour(image, Isovalue)->GetNumberOfPolys() > 1000000, "the mesh is too small for this test");
  const double whole = ProcessorTime() - start;
  const auto stop = [&](const std::string& what, const std::function<double(vtkPMBContourFilter*, int)>& update)
  {
    double best = 1e9;
    for (int attempt = 0; attempt < 5 && best > 0.2 * whole; ++attempt)
    {
      vtkNew<vtkPMBContourFilter> filter;
      filter->SetInputData(image);
      filter->SetValue(0, Isovalue);
      const double aborted = update(filter, attempt);
      best = std::min(best, ProcessorTime() - aborted);
      CheckNothing(filter, what);
    }
    std::cout << what << ": stopped after " << 1000 * best << " ms\n";
    PMB_CHECK(best < 0.2 * whole, what << ": took " << best << " s to stop a run of " << whole << " s");
  };
  for (double progress : { 0.0, 0.1, 0.45, 0.7, 0.95 })
  {
    stop("abort at " + std::to_string(progress),
      [=](vtkPMBContourFilter* filter, int)
      {
        vtkNew<Watcher> watcher;
        watcher->AbortAt = progress;
        filter->AddObserver(vtkCommand::ProgressEvent, watcher);
        filter->Update();
        return watcher->AbortedAt;
      });
  }
  stop("abort from another thread",
    [](vtkPMBContourFilter* filter, int attempt)
    {
      filter->GenerateValues(200, -1.0, 1.0);
      std::atomic<double> aborted(-1);
      std::thread user(
        [&]()
        {
          std::this_thread::sleep_for(std::chrono::milliseconds(5 + 10 * attempt));
          filter->SetAbortExecute(1);
          aborted = ProcessorTime();
        });
      filter->Update();
      user.join();
      return aborted.load();
    });
}

// An abort of a filter upstream stops those downstream.
void TestAbortUpstream()
{
  vtkNew<vtkImageShiftScale> upstream;
  upstream->SetInputData(MakeImage(100, 100, 100, VTK_FLOAT, Gyroid(12.7)));
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputConnection(upstream->GetOutputPort());
  filter->SetValue(0, Isovalue);
  filter->Update();
  const auto expected = CopyOf(filter->GetOutput());
  vtkNew<Watcher> watcher;
  watcher->AbortAtEvent = 0;
  watcher->AsGUI = true;
  watcher->Target = upstream;
  const auto tag = filter->AddObserver(vtkCommand::ProgressEvent, watcher);
  filter->SetValue(0, 0.2);
  filter->Update();
  CheckNothing(filter, "abort upstream");
  filter->RemoveObserver(tag);
  upstream->SetAbortExecute(0);
  filter->SetValue(0, Isovalue);
  filter->Update();
  CheckSame(filter, expected, "after an abort upstream");
}

// An abort while the array is copied or read leaves an empty table; the next run is complete.
void TestHistogram()
{
  vtkNew<vtkPMBIsovalueHistogram> histogram;
  Messages messages(histogram);
  vtkNew<Watcher> watcher;
  histogram->SetInputData(MakeVolume(200, VOLUME_APART));
  histogram->AddObserver(vtkCommand::ProgressEvent, watcher);
  for (double progress : { 0.1, 0.6, 2.0 })
  {
    watcher->Clear();
    watcher->AbortAt = progress;
    histogram->Modified();
    histogram->Update();
    histogram->SetAbortExecute(0);
    PMB_EQUAL(watcher->AbortedAt >= 0, progress < 1,
      "an abort at " + std::to_string(progress) + ", events: " + std::to_string(watcher->Events));
    PMB_EQUAL(histogram->GetOutput()->GetNumberOfRows(), progress < 1 ? 0 : 256, "rows of the table");
  }
  PMB_EQUAL(messages.Text(), std::string(), "messages of the histogram");
}
}

int TestPMBContourFilterAbort(int, char*[])
{
  for (const Run& run : Runs)
  {
    TestAborts(run);
  }
  TestSoon();
  TestAbortUpstream();
  TestHistogram();
  return Result();
}
