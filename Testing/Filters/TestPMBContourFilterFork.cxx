// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Filters in a forked process, which has none of their threads: it can delete them, exit, and execute them. (Other threads at work,
// a fork within a call: Testing/Kernels/test_fork.c.)
#include "PMBTesting.h"

#include "vtkPointData.h"

#include <iostream>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace pmbtest;

namespace
{
const unsigned Patience = 600; // seconds

vtkSmartPointer<vtkPMBContourFilter> MakeFilter(vtkImageData* image, int threads)
{
  auto filter = vtkSmartPointer<vtkPMBContourFilter>::New();
  filter->SetInputData(image);
  filter->SetDevice(vtkPMBContourFilter::CPU);
  filter->SetNumberOfThreads(threads);
  // Threads start while work is left: on a busy machine not all start in the first execution.
  for (int n = 0; n < 10; ++n)
  {
    filter->SetValue(0, n % 2 ? 0.1 : 0.2);
    filter->Update();
  }
  return filter;
}

// The child exits normally. An alarm ends a child that hangs.
pid_t Fork()
{
  std::cout.flush();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0)
  {
    alarm(Patience);
  }
  return child;
}

void CheckEnd(pid_t child, const std::string& what)
{
  int status = -1;
  PMB_CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0,
    what << ": the child ended with " << status << " (" << SIGALRM << ": it hung)");
}

void InChild(const std::string& what, const std::function<void()>& function)
{
  const pid_t child = Fork();
  if (child == 0)
  {
    function();
    std::exit(Result());
  }
  CheckEnd(child, what);
}

void CheckMesh(vtkPMBContourFilter* filter, vtkPolyData* expected, const std::string& what)
{
  std::string difference;
  filter->SetValue(0, 0.2);
  filter->Update();
  filter->SetValue(0, 0.1);
  filter->Update();
  PMB_CHECK(SameBytes(filter->GetOutput(), expected, difference), what << ": " << difference);
}

void TestChildren(vtkImageData* image, vtkPolyData* expected)
{
  // Deleted after the end of main().
  static vtkSmartPointer<vtkPMBContourFilter> filter;
  filter = MakeFilter(image, 4);
  const auto goOn = [=]
  {
    const vtkIdType binds = filter->GetNumberOfBinds();
    CheckMesh(filter, expected, "in a child");
    PMB_EQUAL(filter->GetNumberOfBinds(), binds, "volumes read");
    CheckMesh(MakeFilter(image, 3), expected, "a filter of the child's");
  };
  InChild("exits", [] {});
  InChild("deletes", [] { filter = nullptr; });
  InChild("goes on, and forks again",
    [=]
    {
      goOn();
      InChild("goes on", goOn);
      filter = nullptr;
    });
  CheckMesh(filter, expected, "in the parent");
}
}

int TestPMBContourFilterFork(int, char*[])
{
  auto image = MakeImage(101, 67, 45, VTK_FLOAT, Gyroid(8.9));
  image->GetPointData()->AddArray(MakeArray(image, "other", VTK_SHORT, 2, 1, Noise(9, 900)));
  auto expected = Contour(image, 0.1);
  TestChildren(image, expected);
  return Result();
}
