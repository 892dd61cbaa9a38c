// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Too little memory for the mesh: an error, no half mesh, and a filter that works once there is memory again.
#include "PMBTesting.h"

#include "vtkExecutive.h"
#include "vtkNew.h"

#include <fstream>
#include <iostream>
#include <sys/resource.h>

using namespace pmbtest;

namespace
{
rlim_t AddressSpaceInUse()
{
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  return pages * 4096;
}

// Lets the process have so much more address space and no more, until the end of the scope.
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

}

int TestPMBContourFilterMemory(int, char*[])
{
  // About 1.5 million points and 3 million triangles: some 80 MB of output.
  auto image = MakeImage(128, 128, 128, VTK_UNSIGNED_CHAR, Noise(11, 200));
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter), pipeline(filter->GetExecutive());
  filter->SetInputData(image);
  filter->SetDevice(vtkPMBContourFilter::CPU); // CUDA takes address space as it likes
  filter->SetValue(0, 2.5);
  filter->Update(); // the volume is read and the threads are there
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
  PMB_CHECK(SameBytes(filter->GetOutput(), Contour(image, 99.5), difference), "the same mesh: " << difference);
  return Result();
}
