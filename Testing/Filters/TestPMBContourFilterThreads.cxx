// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// The same bytes for any number of threads; threads that are wanted no more end; filters
// share them.
#include "PMBTesting.h"

#include "vtkCellData.h"
#include "vtkIntArray.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"
#include "vtkPointData.h"

#include <algorithm>
#include <fstream>
#include <numeric>

using namespace pmbtest;

namespace
{
// Of this process; 0: not known here.
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

// Threads are started while there is something left to do, so how many there are depends on the machine. Filters that work in
// turn, and the blocks of one, use the same threads; those that are wanted no more end.
void TestShared(vtkImageData* image)
{
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

int TestPMBContourFilterThreads(int, char*[])
{
  auto image = MakeImage(101, 67, 45, VTK_FLOAT, Gyroid(8.9));
  image->GetPointData()->AddArray(MakeArray(image, "other", VTK_SHORT, 2, 1, Noise(9, 900)));
  vtkNew<vtkIntArray> cells;
  cells->SetName("cells");
  cells->SetNumberOfValues(image->GetNumberOfCells());
  std::iota(cells->Begin(), cells->End(), 0);
  image->GetCellData()->AddArray(cells);
  const auto setup = [](int threads)
  {
    return [=](vtkPMBContourFilter* f)
    {
      f->SetNumberOfThreads(threads);
      f->ComputeGradientsOn();
      f->SetValue(1, -0.4);
    };
  };
  auto expected = Contour(image, 0.1, setup(1));
  PMB_CHECK(expected->GetNumberOfPolys() > 50000, "too few triangles");
  std::string difference;
  for (int threads : { 0, 3, 64 })
  {
    PMB_CHECK(SameBytes(Contour(image, 0.1, setup(threads)), expected, difference), threads << ": " << difference);
  }

  TestShared(image);
  return Result();
}
