// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Progress never falls and ends at 1; an abort, at whatever stage and from whatever thread, stops soon and
// leaves nothing. Soon: with less than a fifth of the work of a whole run, in processor time, which other programs do not use up.
#include "PMBTesting.h"
#include "ProgressRuns.h"

#include "vtkCellData.h"
#include "vtkCommand.h"
#include "vtkDataArray.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationIntegerKey.h"
#include "vtkIntArray.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkVersionMacros.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <iostream>
#include <thread>

using namespace pmbtest;

namespace
{
double ProcessorTime()
{
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// Notes progress, and asks for an abort once it has come to a given point.
class Watcher : public vtkCommand
{
public:
  static Watcher* New() { return new Watcher; }
  void Execute(vtkObject* caller, unsigned long, void* data) override
  {
    const double progress = *static_cast<double*>(data);
    this->Falls += progress < this->Last;
    this->OutOfRange += !(progress >= 0 && progress <= 1);
    this->Last = progress;
    ++this->Events;
    if (progress >= this->AbortAt && this->AbortedAt < 0)
    {
      static_cast<vtkAlgorithm*>(caller)->SetAbortExecute(1);
      this->AbortedAt = ProcessorTime();
    }
  }
  double Last = -1;
  double AbortAt = 2;
  double AbortedAt = -1;
  int Events = 0, Falls = 0, OutOfRange = 0;
};

void TestProgress(vtkImageData* image)
{
  vtkNew<vtkPMBContourFilter> filter;
  vtkNew<Watcher> watcher;
  filter->AddObserver(vtkCommand::ProgressEvent, watcher);
  filter->SetInputData(image);
  for (double isovalue : { 0.1, 0.2 }) // with reading the volume, and without
  {
    watcher->Last = -1;
    watcher->Events = 0;
    filter->SetValue(0, isovalue);
    const double start = Now();
    filter->Update();
    const double most = 120 + 50 * (Now() - start); // every percent, and every 20 ms
    PMB_CHECK(watcher->Events >= 4, "only " << watcher->Events << " progress events");
    PMB_CHECK(watcher->Events <= most, watcher->Events << " progress events are too many to show");
    PMB_EQUAL(watcher->Falls, 0, "progress falls");
    PMB_EQUAL(watcher->OutOfRange, 0, "progress outside 0 to 1");
    PMB_EQUAL(watcher->Last, 1.0, "progress ends at 1");
  }
}

void CheckEmpty(vtkPMBContourFilter* filter, const std::string& what)
{
  vtkPolyData* output = filter->GetOutput();
  PMB_EQUAL(output->GetNumberOfPoints(), 0, what + ": points after an abort");
  PMB_EQUAL(output->GetNumberOfCells(), 0, what + ": triangles after an abort");
  PMB_EQUAL(output->GetPointData()->GetNumberOfTuples(), 0, what + ": arrays after an abort");
  PMB_EQUAL(std::string(filter->GetLastRunSummary()), std::string("Aborted"), what + ": summary");
}

void TestAbortAt(vtkImageData* image, double progress, vtkIdType expected, double whole)
{
  const std::string what = "abort at " + std::to_string(progress);
  double best = 1e9;
  for (int attempt = 0; attempt < 5 && best > 0.2 * whole; ++attempt)
  {
    vtkNew<vtkPMBContourFilter> filter;
    vtkNew<Watcher> watcher;
    watcher->AbortAt = progress;
    filter->AddObserver(vtkCommand::ProgressEvent, watcher);
    Messages messages(filter);
    filter->SetInputData(image);
    filter->SetValue(0, 0.1);
    filter->Update();
    best = std::min(best, ProcessorTime() - watcher->AbortedAt);
    PMB_CHECK(watcher->AbortedAt > 0, what << ": never came so far");
    CheckEmpty(filter, what);
    PMB_EQUAL(messages.Errors() + messages.Warnings(), 0, what + ": an abort is no error");
#if VTK_VERSION_NUMBER > VTK_VERSION_CHECK(9, 2, 20220000)
    PMB_EQUAL(filter->GetOutputInformation(0)->Get(vtkAlgorithm::ABORTED()), 1, what + ": the output says so");
#endif
    watcher->AbortAt = 2;
    filter->SetAbortExecute(0);
    filter->Update();
    PMB_EQUAL(filter->GetOutput()->GetNumberOfPolys(), expected, what + ": triangles of the run after the abort");
  }
  std::cout << what << ": stopped after " << 1000 * best << " ms\n";
  PMB_CHECK(best < 0.2 * whole, what << ": took " << best << " s to stop a run of " << whole << " s");
}

void TestAbortFromThread(vtkImageData* image, double whole)
{
  double best = 1e9;
  for (int milliseconds : { 5, 20, 40, 10, 30 })
  {
    vtkNew<vtkPMBContourFilter> filter;
    filter->SetInputData(image);
    filter->GenerateValues(200, -1.0, 1.0);
    std::atomic<double> aborted(-1);
    std::atomic<bool> started(false);
    std::thread user(
      [&]()
      {
        while (!started)
        {
          std::this_thread::yield();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        filter->SetAbortExecute(1);
        aborted = ProcessorTime();
      });
    started = true;
    filter->Update();
    const double ended = ProcessorTime();
    user.join();
    best = std::min(best, ended - aborted);
    CheckEmpty(filter, "abort from another thread");
  }
  std::cout << "abort from another thread: stopped after " << 1000 * best << " ms\n";
  PMB_CHECK(best < 0.2 * whole, "an abort from another thread took " << best << " s in a run of " << whole << " s");
}
}

int TestPMBContourFilterProgress(int, char*[])
{
  auto image = MakeImage(220, 220, 220, VTK_FLOAT, Gyroid(12.7));
  // Cell arrays are copied after the core has finished, and must not delay an abort.
  vtkNew<vtkIntArray> cells;
  cells->SetName("cells");
  cells->SetNumberOfTuples(image->GetNumberOfCells());
  cells->Fill(1);
  image->GetCellData()->AddArray(cells);
  const double start = ProcessorTime();
  const vtkIdType expected = Contour(image, 0.1)->GetNumberOfPolys();
  const double whole = ProcessorTime() - start;
  PMB_CHECK(expected > 1000000, "the mesh is too small for this test");
  TestProgress(image);
  for (double progress : { 0.0, 0.1, 0.45, 0.7, 0.95 })
  {
    TestAbortAt(image, progress, expected, whole);
  }
  TestAbortFromThread(image, whole);
  return Result();
}
