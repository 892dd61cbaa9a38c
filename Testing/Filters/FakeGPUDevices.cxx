// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// A part of PMBFakeGPUTest: which device an execution is on: as chosen, within the limit of memory, and when the GPU comes and goes.
#include "FakeGPUTests.h"

using namespace fakegputests;
using namespace pmbtest;

namespace
{
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

void fakegputests::TestDevices()
{
  TestChoice();
  TestLimit();
  TestComesAndGoes();
}
