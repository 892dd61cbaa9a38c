// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the parts of PMBFakeGPUTest share: a volume, and a run of the filter on a device, which is checked. Each part has a
// file of its name: FakeGPUDevices.cxx, ...
#ifndef FakeGPUTests_h
#define FakeGPUTests_h

#include "FakeGPU.h"
#include "PMBTesting.h"

#include "vtkNew.h"
#include "vtkPointData.h"

#include <string>

namespace fakegputests
{
const int CPU = vtkPMBContourFilter::CPU;
const int GPU = vtkPMBContourFilter::GPU;

// With a second array of shorts, "other".
vtkSmartPointer<vtkImageData> Volume(double period = 9.1);
const int64_t VolumeBytes = 60 * 50 * 40 * 4; // of its scalars

// Runs the filter and checks its mesh against the CPU's, and the beginning of what it says of the run.
void Run(vtkPMBContourFilter* filter, double isovalue, const std::string& device, const std::string& what);

// The parts.
void TestDevices();
void TestFailures();
void TestLosses();
void TestUploads();
void TestOutputMemory();
void TestBlocks();
void TestThreads();
void TestExplore();
}
#endif
