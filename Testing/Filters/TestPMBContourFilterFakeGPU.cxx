// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// What the filter does with a GPU, without one: failures of each kind at each step, what it holds there and when it lets
// go, the memory of its output. The GPU is FakeGPU's; nothing here says that the real one computes right.
#include "FakeGPUTests.h"

using namespace fakegputests;
using namespace pmbtest;

vtkSmartPointer<vtkImageData> fakegputests::Volume(double period)
{
  auto image = MakeImage(60, 50, 40, VTK_FLOAT, Gyroid(period));
  image->GetPointData()->AddArray(MakeArray(image, "other", VTK_SHORT, 2, 0, Noise(3, 1000)));
  return image;
}

void fakegputests::Run(
  vtkPMBContourFilter* filter, double isovalue, const std::string& device, const std::string& what)
{
  filter->SetValue(0, isovalue);
  filter->Update();
  auto* image = vtkImageData::SafeDownCast(filter->GetInput());
  auto expected = Contour(image, isovalue, [](vtkPMBContourFilter* f) { f->SetDevice(CPU); });
  std::string difference;
  PMB_CHECK(expected->GetNumberOfPolys() > 100, what << ": too few triangles for a test");
  PMB_CHECK(SameBytes(filter->GetOutput(), expected, difference), what << ": " << difference);
  const std::string summary = filter->GetLastRunSummary();
  PMB_EQUAL(summary.find(device), size_t(0), what + ": not by the " + device + ": " + summary);
}

int main()
{
  TestDevices();
  TestFailures();
  TestLosses();
  TestUploads();
  TestOutputMemory();
  TestBlocks();
  TestThreads();
  TestExplore();
  // One output lives until the process ends.
  static auto forever = Contour(Volume(), 0.1);
  PMB_CHECK(fakegpu::PiecesHeld() > 0, "an output that outlives main()");
  return Result();
}
