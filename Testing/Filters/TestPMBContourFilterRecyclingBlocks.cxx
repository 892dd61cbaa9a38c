// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Memory while the meshes of many blocks grow: pieces of the old ones that do not fit go before the new ones come. A program
// of its own, because what other tests leave in the heap would serve it.
#include "PMBTesting.h"

#include "vtkDataSetAttributes.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"

#include <fstream>
#include <iostream>
#include <string>

using namespace pmbtest;

namespace
{
// VmRSS: now; VmHWM: the most there was since ResetPeak().
double Megabytes(const std::string& name)
{
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
  {
    if (line.compare(0, name.size(), name) == 0)
    {
      return std::stod(line.substr(name.size() + 1)) * 1024 / 1e6;
    }
  }
  return 0;
}

// Not every system lets it be reset.
bool ResetPeak()
{
  std::ofstream file("/proc/self/clear_refs");
  file << 5 << std::flush;
  return file.good();
}
}

int TestPMBContourFilterRecyclingBlocks(int, char*[])
{
  vtkNew<vtkMultiBlockDataSet> blocks;
  for (unsigned int block = 0; block < 8; ++block)
  {
    blocks->SetBlock(block, MakeImage(80, 80, 80, VTK_UNSIGNED_CHAR, Noise(20 + block, 200)));
  }
  const double before = Megabytes("VmRSS:");
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputData(blocks);
  filter->SetDevice(vtkPMBContourFilter::CPU);
  filter->SetNumberOfThreads(1);
  filter->SetValue(0, 40.5); // the larger meshes come second
  filter->Update();
  filter->SetValue(0, 99.5);
  if (!ResetPeak())
  {
    std::cout << "the peak of memory cannot be reset here: not tested\n";
    return Result();
  }
  filter->Update();
  const double output = filter->GetOutputDataObject(0)->GetActualMemorySize() * 1024 / 1e6;
  const double most = Megabytes("VmHWM:") - before;
  std::cout << most << " MB at the most while the meshes of eight blocks grow to " << output << " MB\n";
  PMB_CHECK(output > 60, "the blocks' meshes are too small to tell: " << output << " MB");
  PMB_CHECK(most < 1.35 * output, "the meshes of eight blocks grow to " << output << " MB, and take " << most);
  return Result();
}
