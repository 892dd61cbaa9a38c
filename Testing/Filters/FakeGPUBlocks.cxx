// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// A part of PMBFakeGPUTest: a volume of several blocks.
#include "FakeGPUTests.h"

#include "vtkMultiBlockDataSet.h"

using namespace fakegputests;
using namespace pmbtest;

namespace
{
// Of two blocks only one fits: each gets its device, with one warning, and the summary names both.
void TestDevicesOfBlocks()
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
}

void fakegputests::TestBlocks()
{
  TestDevicesOfBlocks();
  TestHeldBlocks();
}
