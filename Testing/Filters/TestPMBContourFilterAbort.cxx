// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// An abort at each of the progress events of runs in which all steps take part, and at random moments from another thread:
// nothing is reported after it, nothing is left behind, and the next run is complete. Progress never falls in these runs.
#include "PMBTesting.h"
#include "ProgressRuns.h"

#include "vtkCellData.h"
#include "vtkCompositeDataIterator.h"
#include "vtkCompositeDataSet.h"
#include "vtkFieldData.h"
#include "vtkImageData.h"
#include "vtkImageShiftScale.h"
#include "vtkInformation.h"
#include "vtkInformationIntegerKey.h"
#include "vtkNew.h"
#include "vtkPointData.h"

#include <algorithm>
#include <atomic>
#include <iostream>
#include <random>

using namespace pmbtest;

namespace
{
const int Size = 112;

// The meshes of all blocks.
std::vector<vtkSmartPointer<vtkPolyData>> MeshesOf(vtkDataObject* data)
{
  std::vector<vtkSmartPointer<vtkPolyData>> meshes;
  if (auto* mesh = vtkPolyData::SafeDownCast(data))
  {
    meshes.push_back(mesh);
  }
  if (auto* composite = vtkCompositeDataSet::SafeDownCast(data))
  {
    auto iterator = vtkSmartPointer<vtkCompositeDataIterator>::Take(composite->NewIterator());
    for (iterator->InitTraversal(); !iterator->IsDoneWithTraversal(); iterator->GoToNextItem())
    {
      meshes.push_back(vtkPolyData::SafeDownCast(iterator->GetCurrentDataObject()));
    }
  }
  return meshes;
}

vtkSmartPointer<vtkDataObject> CopyOf(vtkDataObject* data)
{
  auto copy = vtkSmartPointer<vtkDataObject>::Take(data->NewInstance());
  copy->ShallowCopy(data);
  return copy;
}

void CheckNothing(vtkPMBContourFilter* filter, const std::string& what)
{
  for (vtkPolyData* mesh : MeshesOf(filter->GetOutputDataObject(0)))
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
  const auto meshes = MeshesOf(filter->GetOutputDataObject(0)), others = MeshesOf(expected);
  PMB_EQUAL(meshes.size(), others.size(), what + ": blocks");
  for (size_t i = 0; i < std::min(meshes.size(), others.size()); ++i)
  {
    std::string difference;
    PMB_CHECK(SameBytes(meshes[i], others[i], difference), what << ": " << difference);
  }
}

struct Runner
{
  Runner(const ProgressRun& run)
    : Name(run.Name)
    , Input(run.MakeInput())
  {
    this->Filter->AddObserver(vtkCommand::ProgressEvent, this->Watcher);
    this->Filter->SetNumberOfThreads(2);
    this->Filter->SetInputDataObject(this->Input);
    this->Filter->SetValue(0, ProgressIsovalue);
    run.Setup(this->Filter);
  }

  // As in a first extraction, or as after a change of a setting. Returns when it ended.
  double Update(bool anew)
  {
    anew ? this->Forget() : this->Filter->Modified();
    this->Filter->Update();
    return Now();
  }

  // A filter of another input reads its own again.
  void Forget()
  {
    this->Filter->SetInputDataObject(CopyOf(this->Input));
    for (vtkObject* array : this->Arrays())
    {
      array->Modified();
    }
  }

  std::vector<vtkObject*> Arrays()
  {
    std::vector<vtkObject*> arrays;
    if (auto* image = vtkImageData::SafeDownCast(this->Input))
    {
      arrays.push_back(image->GetPointData()->GetScalars());
    }
    if (auto* blocks = vtkCompositeDataSet::SafeDownCast(this->Input))
    {
      auto iterator = vtkSmartPointer<vtkCompositeDataIterator>::Take(blocks->NewIterator());
      for (iterator->InitTraversal(); !iterator->IsDoneWithTraversal(); iterator->GoToNextItem())
      {
        auto* image = vtkImageData::SafeDownCast(iterator->GetCurrentDataObject());
        arrays.push_back(image->GetPointData()->GetScalars());
      }
    }
    return arrays;
  }

  std::string Name;
  vtkSmartPointer<vtkDataObject> Input;
  vtkNew<vtkPMBContourFilter> Filter;
  vtkNew<ProgressWatcher> Watcher;
};

// Aborts at event number `index`; a run of other speed may have fewer. Returns whether there was one.
bool TestAbortAt(Runner& runner, bool anew, size_t index, bool asGUI, vtkDataObject* expected)
{
  std::ostringstream what;
  what << runner.Name << (anew ? ", first" : ", again") << ", abort at event " << index;
  vtkPMBContourFilter* filter = runner.Filter;
  ProgressWatcher* watcher = runner.Watcher;
  watcher->Clear();
  watcher->AbortAtEvent = index;
  watcher->AbortAsGUI = asGUI;
  runner.Update(anew);
  if (watcher->AbortedAt < 0 || watcher->Events[index].Value >= 1)
  {
    filter->SetAbortExecute(0);
    watcher->Clear();
    return false;
  }
  // VTK's own come still: that it is over, and with blocks that one has begun and is over.
  const size_t after = watcher->Events.size() - 1 - index;
  const size_t most = vtkImageData::SafeDownCast(runner.Input) ? 1 : 3;
  PMB_CHECK(after <= most, what.str() << ": " << after << " events after it");
  CheckNothing(filter, what.str());
  filter->SetAbortExecute(0);
  watcher->Clear();
  if (index % 4 == 0)
  {
    filter->Update();
    CheckSame(filter, expected, what.str());
  }
  return true;
}

void TestAborts(const ProgressRun& run)
{
  Runner runner(run);
  Messages messages(runner.Filter);
  runner.Filter->Update();
  const auto expected = CopyOf(runner.Filter->GetOutputDataObject(0));
  PMB_EQUAL(runner.Watcher->Foreign, 0, run.Name + ": events on other threads");
  for (bool anew : { true, false })
  {
    // With a number that changes a little from run to run: all steps, over all runs, are what counts.
    runner.Watcher->Clear();
    runner.Update(anew);
    const size_t events = runner.Watcher->Events.size();
    PMB_EQUAL(runner.Watcher->Falls, 0, run.Name + ": progress falls");
    PMB_EQUAL(runner.Watcher->Events.back().Value, 1.0, run.Name + ": progress ends at 1");
    const size_t every = std::max<size_t>(1, events / 8);
    const vtkIdType binds = runner.Filter->GetNumberOfBinds();
    size_t done = 0;
    for (size_t index = 0; index < events; index += every)
    {
      done += TestAbortAt(runner, anew, index, index % 2 == 1, expected);
    }
    PMB_CHECK(done >= 1, run.Name << ": no abort");
    if (!anew && vtkImageData::SafeDownCast(runner.Input))
    {
      PMB_EQUAL(runner.Filter->GetNumberOfBinds(), binds, run.Name + ": the volume is read again after an abort");
    }
  }
  PMB_EQUAL(messages.Text(), std::string(), run.Name + ": messages");
}

// Returns the longest time that it took, for a person; TestPMBContourFilterProgress judges it.
double TestAbortsFromThread(const ProgressRun& run)
{
  Runner runner(run);
  runner.Filter->Update();
  const auto expected = CopyOf(runner.Filter->GetOutputDataObject(0));
  double longest = 0;
  std::mt19937 random(7);
  const double start = Now();
  runner.Update(true);
  std::uniform_real_distribution<double> moment(0, Now() - start);
  for (int i = 0; i < 12; ++i)
  {
    const std::string what = run.Name + ", abort from another thread";
    const double wait = moment(random);
    std::atomic<double> aborted(0);
    runner.Forget();
    std::thread user(
      [&]()
      {
        std::this_thread::sleep_for(std::chrono::duration<double>(wait));
        aborted = Now();
        runner.Filter->SetAbortExecute(1);
      });
    runner.Filter->Update();
    const double end = Now();
    user.join();
    const bool stopped = runner.Filter->GetOutputInformation(0)->Get(vtkAlgorithm::ABORTED()) != 0;
    if (stopped)
    {
      longest = std::max(longest, end - aborted);
      CheckNothing(runner.Filter, what);
    }
    runner.Filter->SetAbortExecute(0);
    runner.Filter->Update();
    CheckSame(runner.Filter, expected, what + ", the run after it");
  }
  return longest;
}

// A filter upstream that is told to abort stops those downstream.
void TestAbortUpstream()
{
  vtkNew<vtkImageShiftScale> upstream;
  upstream->SetInputData(MakeImage(100, 100, 100, VTK_FLOAT, Gyroid(12.7)));
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputConnection(upstream->GetOutputPort());
  filter->SetValue(0, 0.1);
  filter->Update();
  const vtkIdType expected = filter->GetOutput()->GetNumberOfPolys();
  PMB_CHECK(expected > 10000, "the mesh is too small for this test");

  class Aborter : public vtkCommand
  {
  public:
    static Aborter* New() { return new Aborter; }
    void Execute(vtkObject*, unsigned long, void*) override { this->Target->SetAbortExecuteAndUpdateTime(); }
    vtkAlgorithm* Target = nullptr;
  };
  vtkNew<Aborter> aborter;
  aborter->Target = upstream;
  const auto tag = filter->AddObserver(vtkCommand::ProgressEvent, aborter);
  filter->SetValue(0, 0.2);
  filter->Update();
  CheckNothing(filter, "abort upstream");
  filter->RemoveObserver(tag);
  upstream->SetAbortExecute(0);
  filter->SetValue(0, 0.1);
  filter->Update();
  PMB_EQUAL(filter->GetOutput()->GetNumberOfPolys(), expected, "after an abort upstream: triangles");
}
}

int TestPMBContourFilterAbort(int, char*[])
{
  double longest = 0;
  for (const ProgressRun& run : ListProgressRuns(Size))
  {
    TestAborts(run);
    longest = std::max(longest, TestAbortsFromThread(run));
  }
  std::cout << "longest time from an abort to the end: " << 1000 * longest << " ms\n";
  TestAbortUpstream();
  return Result();
}
