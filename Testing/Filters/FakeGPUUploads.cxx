// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// A part of PMBFakeGPUTest: what the filter holds on the GPU: for how long, and what several filters share.
#include "FakeGPUTests.h"

#include "vtkCallbackCommand.h"
#include "vtkDataArray.h"
#include "vtkFloatArray.h"
#include "vtkSOADataArrayTemplate.h"
#include "vtkTrivialProducer.h"
#include "vtkWeakPointer.h"

#include <thread>

using namespace fakegputests;
using namespace pmbtest;

namespace
{
void TestVersions()
{
  fakegpu::Reset();
  auto image = Volume();
  vtkNew<vtkPMBContourFilter> first, second;
  first->SetInputData(image);
  second->SetInputData(image);
  Run(first, 0.1, "GPU 0", "first");
  Run(second, 0.2, "GPU 0", "second");
  std::vector<uint64_t> versions = fakegpu::Versions();
  PMB_CHECK(versions.size() == 2 && versions[0] != 0 && versions[0] == versions[1], "two filters, one state");
  image->GetPointData()->GetScalars()->Modified();
  Run(first, 0.1, "GPU 0", "the array has changed");
  image->Modified();
  Run(first, 0.1, "GPU 0", "the image has changed");
  versions = fakegpu::Versions();
  PMB_EQUAL(versions.size(), size_t(4), "uploads");
  PMB_CHECK(versions[1] < versions[2] && versions[2] < versions[3], "other states, other versions");
  // A producer of their own for several filters; marked alone, it must have the volume read again.
  vtkNew<vtkTrivialProducer> producer;
  producer->SetOutput(image);
  for (vtkPMBContourFilter* filter : { first.Get(), second.Get() })
  {
    filter->SetInputConnection(producer->GetOutputPort());
    Run(filter, 0.1, "GPU 0", "behind a producer");
  }
  versions = fakegpu::Versions();
  PMB_CHECK(versions[versions.size() - 1] == versions[versions.size() - 2], "behind a producer: one state");
  producer->Modified();
  Run(first, 0.2, "GPU 0", "the producer was marked");
  Run(second, 0.2, "GPU 0", "the producer was marked");
  versions = fakegpu::Versions();
  const size_t n = versions.size();
  PMB_CHECK(
    versions[n - 1] == versions[n - 2] && versions[n - 3] < versions[n - 1], "marked: another state, one for all");
  // Whoever knows of a later change must not be given what others have read before.
  vtkNew<vtkTrivialProducer> known;
  known->SetOutput(image);
  vtkNew<vtkPMBContourFilter> third;
  third->SetInputConnection(known->GetOutputPort());
  Run(third, 0.1, "GPU 0", "a producer that was made later");
  PMB_CHECK(fakegpu::Versions().back() > versions.back(), "a change that only one knows of");
  vtkNew<vtkSOADataArrayTemplate<float>> soa;
  soa->DeepCopy(image->GetPointData()->GetScalars());
  image->GetPointData()->SetScalars(soa);
  Run(first, 0.1, "GPU 0", "a structure of arrays");
  PMB_EQUAL(fakegpu::Versions().back(), uint64_t(0), "a copy is nobody else's");
}

void TestArrayDeleted()
{
  fakegpu::Reset();
  for (bool elsewhere : { false, true })
  {
    vtkNew<vtkPMBContourFilter> filter, same;
    auto image = Volume();
    vtkWeakPointer<vtkDataArray> array = image->GetPointData()->GetScalars();
    filter->SetInputData(image);
    same->SetInputData(image);
    Run(filter, 0.1, "GPU 0", "first");
    Run(same, 0.1, "GPU 0", "another filter");
    PMB_EQUAL(fakegpu::BytesHeld(), 2 * VolumeBytes, "bytes on the GPU");
    filter->SetInputData(nullptr);
    same->SetInputData(nullptr);
    PMB_EQUAL(fakegpu::BytesHeld(), 2 * VolumeBytes, "the array is still there");
    std::thread other([&]() { image = elsewhere ? nullptr : image; });
    other.join();
    image = nullptr;
    PMB_CHECK(!array, "the array is kept alive");
    PMB_EQUAL(filter->GetDeviceBytes() + same->GetDeviceBytes() + fakegpu::BytesHeld(), 0, "left on the GPU");
    filter->SetInputData(Volume(8.8));
    Run(filter, 0.1, "GPU 0", "the next volume");
    PMB_EQUAL(fakegpu::BytesHeld(), VolumeBytes, "bytes of the next volume");
  }
  PMB_EQUAL(fakegpu::BytesHeld() + fakegpu::Contexts(), 0, "after the filters");

  // The filter goes first; the filter has moved on; all observers were removed.
  auto image = Volume(), next = Volume(7.9);
  {
    vtkNew<vtkPMBContourFilter> filter;
    filter->SetInputData(image);
    Run(filter, 0.1, "GPU 0", "a short life");
  }
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputData(image);
  Run(filter, 0.1, "GPU 0", "first");
  filter->SetInputData(next);
  Run(filter, 0.1, "GPU 0", "moved on");
  image = nullptr;
  PMB_EQUAL(filter->GetDeviceBytes(), VolumeBytes, "the deleted array is not the bound one");
  next->GetPointData()->GetScalars()->RemoveAllObservers();
  next->Modified();
  Run(filter, 0.2, "GPU 0", "bound again");
  filter->SetInputData(nullptr);
  next = nullptr;
  PMB_EQUAL(filter->GetDeviceBytes(), 0, "after all observers were removed");
  PMB_EQUAL(fakegpu::Faults(), 0, "faults");
}

void TestRelease()
{
  fakegpu::Reset();
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputData(Volume());
  Run(filter, 0.1, "GPU 0", "first");
  filter->ReleaseDeviceMemory();
  PMB_EQUAL(filter->GetDeviceBytes() + fakegpu::BytesHeld(), 0, "bytes after the release");
  PMB_EQUAL(fakegpu::Trims(), 1, "the pool is trimmed");
  Run(filter, 0.1, "GPU 0", "nothing to do");
  PMB_EQUAL(fakegpu::Uploads(), 1, "uploads when nothing has changed");
  Run(filter, 0.2, "GPU 0", "the next run");
  PMB_EQUAL(fakegpu::Uploads(), 2, "uploads after the release");

  // From within a run: at its end.
  vtkNew<vtkCallbackCommand> releaser;
  releaser->SetClientData(filter.Get());
  releaser->SetCallback([](vtkObject*, unsigned long, void* data, void*)
    { static_cast<vtkPMBContourFilter*>(data)->ReleaseDeviceMemory(); });
  filter->AddObserver(vtkCommand::ProgressEvent, releaser);
  Run(filter, -0.3, "GPU 0", "released while running");
  PMB_EQUAL(filter->GetDeviceBytes() + fakegpu::BytesHeld(), 0, "bytes after the run");
  PMB_CHECK(fakegpu::Trims() >= 2, "the pool is trimmed");
  PMB_EQUAL(fakegpu::Faults(), 0, "faults");
}
}

void fakegputests::TestUploads()
{
  TestVersions();
  TestArrayDeleted();
  TestRelease();
}
