// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// A part of PMBFakeGPUTest: a fault in one call takes from all others what they have on the GPU.
#include "FakeGPUTests.h"

#include "vtkCallbackCommand.h"
#include "vtkContourFilter.h"
#include "vtkDoubleArray.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkPMBContourAcceleration.h"

#include <atomic>
#include <chrono>
#include <thread>

using namespace fakegputests;
using namespace pmbtest;

namespace
{
const char* const Names[] = { "create", "bind", "count", "emit" };

// The faulty execution of one filter is an error of that one; the next executions of all are right, on the GPU.
void TestOtherFilters()
{
  for (int call = fakegpu::BIND; call <= fakegpu::EMIT; ++call)
  {
    const std::string what = std::string("a fault at ") + Names[call] + " of another filter";
    fakegpu::Reset();
    auto image = Volume(8.3);
    vtkNew<vtkPMBContourFilter> faulty, other, apart;
    Messages faults(faulty), messages(other), apartMessages(apart);
    faulty->SetInputData(Volume());
    other->SetInputData(image);
    apart->SetInputData(image);
    apart->SetDeviceIndex(1);
    Run(faulty, 0.3, "GPU 0", what + ": it, before");
    Run(other, 0.3, "GPU 0", what + ": before");
    Run(apart, 0.3, "GPU 1", what + ": before, another GPU");
    fakegpu::FailAt(static_cast<fakegpu::Call>(call), 1, PMB_INTERNAL);
    faulty->GetInput()->Modified();
    faulty->Update();
    PMB_EQUAL(faults.Errors(), 1, what + ": errors: " + faults.Text());
    PMB_EQUAL(other->GetDeviceBytes(), 0, what + ": bytes on the GPU");
    for (double isovalue : { 0.1, 0.2 })
    {
      Run(other, isovalue, "GPU 0", what + ": after");
      Run(faulty, isovalue, "GPU 0", what + ": it, after");
      Run(apart, isovalue, "GPU 1", what + ": after, another GPU");
    }
    PMB_EQUAL(other->GetNumberOfBinds(), 2, what + ": binds");
    PMB_EQUAL(other->GetNumberOfUploads(), 2, what + ": uploads");
    PMB_EQUAL(other->GetDeviceBytes(), VolumeBytes, what + ": bytes on the GPU after");
    PMB_EQUAL(apart->GetNumberOfBinds(), 1, what + ": binds, another GPU");
    PMB_EQUAL(messages.Errors() + messages.Warnings(), 0, what + ": " + messages.Text());
    PMB_EQUAL(apartMessages.Errors() + apartMessages.Warnings(), 0, what + ": " + apartMessages.Text());
    PMB_EQUAL(faults.Errors() + faults.Warnings(), 1, what + ": " + faults.Text());
    PMB_EQUAL(fakegpu::Faults(), 0, what + ": faults");
  }
}

// Suggestions stay.
void TestSuggestions()
{
  fakegpu::Reset();
  auto image = Volume();
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(image);
  Run(filter, 0.1, "GPU 0", "before a loss");
  const double suggested = filter->GetSuggestedIsovalues()->GetValue(0);
  fakegpu::LoseAll();
  PMB_EQUAL(filter->GetSuggestedIsovalues()->GetNumberOfValues(), 2, "suggestions of before");
  Run(filter, 0.2, "GPU 0", "after a loss");
  PMB_EQUAL(filter->GetSuggestedIsovalues()->GetValue(0), suggested, "the suggestion, from the new context");
  fakegpu::LoseAll();
  filter->ReleaseDeviceMemory();
  image->GetPointData()->GetScalars()->Modified();
  Run(filter, 0.4, "GPU 0", "a loss, a release and a change");
  fakegpu::LoseAll();
  filter->SetDevice(CPU);
  Run(filter, 0.5, "CPU (", "from a lost GPU to the CPU");
  PMB_EQUAL(messages.Errors() + messages.Warnings() + fakegpu::Faults(), 0, messages.Text());
}

void CheckBlocks(vtkPMBContourFilter* filter, vtkMultiBlockDataSet* blocks, unsigned empty, const std::string& what)
{
  auto* output = vtkMultiBlockDataSet::SafeDownCast(filter->GetOutputDataObject(0));
  for (unsigned i = 0; i < blocks->GetNumberOfBlocks(); ++i)
  {
    const std::string where = what + ", block " + std::to_string(i) + ": ";
    auto* mesh = vtkPolyData::SafeDownCast(output->GetBlock(i));
    if (i == empty)
    {
      PMB_EQUAL(mesh ? mesh->GetNumberOfCells() + mesh->GetNumberOfPoints() : 0, 0, where + "output of a failure");
      continue;
    }
    auto expected = Contour(vtkImageData::SafeDownCast(blocks->GetBlock(i)), filter->GetValue(0),
      [](vtkPMBContourFilter* f) { f->SetDevice(CPU); });
    std::string difference;
    PMB_CHECK(mesh && SameBytes(mesh, expected, difference), where << difference);
  }
}

// A block that fails is alone in that, and once.
void TestBlocksOfOne()
{
  const unsigned count = 4;
  for (int call = fakegpu::BIND; call <= fakegpu::EMIT; ++call)
  {
    const std::string what = std::string("a fault at ") + Names[call] + " of one of four blocks";
    fakegpu::Reset();
    vtkNew<vtkMultiBlockDataSet> blocks;
    for (unsigned i = 0; i < count; ++i)
    {
      blocks->SetBlock(i, Volume(8 + i));
    }
    vtkNew<vtkPMBContourFilter> filter;
    Messages messages(filter);
    filter->SetInputDataObject(blocks);
    filter->SetValue(0, 0.1);
    filter->Update();
    CheckBlocks(filter, blocks, count, what + ": before");
    fakegpu::FailAt(static_cast<fakegpu::Call>(call), 2, PMB_INTERNAL);
    filter->SetValue(0, 0.2);
    if (call == fakegpu::BIND)
    {
      for (unsigned i = 0; i < count; ++i)
      {
        vtkImageData::SafeDownCast(blocks->GetBlock(i))->GetPointData()->GetScalars()->Modified();
      }
      blocks->Modified();
    }
    filter->Update();
    CheckBlocks(filter, blocks, 1, what);
    PMB_EQUAL(messages.Errors(), 1, what + ": errors: " + messages.Text());
    PMB_CHECK(Has(messages.Text(), "the fake GPU has a fault"), what << ": " << messages.Text());
    PMB_CHECK(Has(filter->GetLastRunSummary(), "3 of 4 blocks"), what << ": " << filter->GetLastRunSummary());
    for (double isovalue : { 0.3, 0.4 })
    {
      filter->SetValue(0, isovalue);
      filter->Update();
      CheckBlocks(filter, blocks, count, what + ": after");
      const std::string summary = filter->GetLastRunSummary();
      PMB_CHECK(summary.find("GPU 0 (Fake): 4 of 4 blocks") == 0, what << ": " << summary);
    }
    PMB_EQUAL(messages.Errors() + messages.Warnings(), 1, what + ", in all: " + messages.Text());
    PMB_EQUAL(filter->GetNumberOfUploads(), fakegpu::Uploads(), what + ": uploads");
    PMB_EQUAL(filter->GetDeviceBytes(), count * VolumeBytes, what + ": bytes on the GPU");
    PMB_EQUAL(fakegpu::Faults(), 0, what + ": faults");
  }
}

// VTK's own code does what failed; after that both filters are accelerated again.
void TestAccelerated()
{
  using Acceleration = vtkPMBContourAcceleration;
  fakegpu::Reset();
  Acceleration::Enable();
  {
    auto image = MakeImage(40, 40, 40, VTK_FLOAT, Gyroid(9.1));
    vtkNew<vtkContourFilter> filters[2];
    Messages messages(filters[0]), others(filters[1]);
    const auto run = [&](int number, double isovalue, const std::string& said)
    {
      filters[number]->SetInputData(image);
      filters[number]->SetValue(0, isovalue);
      filters[number]->Update();
      PMB_EQUAL(filters[number]->GetOutput()->GetNumberOfPolys(), Contour(image, isovalue)->GetNumberOfPolys(),
        "an accelerated filter: triangles, " + said);
      PMB_CHECK(Has(Acceleration::GetLastRunSummary(), said), said << ": " << Acceleration::GetLastRunSummary());
    };
    for (int number : { 0, 1 })
    {
      run(number, 0.1, "accelerated: GPU 0");
    }
    fakegpu::FailAt(fakegpu::COUNT, 1, PMB_INTERNAL);
    run(0, 0.2, "by VTK's own code, because The contour failed: the fake GPU has a fault");
    for (int number : { 1, 0 })
    {
      run(number, 0.3, "accelerated: GPU 0");
    }
    PMB_EQUAL(messages.Errors() + messages.Warnings(), 0, messages.Text());
    PMB_EQUAL(others.Errors() + others.Warnings(), 0, others.Text());
  }
  Acceleration::Disable();
  PMB_EQUAL(fakegpu::Faults(), 0, "accelerated: faults");
}

// Loses everything at one of the filter's reports of progress, or at all from that one on.
struct Striker
{
  const int First, Last;
  int Reports = 0;
  vtkNew<vtkCallbackCommand> Strike; // to observe a filter's progress with

  Striker(int first, int last)
    : First(first)
    , Last(last)
  {
    this->Strike->SetClientData(this);
    this->Strike->SetCallback(OnProgress);
  }

  static void OnProgress(vtkObject*, unsigned long, void* data, void*)
  {
    auto* striker = static_cast<Striker*>(data);
    ++striker->Reports;
    if (striker->Reports >= striker->First && striker->Reports <= striker->Last)
    {
      fakegpu::LoseAll();
    }
  }
};

// Another thread's fault at any time of an execution: that begins again, once. Returns whether there was that time.
bool RunStruck(int report)
{
  const std::string what = "another thread's fault at report " + std::to_string(report);
  fakegpu::Reset();
  Striker striker(report, report);
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(Volume());
  filter->ComputeMeasuresOn();
  filter->AddObserver(vtkCommand::ProgressEvent, striker.Strike);
  Run(filter, 0.1, "GPU 0", what);
  PMB_CHECK(filter->GetNumberOfBinds() <= 2, what << ": binds: " << filter->GetNumberOfBinds());
  Run(filter, 0.2, "GPU 0", what + ", the next run");
  PMB_EQUAL(messages.Errors() + messages.Warnings() + fakegpu::Faults(), 0, what + ": " + messages.Text());
  return striker.Reports >= report;
}

void TestStruck()
{
  for (fakegpu::Call call : { fakegpu::BIND, fakegpu::SUGGEST, fakegpu::COUNT, fakegpu::EMIT })
  {
    const std::string what = "another thread's fault after call " + std::to_string(call);
    fakegpu::Reset();
    vtkNew<vtkPMBContourFilter> filter;
    Messages messages(filter);
    filter->SetInputData(Volume());
    filter->SetUseSuggestedIsovalue(call == fakegpu::SUGGEST);
    fakegpu::LoseAfter(call, 1);
    filter->Update();
    PMB_CHECK(filter->GetOutput()->GetNumberOfPolys() > 100, what << ": " << filter->GetLastRunSummary());
    PMB_CHECK(Has(filter->GetLastRunSummary(), "GPU 0"), what << ": " << filter->GetLastRunSummary());
    PMB_EQUAL(filter->GetNumberOfBinds(), call == fakegpu::EMIT ? 1 : 2, what + ": binds");
    filter->UseSuggestedIsovalueOff();
    Run(filter, 0.1, "GPU 0", what + ", the next run");
    PMB_EQUAL(filter->GetNumberOfBinds(), 2, what + ", the next run: binds");
    PMB_EQUAL(messages.Errors() + messages.Warnings() + fakegpu::Faults(), 0, what + ": " + messages.Text());
  }
  int report = 1;
  while (report < 200 && RunStruck(report))
  {
    ++report;
  }
  PMB_CHECK(report > 4, "reports of progress: " << report);
}

// What cannot be mended is told, in the words of a user.
void TestStruckTooOften()
{
  for (bool always : { true, false })
  {
    const std::string what = always ? "faults without an end" : "a fault in the same moment";
    fakegpu::Reset();
    Striker striker(always ? 1 : 1 << 30, 1 << 30);
    vtkNew<vtkPMBContourFilter> filter;
    Messages messages(filter);
    filter->SetInputData(Volume());
    filter->SetValue(0, 0.1);
    const unsigned long tag = filter->AddObserver(vtkCommand::ProgressEvent, striker.Strike);
    fakegpu::LoseAt(fakegpu::COUNT, always ? 0 : 1);
    filter->Update();
    PMB_EQUAL(messages.Errors(), 1, what + ": " + messages.Text());
    PMB_CHECK(
      Has(messages.Text(), "failed in another call and what it held is lost. The next execution starts afresh") &&
        !Has(messages.Text(), "destroy"),
      what << ": " << messages.Text());
    PMB_EQUAL(filter->GetOutput()->GetNumberOfPolys(), 0, what + ": triangles");
    filter->RemoveObserver(tag);
    Run(filter, 0.2, "GPU 0", what + ": after");
    PMB_EQUAL(messages.Errors() + messages.Warnings(), 1, what + ", in all: " + messages.Text());
    PMB_EQUAL(fakegpu::Faults(), 0, what + ": faults");
  }
}

// Threads that work while faults come at any time: only what met one in the same moment is an error.
void TestThreadsStruck()
{
  fakegpu::Reset();
  vtkNew<vtkPMBContourFilter> filters[2];
  Messages messages(filters[0]), others(filters[1]);
  std::atomic<int> working{ 2 };
  const auto work = [&](int number)
  {
    for (int i = 0; i < 100; ++i)
    {
      filters[number]->SetValue(0, 0.01 * i);
      filters[number]->Update();
      if (!filters[number]->GetOutput()->GetNumberOfPolys() &&
        !Has(filters[number]->GetLastRunSummary(), "failed in another call and what it held is lost. The next"))
      {
        Fail(__FILE__, __LINE__, std::string("no triangles: ") + filters[number]->GetLastRunSummary());
      }
    }
    --working;
  };
  std::thread threads[2];
  for (int number : { 0, 1 })
  {
    filters[number]->SetInputData(Volume(8 + number));
    threads[number] = std::thread(work, number);
  }
  while (working > 0)
  {
    fakegpu::LoseAll();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (int number : { 0, 1 })
  {
    threads[number].join();
    Run(filters[number], 0.1, "GPU 0", "after faults in threads");
  }
  PMB_EQUAL(messages.Warnings() + others.Warnings(), 0, messages.Text() + others.Text());
  PMB_EQUAL(fakegpu::Faults(), 0, "faults in threads");
}
}

void fakegputests::TestLosses()
{
  TestOtherFilters();
  TestSuggestions();
  TestBlocksOfOne();
  TestAccelerated();
  TestStruck();
  TestStruckTooOften();
  TestThreadsStruck();
}
