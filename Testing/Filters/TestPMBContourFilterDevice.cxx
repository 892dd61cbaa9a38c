// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// The choice of the device, on any machine: with a GPU it computes, without one the CPU takes its place and says so. What a GPU
// can do wrong, and what is held on it: TestPMBContourFilterFakeGPU.
#include "PMBTesting.h"

#include "vtkDataArray.h"
#include "vtkNew.h"
#include "vtkPointData.h"

#include <iostream>

using namespace pmbtest;

namespace
{
// A filter on a volume; each run is checked against a fresh filter on the CPU.
struct Subject
{
  Subject()
    : Said(Filter)
  {
    this->Image = MakeImage(60, 50, 40, VTK_FLOAT, Gyroid(9.1));
    this->Image->GetPointData()->AddArray(MakeArray(this->Image, "other", VTK_SHORT, 2, 0, Noise(3, 1000)));
    this->Filter->SetInputData(this->Image);
    this->Filter->ComputeGradientsOn();
  }

  // Returns the summary.
  std::string Run(double isovalue, const std::string& what)
  {
    this->Filter->SetValue(0, isovalue);
    this->Filter->Update();
    auto expected = Contour(this->Image, isovalue,
      [](vtkPMBContourFilter* f)
      {
        f->SetDevice(vtkPMBContourFilter::CPU);
        f->ComputeGradientsOn();
      });
    std::string difference;
    PMB_CHECK(expected->GetNumberOfPolys() > 100, what << ": too few triangles for a test");
    PMB_CHECK(SameBytes(this->Filter->GetOutput(), expected, difference), what << ": " << difference);
    return this->Filter->GetLastRunSummary();
  }

  vtkSmartPointer<vtkImageData> Image;
  vtkNew<vtkPMBContourFilter> Filter;
  Messages Said;
};

// Device = GPU: the CPU's bytes in any case; without a GPU one warning in all, and the same reason in the summary.
void TestAsked(bool hasGPU)
{
  Subject s;
  s.Filter->SetDevice(vtkPMBContourFilter::GPU);
  s.Run(0.1, "Device is GPU");
  const std::string summary = s.Run(0.3, "Device is GPU");
  PMB_EQUAL(s.Said.Errors(), 0, "errors: " + s.Said.Text());
  PMB_EQUAL(s.Said.Warnings(), hasGPU ? 0 : 1, "warnings: " + s.Said.Text());
  PMB_EQUAL(s.Filter->GetNumberOfBinds(), 1, "volumes read");
  PMB_EQUAL(s.Filter->GetNumberOfUploads(), hasGPU ? 1 : 0, "uploads");
  PMB_EQUAL(s.Filter->GetDeviceBytes() > 0, hasGPU, "memory held there");
  if (hasGPU)
  {
    PMB_EQUAL(summary.find("GPU "), size_t(0), "summary: " + summary);
    return;
  }
  PMB_CHECK(Has(s.Said.Text(), "no GPU can be used: ") && Has(s.Said.Text(), "Set Device"),
    "the warning says what is wrong and what to do: " << s.Said.Text());
  const size_t because = summary.find(" because ");
  PMB_CHECK(summary.find("CPU (") == 0 && because != std::string::npos, "summary: " << summary);
  const std::string reason = summary.substr(because + 9, summary.find(": ", because) - because - 9);
  PMB_CHECK(reason.size() > 10 && Has(s.Said.Text(), reason), "summary and warning differ: " << summary);

  // The same reason is no news for this filter, whatever is set.
  s.Filter->SetDevice(vtkPMBContourFilter::CPU);
  PMB_CHECK(!Has(s.Run(0.2, "CPU"), "because"), "chosen, not fallen back to");
  s.Filter->SetDevice(vtkPMBContourFilter::GPU);
  s.Filter->SetDeviceMemoryLimit(0.5);
  s.Run(0.2, "GPU again");
  PMB_EQUAL(s.Said.Warnings(), 1, "a second warning: " + s.Said.Text());
  PMB_EQUAL(s.Filter->GetNumberOfBinds(), 1, "the CPU does not read the volume again for the GPU's settings");
}
}

int TestPMBContourFilterDevice(int, char*[])
{
  const bool hasGPU = Subject().Run(0.1, "Automatic").find("GPU ") == 0;
  std::cout << (hasGPU ? "With a GPU: what needs a machine without one is left out.\n"
                       : "Without a GPU that can be used: what needs one is left out.\n");
  TestAsked(hasGPU);
  return Result();
}
