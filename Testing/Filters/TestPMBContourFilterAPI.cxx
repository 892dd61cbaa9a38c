// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Defaults, setters, modification times, PrintSelf. (The list of isovalues: test_vtk.py; output for the settings: the fuzzer.)
#include "PMBTesting.h"

#include "vtkNew.h"

#include <initializer_list>
#include <limits>

using namespace pmbtest;

namespace
{
void TestClamps(vtkPMBContourFilter* filter)
{
  Messages messages(filter);
  for (const auto& threads : { std::make_pair(1024, 1024), std::make_pair(-3, 0), std::make_pair(5000, 1024) })
  {
    messages.Clear();
    filter->SetNumberOfThreads(threads.first);
    PMB_EQUAL(filter->GetNumberOfThreads(), threads.second, "threads");
    const bool told = Has(messages.Text(), "cannot be " + std::to_string(threads.first) + ":") &&
      Has(messages.Text(), ". " + std::to_string(threads.second) + " is used");
    PMB_EQUAL(messages.Warnings() == 1 && told, threads.first != threads.second, "a warning of threads");
  }
  filter->SetNormalEstimator(3);
  PMB_EQUAL(filter->GetNormalEstimator(), +vtkPMBContourFilter::SOBEL, "an estimator that does not exist");
  filter->SetNormalEstimator(-1);
  PMB_EQUAL(filter->GetNormalEstimator(), +vtkPMBContourFilter::CENTRAL_DIFFERENCES, "an estimator below the least");
  filter->SetDevice(99);
  PMB_EQUAL(filter->GetDevice(), +vtkPMBContourFilter::GPU, "a device that does not exist");
  filter->SetDeviceIndex(-7);
  PMB_EQUAL(filter->GetDeviceIndex(), -1, "an index below the least");
  filter->SetDeviceMemoryLimit(2.5);
  messages.Clear();
  filter->SetDeviceMemoryLimit(std::numeric_limits<double>::quiet_NaN());
  PMB_EQUAL(filter->GetDeviceMemoryLimit(), 2.5, "NaN is refused");
  PMB_EQUAL(messages.Errors(), 1, "errors for NaN");
  PMB_CHECK(messages.Text().find("GPU Memory Limit) cannot be nan") != std::string::npos, messages.Text());
  filter->SetDeviceMemoryLimit(-1.0);
  PMB_EQUAL(filter->GetDeviceMemoryLimit(), 2.5, "a negative limit is refused");
  PMB_EQUAL(messages.Errors(), 2, "errors for NaN and -1");
  PMB_CHECK(messages.Text().find("cannot be -1") != std::string::npos, messages.Text());
  filter->SetOutputPointsPrecision(17);
  PMB_EQUAL(filter->GetOutputPointsPrecision(), +vtkAlgorithm::DEFAULT_PRECISION, "a precision that does not exist");
}

// Each setter makes the pipeline run again; setting the same value again does not.
void TestModified(vtkPMBContourFilter* filter)
{
  const std::vector<std::pair<const char*, std::function<void()>>> setters = {
    { "SetValue", [=]() { filter->SetValue(0, 3.25); } },
    { "ComputeNormals", [=]() { filter->ComputeNormalsOff(); } },
    { "NormalEstimator", [=]() { filter->SetNormalEstimator(vtkPMBContourFilter::FORWARD_DIFFERENCES); } },
    { "ComputeGradients", [=]() { filter->ComputeGradientsOn(); } },
    { "ComputeScalars", [=]() { filter->ComputeScalarsOff(); } },
    { "InterpolateAttributes", [=]() { filter->InterpolateAttributesOff(); } },
    { "RemoveDegenerateTriangles", [=]() { filter->RemoveDegenerateTrianglesOff(); } },
    { "Use64BitIds", [=]() { filter->Use64BitIdsOff(); } },
    { "OutputPointsPrecision", [=]() { filter->SetOutputPointsPrecision(vtkAlgorithm::DOUBLE_PRECISION); } },
    { "ArrayComponent", [=]() { filter->SetArrayComponent(2); } },
    { "Device", [=]() { filter->SetDevice(vtkPMBContourFilter::CPU); } },
    { "DeviceIndex", [=]() { filter->SetDeviceIndex(1); } },
    { "DeviceMemoryLimit", [=]() { filter->SetDeviceMemoryLimit(0.5); } },
    { "NumberOfThreads", [=]() { filter->SetNumberOfThreads(3); } },
    { "MemoryLimit", [=]() { filter->SetMemoryLimit(7); } },
    { "PiecesFileName", [=]() { filter->SetPiecesFileName("of.pvtp"); } },
  };
  for (const auto& setter : setters)
  {
    const vtkMTimeType before = filter->GetMTime();
    setter.second();
    const vtkMTimeType after = filter->GetMTime();
    PMB_CHECK(after > before, setter.first << " does not modify the filter");
    setter.second();
    PMB_EQUAL(filter->GetMTime(), after, std::string(setter.first) + " changes the MTime without a change");
  }
}

// PrintSelf prints the defaults, and changed values.
void TestPrint(vtkPMBContourFilter* filter, std::initializer_list<const char*> lines)
{
  std::ostringstream text;
  filter->Print(text);
  for (const char* line : lines)
  {
    PMB_CHECK(Has(text.str(), line), "PrintSelf does not say '" << line << "': " << text.str());
  }
}
}

int TestPMBContourFilterAPI(int, char*[])
{
  vtkNew<vtkPMBContourFilter> fresh, clamps, changed;
  PMB_CHECK(fresh->GetNumberOfContours() == 1 && fresh->GetValue(0) == 0, "one isovalue, 0, to begin with");
  TestPrint(fresh,
    { "Contour Values:", "Compute Normals: On", "Normal Estimator: Central Differences", "Compute Gradients: Off",
      "Compute Scalars: On", "Interpolate Attributes: On", "Remove Degenerate Triangles: On", "Use 64 Bit Ids: On",
      "Output Points Precision: 2", "Array Component: 0", "Device: Automatic", "Device Index: -1",
      "Device Memory Limit: 0\n", "Number Of Threads: 0", "Number Of Binds: 0", "Number Of Uploads: 0",
      "Device Bytes: 0", "Peak Extra Bytes: 0", "Last Run Summary: Not run yet" });
  TestClamps(clamps);
  TestModified(changed);
  TestPrint(changed, { "Compute Normals: Off", "Normal Estimator: Forward Differences", "Device: CPU" });
  return Result();
}
