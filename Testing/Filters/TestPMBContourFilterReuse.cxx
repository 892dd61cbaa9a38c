// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Reuse between executions: a new isovalue reads nothing again, nothing stale is used, and threads are shared. (After changes upstream, and for any number of threads: the fuzzer.)
#include "PMBTesting.h"

#include "vtkDataArray.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"
#include "vtkPointData.h"

#include <algorithm>
#include <fstream>
#include <string>

using namespace pmbtest;

namespace
{
vtkIdType Triangles(vtkPMBContourFilter* filter)
{
  filter->Update();
  return filter->GetOutput()->GetNumberOfPolys();
}

// Compares with a new filter.
void CheckFresh(vtkPMBContourFilter* filter, vtkImageData* image, vtkIdType binds, const std::string& what)
{
  filter->Update();
  auto fresh = Contour(
    image, filter->GetValue(0), [=](vtkPMBContourFilter* f) { f->SetArrayComponent(filter->GetArrayComponent()); });
  std::string difference;
  PMB_CHECK(SameBytes(filter->GetOutput(), fresh, difference), what << ": " << difference);
  PMB_CHECK(fresh->GetNumberOfPolys() > 100, what << ": too few triangles");
  PMB_EQUAL(filter->GetNumberOfBinds(), binds, what + ": volumes read");
}

void TestSettings()
{
  auto image = MakeImage(40, 30, 20, VTK_FLOAT, Gyroid(7.7));
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputData(image);
  filter->SetValue(0, 0.1);
  CheckFresh(filter, image, 1, "first");
  PMB_CHECK(filter->GetPeakExtraBytes() > 0, "no memory at all is not to be believed"); // how little: Testing/Kernels
  for (double isovalue : { 0.2, -0.3, 0.1 })
  {
    filter->SetValue(0, isovalue);
    CheckFresh(filter, image, 1, "another isovalue");
  }
  vtkDataArray* samples = image->GetPointData()->GetScalars();
  samples->SetTuple1(7000, samples->GetTuple1(7000) > 0 ? -5 : 5);
  filter->GetInputAlgorithm()->Modified(); // nothing else is marked
  CheckFresh(filter, image, 2, "written in place by what is upstream");
  image->GetPointData()->SetScalars(MakeArray(image, "samples", VTK_FLOAT, 3, 1, Gyroid(6.6)));
  filter->SetArrayComponent(1);
  CheckFresh(filter, image, 3, "another array");
  filter->SetArrayComponent(2);
  filter->SetValue(0, 50.5);
  CheckFresh(filter, image, 4, "another component");
  filter->SetValue(1, 0.5);
  filter->ComputeNormalsOff();
  filter->ComputeGradientsOn();
  filter->RemoveDegenerateTrianglesOff();
  filter->SetOutputPointsPrecision(vtkAlgorithm::DOUBLE_PRECISION);
  PMB_CHECK(Triangles(filter) > 0, "other output");
  PMB_EQUAL(filter->GetNumberOfBinds(), 4, "other output: volumes read");
  filter->SetNumberOfThreads(1);
  PMB_CHECK(Triangles(filter) > 0, "other threads");
  PMB_EQUAL(filter->GetNumberOfBinds(), 5, "other threads: volumes read");
}

// Threads of this process; 0: unknown.
int CountThreads()
{
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
  {
    int threads;
    if (word == "Threads:" && status >> threads)
    {
      return threads;
    }
  }
  return 0;
}

// Filters that execute in turn, and blocks of a filter, share threads, which end when no filter needs them. How many start
// depends on the machine: they start only while work is left.
void TestThreads()
{
  auto image = MakeImage(101, 67, 45, VTK_FLOAT, Gyroid(8.9));
  const int before = CountThreads();
  vtkNew<vtkMultiBlockDataSet> blocks;
  vtkSmartPointer<vtkPMBContourFilter> filters[6];
  int most = before;
  for (unsigned f = 0; f < 6; ++f)
  {
    vtkNew<vtkImageData> block;
    block->ShallowCopy(image);
    blocks->SetBlock(f, block);
    filters[f] = vtkSmartPointer<vtkPMBContourFilter>::New();
    filters[f]->SetInputDataObject(blocks);
    filters[f]->SetDevice(vtkPMBContourFilter::CPU);
    filters[f]->SetNumberOfThreads(6);
    for (int change = 0; change < 5 || (change < 200 && most < before + 2); ++change)
    {
      filters[f]->SetValue(0, 0.01 * (change % 7));
      filters[f]->Update();
      most = std::max(most, CountThreads());
    }
  }
  PMB_CHECK(most <= before + 5, most - before << " more threads where 6 are wanted");
  PMB_CHECK(before == 0 || most > before + 1, "6 threads are wanted, and " << most - before << " were started");
  std::fill(filters + 1, filters + 6, nullptr);
  filters[0]->SetNumberOfThreads(2);
  filters[0]->Update();
  PMB_CHECK(CountThreads() <= before + 1, CountThreads() - before << " more threads where 2 are wanted");
}
}

int TestPMBContourFilterReuse(int, char*[])
{
  TestSettings();
  TestThreads();
  return Result();
}
