// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// The filter reuses the memory of its old output, without new pages, unless other code holds it; it keeps none between
// executions. Too little memory is an error.
#include "PMBTesting.h"

#include "vtkCellArray.h"
#include "vtkExecutive.h"
#include "vtkFloatArray.h"
#include "vtkNew.h"
#include "vtkPointData.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <string>
#include <sys/resource.h>

using namespace pmbtest;

namespace
{
// Page faults so far; a huge page counts once.
long PageFaults()
{
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

double ResidentMegabytes()
{
  std::ifstream statm("/proc/self/statm");
  long total = 0, resident = 0;
  statm >> total >> resident;
  return resident * 4096 / 1e6;
}

// About 1.5 million points and 3 million triangles: some 80 MB of output.
void Prepare(vtkPMBContourFilter* filter)
{
  static auto image = MakeImage(128, 128, 128, VTK_UNSIGNED_CHAR, Noise(11, 200));
  filter->SetInputData(image);
  filter->SetDevice(vtkPMBContourFilter::CPU); // CUDA would reserve address space
  filter->SetNumberOfThreads(1);
  filter->SetValue(0, 99.5);
  filter->Update();
}

vtkSmartPointer<vtkPolyData> Fresh(vtkPMBContourFilter* filter)
{
  return Contour(vtkImageData::SafeDownCast(filter->GetInput()), filter->GetValue(0));
}

void TestPages()
{
  vtkNew<vtkPMBContourFilter> filter;
  Prepare(filter);
  filter->SetValue(0, 98.5); // may need slightly more memory
  filter->Update();
  for (double isovalue : { 99.5, 98.5, 99.5 })
  {
    const long before = PageFaults();
    filter->SetValue(0, isovalue);
    filter->Update();
    const long faults = PageFaults() - before;
    PMB_CHECK(faults < 20, faults << " new pages, though the old mesh's memory was there");
  }
  std::string difference;
  PMB_CHECK(SameBytes(filter->GetOutput(), Fresh(filter), difference), "the same mesh: " << difference);
}

// A mesh, and an array that shares memory with one, stay as they are, also after the filter is deleted.
void TestHeld()
{
  vtkNew<vtkPolyData> held;
  vtkNew<vtkFloatArray> shared;
  vtkSmartPointer<vtkPolyData> first;
  {
    vtkNew<vtkPMBContourFilter> filter;
    Prepare(filter);
    first = Fresh(filter);
    held->ShallowCopy(filter->GetOutput());
    filter->SetValue(0, 60.5);
    filter->Update();
    shared->ShallowCopy(filter->GetOutput()->GetPointData()->GetNormals());
    for (double isovalue : { 61.5, 60.5, 99.5, 140.5 })
    {
      filter->SetValue(0, isovalue);
      filter->Update();
      std::string difference;
      PMB_CHECK(SameBytes(filter->GetOutput(), Fresh(filter), difference), isovalue << ": " << difference);
    }
    filter->SetValue(0, 60.5);
    auto again = Fresh(filter);
    vtkFloatArray* normals = vtkFloatArray::SafeDownCast(again->GetPointData()->GetNormals());
    PMB_EQUAL(shared->GetNumberOfValues(), normals->GetNumberOfValues(), "values of the shared array");
    PMB_CHECK(std::equal(
                normals->GetPointer(0), normals->GetPointer(0) + normals->GetNumberOfValues(), shared->GetPointer(0)),
      "memory that another array shares was written to");
  }
  std::string difference;
  PMB_CHECK(SameBytes(held, first, difference), "a mesh that was held changed: " << difference);
}

// Memory returns to the system when the output is emptied or gets much smaller.
void TestGivenBack()
{
  vtkNew<vtkPMBContourFilter> filter;
  Prepare(filter);
  const double full = ResidentMegabytes();
  filter->GetOutput()->Initialize();
  const double emptied = ResidentMegabytes();
  PMB_CHECK(full - emptied > 60, "an emptied output gave back " << full - emptied << " MB");
  filter->Modified();
  filter->Update();
  filter->SetValue(0, 1.5);
  filter->Update();
  const double small = ResidentMegabytes();
  PMB_CHECK(small - emptied < 45, "beside a small mesh " << small - emptied << " MB are kept");
}

rlim_t AddressSpaceInUse()
{
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  return pages * 4096;
}

// Limits growth of the address space until the end of the scope.
class Limit
{
public:
  explicit Limit(rlim_t more)
  {
    getrlimit(RLIMIT_AS, &this->Before);
    rlimit limit = this->Before;
    limit.rlim_cur = AddressSpaceInUse() + more;
    setrlimit(RLIMIT_AS, &limit);
  }
  ~Limit() { setrlimit(RLIMIT_AS, &this->Before); }

private:
  rlimit Before;
};

// Too little memory for the mesh: an error, an empty output, and a filter that works again with enough memory.
void TestTooLittle()
{
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter), pipeline(filter->GetExecutive());
  Prepare(filter);
  filter->SetValue(0, 2.5);
  filter->Update(); // reads the volume and starts the threads
  const vtkIdType few = filter->GetOutput()->GetNumberOfPolys();
  filter->SetValue(0, 99.5);
  int failures = 0;
  std::string said;
  for (rlim_t megabytes : { 0, 2, 10, 20, 40, 60 })
  {
    messages.Clear();
    filter->Modified();
    {
      Limit limit(megabytes << 20);
      filter->Update();
    }
    if (messages.Errors())
    {
      ++failures;
      said += messages.Text();
      PMB_EQUAL(messages.Errors(), 1, "errors");
      PMB_CHECK(messages.Text().find("memory") != std::string::npos, "the error names memory: " << messages.Text());
      PMB_EQUAL(filter->GetOutput()->GetNumberOfPoints() + filter->GetOutput()->GetNumberOfCells(), 0, "half a mesh");
      PMB_EQUAL(std::string(filter->GetLastRunSummary()).find("Failed: "), size_t(0), "summary");
    }
  }
  std::cout << failures << " of 6 runs had too little memory\n";
  PMB_CHECK(failures >= 3, "the limits were too wide for this test");
  messages.Clear();
  filter->Modified();
  filter->Update();
  PMB_CHECK(filter->GetOutput()->GetNumberOfPolys() > few, "with enough memory: " << messages.Text());
  PMB_EQUAL(messages.Errors() + pipeline.Errors(), 0, "with enough memory: " + messages.Text() + pipeline.Text());
  const std::string size = std::to_string(filter->GetOutput()->GetNumberOfPolys()) + " triangles and " +
    std::to_string(filter->GetOutput()->GetNumberOfPoints()) + " points";
  PMB_CHECK(Has(said, "for the mesh of " + size), "what there was no memory for: " << said);
  std::string difference;
  PMB_CHECK(SameBytes(filter->GetOutput(), Fresh(filter), difference), "the same mesh: " << difference);
}
}

int TestPMBContourFilterMemory(int, char*[])
{
  TestTooLittle();
  TestPages();
  TestHeld();
  TestGivenBack();
  return Result();
}
