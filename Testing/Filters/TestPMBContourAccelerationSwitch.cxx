// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Acceleration of vtkContourFilter: the switch, reuse between executions, composite input, progress and abort, subclasses.
#include "PMBTesting.h"

#include "vtkCommand.h"
#include "vtkContourFilter.h"
#include "vtkEventForwarderCommand.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPMBContourAcceleration.h"
#include "vtkPointData.h"
#include "vtkPolyDataNormals.h"
#include "vtkSmartPointer.h"
#include "vtkUnsignedCharArray.h"
#include "vtkUnstructuredGrid.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

using namespace pmbtest;

namespace
{
using Acceleration = vtkPMBContourAcceleration;

vtkIdType RunsOf(const std::function<void()>& action)
{
  const vtkIdType before = Acceleration::GetNumberOfRuns();
  action();
  return Acceleration::GetNumberOfRuns() - before;
}

vtkSmartPointer<vtkPolyData> Copy(vtkPolyData* mesh)
{
  auto copy = vtkSmartPointer<vtkPolyData>::New();
  copy->DeepCopy(mesh);
  return copy;
}

vtkIdType BindsOf(const std::function<void()>& action)
{
  const vtkIdType before = Acceleration::GetNumberOfBinds();
  action();
  return Acceleration::GetNumberOfBinds() - before;
}

// Before and after the first Enable() of a process.
void TestBefore(vtkImageData* image)
{
  vtkNew<vtkContourFilter> old;
  old->SetInputData(image);
  PMB_CHECK(!Acceleration::IsEnabled(), "off to begin with");
  PMB_EQUAL(RunsOf([&] { old->Update(); }), 0, "runs before anything");
  Acceleration::Enable();
  PMB_CHECK(Acceleration::IsEnabled(), "on");
  old->SetValue(0, 0.2);
  PMB_EQUAL(RunsOf([&] { old->Update(); }), 0, "runs of a filter from before");
  PMB_CHECK(old->GetOutput()->GetNumberOfPolys() > 0, "it works as ever");
}

// On and off while the filter exists: it executes again as the switch says.
void TestToggle(vtkImageData* image)
{
  const std::string what = "switched";
  Acceleration::Enable();
  vtkNew<vtkContourFilter> filter;
  vtkNew<vtkPolyDataNormals> next; // filters downstream execute again too
  filter->SetInputData(image);
  filter->SetValue(0, 0.1);
  next->SetInputConnection(filter->GetOutputPort());
  PMB_EQUAL(filter->GetClassName(), std::string("vtkContourFilter"), "name of the class");
  PMB_EQUAL(RunsOf([&] { next->Update(); }), 1, what + ": runs, on");
  PMB_EQUAL(RunsOf([&] { next->Update(); }), 0, what + ": runs without a change");
  const auto on = Copy(filter->GetOutput());
  Acceleration::Disable();
  PMB_EQUAL(RunsOf([&] { next->Update(); }), 0, what + ": runs, off");
  const auto off = Copy(filter->GetOutput());
  std::string difference;
  PMB_CHECK(!SameBytes(on, off, difference), what + ": VTK's own mesh has the same bytes");
  PMB_EQUAL(on->GetNumberOfPolys(), off->GetNumberOfPolys(), what + ": triangles");
  Acceleration::Enable();
  PMB_EQUAL(RunsOf([&] { next->Update(); }), 1, what + ": runs, on again");
  PMB_CHECK(SameBytes(on, filter->GetOutput(), difference), what << ": on again: " << difference);
  Acceleration::Disable();
  next->Update();
  PMB_CHECK(SameBytes(off, filter->GetOutput(), difference), what << ": off again: " << difference);
}

// The filter keeps the volume's summary for the next isovalue, also without observers of start and end. It makes a new one after
// Modified() on the filter, as code that writes in place relies on. VTK's own code runs for hidden cells.
void TestKept()
{
  const std::string what = "kept";
  Acceleration::Enable();
  auto image = MakeImage(30, 30, 30, VTK_FLOAT, Distance(5, 5, 5));
  auto other = MakeImage(30, 30, 30, VTK_FLOAT, Distance(24, 24, 24));
  vtkUnsignedCharArray* types = image->AllocateCellGhostArray();
  vtkNew<vtkContourFilter> filter;
  filter->SetInputData(image);
  const auto update = [&](double isovalue)
  {
    return BindsOf(
      [&]
      {
        filter->SetValue(0, isovalue);
        filter->Update();
      });
  };
  PMB_EQUAL(update(3.4), 1, what + ": volumes read");
  PMB_EQUAL(update(3.6), 0, what + ": volumes read for another isovalue");
  filter->RemoveAllObservers();
  PMB_EQUAL(update(3.5), 0, what + ": volumes read without observers");
  std::copy_n(static_cast<float*>(other->GetScalarPointer()), image->GetNumberOfPoints(),
    static_cast<float*>(image->GetScalarPointer()));
  filter->Modified();
  PMB_EQUAL(update(3.5), 1, what + ": volumes read after a change in place");
  PMB_EQUAL(filter->GetOutput()->GetNumberOfPolys(), FlyingEdges(other, 3.5)->GetNumberOfPolys(),
    what + ": triangles after a change in place");
  types->GetPointer(0)[500] = vtkDataSetAttributes::HIDDENCELL;
  image->Modified();
  PMB_EQUAL(RunsOf([&] { filter->Update(); }), 0, what + ": runs with a cell hidden in place");
  types->GetPointer(0)[500] = 0;
  filter->Modified();
  PMB_EQUAL(RunsOf([&] { filter->Update(); }), 1, what + ": runs with the cell back");
}

// Like ParaView's Contour: makes a vtkContourFilter for each execution and forwards its progress.
class Wrapper : public vtkContourFilter
{
public:
  static Wrapper* New();
  vtkTypeMacro(Wrapper, vtkContourFilter);

protected:
  int RequestData(vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector) override
  {
    vtkNew<vtkContourFilter> instance;
    instance->SetValue(0, this->GetValue(0));
    vtkNew<vtkEventForwarderCommand> forwarder;
    forwarder->SetTarget(this);
    instance->AddObserver(vtkCommand::ProgressEvent, forwarder);
    instance->SetInputData(vtkImageData::GetData(inputVector[0]));
    instance->Update();
    vtkPolyData::GetData(outputVector)->ShallowCopy(instance->GetOutput());
    return 1;
  }
};
vtkStandardNewMacro(Wrapper);

class Watcher : public vtkCommand
{
public:
  static Watcher* New() { return new Watcher; }
  void Execute(vtkObject* caller, unsigned long, void*) override
  {
    auto* algorithm = static_cast<vtkAlgorithm*>(caller);
    ++this->Events;
    this->Falls += algorithm->GetProgress() < this->Last;
    this->Last = algorithm->GetProgress();
    if (this->Abort)
    {
      algorithm->SetAbortExecute(1);
    }
  }
  bool Abort = false;
  int Events = 0, Falls = 0;
  double Last = -1;
};

// The user's filter reports progress; after an abort its output is empty, and the next execution is complete.
void TestAbort(vtkAlgorithm* filter, vtkContourFilter* contour, const std::string& what)
{
  vtkNew<Watcher> watcher;
  const unsigned long tag = filter->AddObserver(vtkCommand::ProgressEvent, watcher);
  PMB_EQUAL(RunsOf([&] { filter->Update(); }), 1, what + ": runs");
  PMB_CHECK(watcher->Events > 3 && watcher->Falls == 0,
    what << ": " << watcher->Events << " events of progress, of which " << watcher->Falls << " fell");
  auto* mesh = vtkPolyData::SafeDownCast(filter->GetOutputDataObject(0));
  const vtkIdType triangles = mesh->GetNumberOfPolys();
  PMB_CHECK(triangles > 0, what + ": a surface");
  watcher->Abort = true;
  filter->Modified();
  filter->Update();
  PMB_EQUAL(mesh->GetNumberOfPolys(), 0, what + ": triangles after an abort");
  filter->RemoveObserver(tag);
  filter->SetAbortExecute(0);
  filter->Modified();
  filter->Update();
  PMB_EQUAL(mesh->GetNumberOfPolys(), triangles, what + ": triangles after that");
  const vtkIdType binds = BindsOf(
    [&]
    {
      contour->SetValue(0, 0.3);
      filter->Update();
    });
  PMB_EQUAL(binds, 0, what + ": volumes read for another isovalue");
}

void TestProgress()
{
  Acceleration::Enable();
  auto image = MakeImage(60, 60, 60, VTK_FLOAT, Gyroid(9));
  vtkNew<vtkContourFilter> filter;
  filter->SetInputData(image);
  filter->SetValue(0, 0.1);
  TestAbort(filter, filter, "vtkContourFilter");
  vtkNew<Wrapper> wrapper;
  wrapper->SetInputData(image);
  wrapper->SetValue(0, 0.1);
  PMB_EQUAL(RunsOf([&] { wrapper->Update(); }), 1, "runs in a filter with a vtkContourFilter in it");
  const vtkIdType triangles = wrapper->GetOutput()->GetNumberOfPolys();
  PMB_CHECK(wrapper->GetOutput()->GetPointData()->GetScalars(), "its active scalars at first");
  wrapper->SetValue(0, 0.2);
  PMB_EQUAL(BindsOf([&] { wrapper->Update(); }), 0, "volumes read for its second isovalue");
  wrapper->SetValue(0, 0.1);
  TestAbort(wrapper, wrapper, "a filter with a vtkContourFilter in it");
  wrapper->SetValue(0, 0.1);
  wrapper->Update();
  PMB_EQUAL(
    wrapper->GetOutput()->GetNumberOfPolys(), triangles, "triangles of a filter with a vtkContourFilter in it");
  PMB_CHECK(Has(Acceleration::GetLastRunSummary(wrapper), "vtkContourFilter, accelerated: "), "its summary");
  PMB_CHECK(wrapper->GetOutput()->GetPointData()->GetScalars(), "its active scalars");
}

vtkSmartPointer<vtkMultiBlockDataSet> MakeBlocks()
{
  auto blocks = vtkSmartPointer<vtkMultiBlockDataSet>::New();
  blocks->SetBlock(0, MakeImage(42, 42, 42, VTK_FLOAT, Gyroid(9))); // large enough for a summary of its own
  blocks->SetBlock(1, MakeImage(41, 43, 42, VTK_FLOAT, Gyroid(12)));
  blocks->SetBlock(2, MakeImage(20, 20, 1, VTK_FLOAT, Gyroid(12)));
  blocks->SetBlock(4, vtkSmartPointer<vtkUnstructuredGrid>::New());
  return blocks;
}

std::vector<vtkIdType> CellsOf(vtkContourFilter* filter)
{
  filter->Update();
  std::vector<vtkIdType> cells;
  auto* output = vtkMultiBlockDataSet::SafeDownCast(filter->GetOutputDataObject(0));
  for (unsigned i = 0; output && i < output->GetNumberOfBlocks(); ++i)
  {
    auto* mesh = vtkPolyData::SafeDownCast(output->GetBlock(i));
    cells.push_back(mesh ? mesh->GetNumberOfCells() : -1);
  }
  return cells;
}

void TestComposite()
{
  vtkNew<vtkContourFilter> filter;
  filter->SetInputDataObject(MakeBlocks());
  filter->SetValue(0, 0.1);
  Acceleration::Disable();
  const std::vector<vtkIdType> off = CellsOf(filter.Get());
  PMB_EQUAL(off.size(), 5u, "blocks");
  PMB_CHECK(off[0] > 0 && off[1] > 0 && off[2] > 0, "surfaces and lines in the blocks");
  Acceleration::Enable();
  std::vector<vtkIdType> on;
  PMB_EQUAL(RunsOf([&] { on = CellsOf(filter.Get()); }), 2, "runs, one for each image");
  PMB_CHECK(on == off, "cells of each block");
  filter->SetValue(0, 0.15);
  CellsOf(filter.Get());
  filter->SetValue(0, 0.2);
  PMB_EQUAL(BindsOf([&] { on = CellsOf(filter.Get()); }), 0, "volumes read for another isovalue");
  Acceleration::Disable();
  PMB_CHECK(on == CellsOf(filter.Get()), "cells of each block, another isovalue");
}

class OwnContour : public vtkContourFilter
{
public:
  static OwnContour* New();
  vtkTypeMacro(OwnContour, vtkContourFilter);
};
vtkStandardNewMacro(OwnContour);

void TestSubclass(vtkImageData* image)
{
  Acceleration::Enable();
  vtkNew<OwnContour> own;
  own->SetInputData(image);
  own->SetValue(0, 0.1);
  PMB_EQUAL(RunsOf([&] { own->Update(); }), 0, "runs of a subclass");
  PMB_CHECK(own->GetOutput()->GetNumberOfPolys() > 0, "its own surface");
}

// Threads create and delete filters while the switch changes.
void TestThreads()
{
  std::atomic<int> wrong{ 0 };
  std::atomic<bool> go{ true };
  const auto image = MakeImage(20, 20, 20, VTK_FLOAT, Gyroid(9));
  const vtkIdType expected = FlyingEdges(image, 0.1)->GetNumberOfPolys();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
  {
    threads.emplace_back(
      [&]
      {
        vtkNew<vtkImageData> own;
        own->DeepCopy(image);
        while (go)
        {
          vtkNew<vtkContourFilter> filter;
          filter->SetInputData(own);
          filter->SetValue(0, 0.1);
          filter->Update();
          wrong += filter->GetOutput()->GetNumberOfPolys() != expected;
        }
      });
  }
  for (int i = 0; i < 200; ++i)
  {
    i % 2 ? Acceleration::Disable() : Acceleration::Enable();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  go = false;
  for (std::thread& thread : threads)
  {
    thread.join();
  }
  PMB_EQUAL(wrong.load(), 0, "meshes of threads that are wrong");
}

}

int TestPMBContourAccelerationSwitch(int, char*[])
{
  auto image = MakeImage(30, 30, 30, VTK_FLOAT, Gyroid(9));
  TestBefore(image);
  TestToggle(image);
  TestKept();
  TestProgress();
  TestComposite();
  TestSubclass(image);
  TestThreads();
  return Result();
}
