// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// A part of PMBFakeGPUTest: a dragged isovalue and suggestions with a volume on the GPU.
#include "FakeGPUTests.h"

#include "vtkDoubleArray.h"
#include "vtkTable.h"

#include <cmath>

using namespace pmbtest;

namespace
{
vtkSmartPointer<vtkImageData> Volume()
{
  return MakeImage(60, 50, 40, VTK_FLOAT, Gyroid(9.1));
}

// A thousand isovalues: one upload, one summary, and the same memory on the GPU.
void TestDrag()
{
  fakegpu::Reset();
  auto image = Volume();
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(image);
  filter->SetNumberOfThreads(1);
  int64_t bytes = 0;
  for (int n = 0; n < 1000; ++n)
  {
    filter->SetValue(0, std::sin(0.1 * n));
    filter->Update();
    PMB_CHECK(filter->GetOutput()->GetNumberOfPolys() > 100, "isovalue number " << n);
    bytes = n == 0 ? fakegpu::BytesHeld() : bytes;
  }
  PMB_EQUAL(fakegpu::Uploads(), 1, "uploads");
  PMB_EQUAL(filter->GetNumberOfUploads(), 1, "uploads, as the filter says");
  PMB_EQUAL(filter->GetNumberOfBinds(), 1, "binds");
  PMB_EQUAL(fakegpu::BytesHeld(), bytes, "bytes on the GPU");
  PMB_CHECK(bytes > 0, "there is nothing on the GPU");
  PMB_EQUAL(filter->GetSuggestedIsovalues()->GetNumberOfValues(), 2, "suggestions");
  PMB_EQUAL(fakegpu::Uploads(), 1, "uploads after the suggestions");
  PMB_EQUAL(messages.Warnings() + messages.Errors() + fakegpu::Faults(), 0, messages.Text());
}

// Failures while suggestions are made: as those of any other step.
void TestFailedSuggestions()
{
  fakegpu::Reset();
  auto image = Volume();
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(image);
  filter->UseSuggestedIsovalueOn();
  fakegpu::FailAt(fakegpu::SUGGEST, 1, PMB_OUT_OF_MEMORY);
  filter->Update();
  PMB_CHECK(filter->GetOutput()->GetNumberOfPolys() > 100, "out of memory: the CPU goes on");
  PMB_CHECK(Has(filter->GetLastRunSummary(), "CPU (") && Has(filter->GetLastRunSummary(), "was suggested"),
    "out of memory: " << filter->GetLastRunSummary());
  PMB_EQUAL(messages.Warnings(), 1, "out of memory: " + messages.Text());

  fakegpu::Reset();
  messages.Clear();
  vtkNew<vtkPMBContourFilter> other;
  Messages others(other);
  other->SetInputData(image);
  other->UseSuggestedIsovalueOn();
  fakegpu::FailAt(fakegpu::SUGGEST, 1, PMB_INTERNAL);
  other->Update();
  PMB_EQUAL(other->GetOutput()->GetNumberOfPolys(), 0, "a fault: triangles");
  PMB_EQUAL(others.Errors(), 1, "a fault: " + others.Text());
  other->Modified();
  other->Update();
  PMB_CHECK(other->GetOutput()->GetNumberOfPolys() > 100, "after a fault: " << other->GetLastRunSummary());

  // Outside of an execution: the table is empty, and the next execution starts afresh.
  other->UseSuggestedIsovalueOff();
  image->Modified();
  other->Update();
  fakegpu::FailAt(fakegpu::SUGGEST, 1, PMB_INTERNAL);
  vtkNew<vtkTable> table;
  other->GetIsovalueHistogram(64, table);
  PMB_EQUAL(table->GetNumberOfRows(), 0, "rows after a fault");
  other->SetValue(0, 0.3);
  other->Update();
  PMB_CHECK(other->GetOutput()->GetNumberOfPolys() > 100, "after such a fault: " << other->GetLastRunSummary());
  PMB_EQUAL(other->GetSuggestedIsovalues()->GetNumberOfValues(), 2, "suggestions then");
  PMB_EQUAL(others.Errors() + fakegpu::Faults(), 1, "in all: " + others.Text());
}

// What is let go of the GPU: suggestions stay.
void TestLetGo()
{
  fakegpu::Reset();
  auto image = Volume();
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputData(image);
  filter->Update();
  const double suggested = filter->GetSuggestedIsovalues()->GetValue(0);
  filter->ReleaseDeviceMemory();
  PMB_EQUAL(filter->GetSuggestedIsovalues()->GetNumberOfValues(), 2, "suggestions after the release");
  PMB_EQUAL(filter->GetSuggestedIsovalues()->GetValue(0), suggested, "the suggestion after the release");
  PMB_EQUAL(fakegpu::Faults(), 0, "faults");
}
}

void fakegputests::TestExplore()
{
  TestDrag();
  TestFailedSuggestions();
  TestLetGo();
}
