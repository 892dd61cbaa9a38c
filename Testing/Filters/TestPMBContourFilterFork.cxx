// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Filters in a forked process, which has none of their threads: it can delete them, exit, and execute them; also if other threads
// were executing at the fork, or an observer forks during an execution.
#include "PMBTesting.h"

#include "vtkCallbackCommand.h"
#include "vtkNew.h"
#include "vtkPointData.h"

#include <atomic>
#include <iostream>
#include <thread>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace pmbtest;

// LeakSanitizer calls this: in a child, memory that only the parent's other threads used is no leak.
static int OthersHaveMemory = 0;
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off()
{
  return OthersHaveMemory;
}

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

void TestOthersAtWork(vtkImageData* image, vtkPolyData* expected)
{
  std::atomic<bool> stop{ false };
  vtkNew<vtkImageData> own;
  own->ShallowCopy(image);
  std::thread other(
    [&]
    {
      for (const auto filter = MakeFilter(own, 3); !stop;)
      {
        CheckMesh(filter, expected, "the other thread");
      }
    });
  auto filter = MakeFilter(image, 3);
  OthersHaveMemory = 1;
  for (int n = 0; n < 20 && !Failures(); ++n)
  {
    InChild("beside another thread",
      [&]
      {
        CheckMesh(filter, expected, "beside another thread");
        filter = nullptr;
      });
  }
  OthersHaveMemory = 0;
  stop = true;
  other.join();
}

// An observer forks during an execution, which the child aborts or completes.
void TestForkInside(vtkImageData* image, vtkPolyData* expected)
{
  auto filter = MakeFilter(image, 4);
  pid_t child = -1;
  vtkNew<vtkCallbackCommand> forker;
  forker->SetClientData(&child);
  forker->SetCallback(
    [](vtkObject*, unsigned long, void* data, void* progress)
    {
      if (*static_cast<double*>(progress) > 0.4 && *static_cast<pid_t*>(data) < 0)
      {
        *static_cast<pid_t*>(data) = Fork();
      }
    });
  const unsigned long tag = filter->AddObserver(vtkCommand::ProgressEvent, forker);
  std::string difference;
  image->Modified();
  filter->SetValue(0, 0.1);
  filter->Update();
  filter->RemoveObserver(tag);
  const bool complete = SameBytes(filter->GetOutput(), expected, difference);
  if (child == 0)
  {
    PMB_CHECK(complete || filter->GetOutput()->GetNumberOfCells() == 0, "neither the mesh nor none");
    CheckMesh(filter, expected, "later in the child");
    filter = nullptr;
    std::exit(Result());
  }
  PMB_CHECK(complete, "the parent's: " << difference);
  CheckEnd(child, "forked inside");
}
}

int TestPMBContourFilterFork(int, char*[])
{
  auto image = MakeImage(101, 67, 45, VTK_FLOAT, Gyroid(8.9));
  image->GetPointData()->AddArray(MakeArray(image, "other", VTK_SHORT, 2, 1, Noise(9, 900)));
  auto expected = Contour(image, 0.1);
  TestChildren(image, expected);
  TestOthersAtWork(image, expected);
  TestForkInside(image, expected);
  return Result();
}
