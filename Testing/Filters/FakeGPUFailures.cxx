// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// A part of PMBFakeGPUTest: failures at each step, measures that fail, an abort.
#include "FakeGPUTests.h"

#include "vtkCallbackCommand.h"
#include "vtkDataArray.h"
#include "vtkExecutive.h"
#include "vtkFieldData.h"
#include "vtkFloatArray.h"
#include "vtkSOADataArrayTemplate.h"

#include <cmath>

using namespace fakegputests;
using namespace pmbtest;

namespace
{
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
}

void fakegputests::TestFailures()
{
  TestOutOfMemory();
  TestCopies();
  TestInternalError();
  TestMeasures();
  TestAbort();
}
