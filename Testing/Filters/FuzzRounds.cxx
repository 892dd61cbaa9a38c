// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "Fuzz.h"

#include "vtkDataArray.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

namespace fuzz
{
// Updates a filter several times, with changes in between.
void RunSession(Random& random, Device device, Report& report)
{
  auto image = MakeImage(random);
  Settings settings = MakeSettings(random, image);
  Run run(random, device, report);
  run.Set(settings);
  run.SetInput(image, random.Chance(20));
  run.Check("update 0");
  const int updates = random.Int(0, 5);
  for (int update = 1; update <= updates && report.Faults.empty(); ++update)
  {
    settings = run.GetSettings();
    switch (random.Int(0, 6))
    {
      case 0:
        run.SetInput(nullptr, false);
        image = nullptr; // deleted before the next one is made
        image = MakeImage(random);
        run.SetInput(image, random.Chance(20));
        break;
      case 1:
        ChangeGeometry(random, image);
        break;
      case 2:
      case 3:
        ChangeArrays(random, image);
        break;
      case 4:
        run.Disturb("update " + std::to_string(update));
        settings = run.GetSettings();
        break;
      default:
        break;
    }
    for (int n = random.Int(0, 2); n > 0; --n)
    {
      ChangeSettings(random, image, settings);
    }
    run.Set(settings);
    run.Check("update " + std::to_string(update));
  }
}

// A filter in each of several threads contours the same arrays; the last one deletes them.
void RunShared(Random& random, Device device, Report& report)
{
  vtkDataArray* array;
  auto image = MakeImage(random);
  for (int n = 0; n < 10 && Expect(Settings(), image, array) != MESH; ++n)
  {
    image = MakeImage(random);
  }
  const int count = random.Int(2, 4);
  std::vector<vtkSmartPointer<vtkImageData>> images;
  std::vector<Report> reports(count);
  std::vector<uint64_t> seeds;
  for (int n = 0; n < count; ++n)
  {
    images.push_back(vtkSmartPointer<vtkImageData>::Take(image->NewInstance()));
    images.back()->ShallowCopy(image);
    seeds.push_back(random.Bits());
  }
  image = nullptr;
  std::vector<std::thread> threads;
  for (int n = 0; n < count; ++n)
  {
    threads.emplace_back(
      [&, n]()
      {
        Random own(seeds[n]);
        Run run(own, device, reports[n]);
        run.SetInput(images[n], false);
        for (int update = 0; update < 3 && reports[n].Faults.empty(); ++update)
        {
          run.Set(MakeSettings(own, images[n]));
          run.Check("thread " + std::to_string(n) + ", update " + std::to_string(update), /*strike=*/false);
        }
        run.SetInput(nullptr, false);
        images[n] = nullptr;
      });
  }
  for (std::thread& thread : threads)
  {
    thread.join();
  }
  ++TheTally().Shared;
  for (const Report& part : reports)
  {
    for (const std::string& fault : part.Faults)
    {
      report.Add(fault);
    }
    report.About.insert(report.About.end(), part.About.begin(), part.About.end());
  }
}

namespace
{
// The messages of each block alone, from which those of all follow: each text once, and a missing array only if all lack it.
struct BlockErrors
{
  std::set<std::string> Texts;
  bool Lacking = false, Found = false, Unsure = false;

  void Add(const Settings& settings, vtkImageData* image, Outcome outcome, const std::string& summary)
  {
    int dims[3];
    image->GetDimensions(dims);
    const int thick = (dims[0] > 1) + (dims[1] > 1) + (dims[2] > 1);
    this->Unsure = this->Unsure || outcome == EITHER || *std::min_element(dims, dims + 3) < 0;
    if (thick < 2 || *std::min_element(dims, dims + 3) == 0)
    {
      return;
    }
    bool ofPoints;
    const bool found = FindArray(settings, image, ofPoints) != nullptr;
    this->Found = this->Found || found;
    this->Lacking = this->Lacking || !found;
    if (outcome == FAULT && found)
    {
      this->Texts.insert(summary);
    }
  }

  int Count() const { return static_cast<int>(this->Texts.size()) + (this->Lacking && !this->Found); }
};

void CheckBlocks(vtkMultiBlockDataSet* blocks, const Settings& settings, vtkPMBContourFilter* filter,
  const pmbtest::Messages& said, Report& report)
{
  const int count = static_cast<int>(blocks->GetNumberOfBlocks());
  auto* output = vtkMultiBlockDataSet::SafeDownCast(filter->GetOutputDataObject(0));
  FUZZ_CHECK(report, output && static_cast<int>(output->GetNumberOfBlocks()) == count, "the blocks of the output");
  Settings drawn = settings; // blocks get no suggestion, not even for isovalues that are not finite
  std::vector<double>& isovalues = drawn.Isovalues;
  isovalues.erase(
    std::remove_if(isovalues.begin(), isovalues.end(), [](double x) { return !std::isfinite(x); }), isovalues.end());
  if (isovalues.empty() && settings.Suggest)
  {
    isovalues.push_back(0.0);
  }
  BlockErrors errors;
  for (int n = 0; output && n < count; ++n)
  {
    auto* image = vtkImageData::SafeDownCast(blocks->GetBlock(n));
    auto* mesh = vtkPolyData::SafeDownCast(output->GetBlock(n));
    if (!image)
    {
      FUZZ_CHECK(report, !mesh, "block " << n << " comes from nothing");
      continue;
    }
    vtkDataArray* array;
    vtkNew<vtkPMBContourFilter> alone;
    const pmbtest::Messages quiet(alone);
    Apply(drawn, alone);
    alone->UseSuggestedIsovalueOff();
    alone->SetDevice(vtkPMBContourFilter::CPU);
    alone->SetInputData(image);
    alone->Update();
    errors.Add(drawn, image, Expect(drawn, image, array), alone->GetLastRunSummary());
    vtkNew<vtkPolyData> none;
    std::string difference;
    pmbtest::SameBytes(mesh ? mesh : none.Get(), alone->GetOutput(), difference);
    FUZZ_CHECK(report, difference.empty(), "block " << n << ": " << difference << "; " << Describe(image));
    ++TheTally().Blocks;
  }
  FUZZ_CHECK(report, errors.Unsure || said.Errors() == errors.Count(),
    said.Errors() << " errors, expected " << errors.Count() << ": " << said.Text());
}

// Changes the array, samples or place of one or two blocks, or replaces the block.
void ChangeBlocks(Random& random, vtkMultiBlockDataSet* blocks)
{
  const int n = random.Int(0, static_cast<int>(blocks->GetNumberOfBlocks()) - 1);
  auto* image = vtkImageData::SafeDownCast(blocks->GetBlock(n));
  if (!image || random.Chance(20))
  {
    blocks->SetBlock(n, MakeImage(random));
    return;
  }
  if (random.Chance(50))
  {
    ChangeArrays(random, image);
  }
  else
  {
    ChangeGeometry(random, image);
  }
  blocks->Modified(); // its MTime does not include that of blocks
}
}

// Updates blocks of all kinds together several times: each as if alone. Large ones stay bound, each in its own context.
void RunComposite(Random& random, Device device, Report& report)
{
  vtkNew<vtkMultiBlockDataSet> blocks;
  const int count = random.Int(1, 5);
  const bool large = random.Chance(15);
  vtkSmartPointer<vtkImageData> first = MakeImage(random, large);
  blocks->SetBlock(0, first);
  for (int n = 1; n < count; ++n)
  {
    blocks->SetBlock(n, random.Chance(85) ? MakeImage(random, large).Get() : nullptr);
  }
  Settings settings = MakeSettings(random, first);
  vtkNew<vtkPMBContourFilter> filter;
  pmbtest::Messages said(filter);
  filter->SetInputDataObject(blocks);
  for (int update = random.Int(0, 3); update >= 0 && report.Faults.empty(); --update)
  {
    settings.Device = device == ANY || device == EMULATED ? settings.Device : static_cast<int>(device);
    Apply(settings, filter);
    filter->Modified();
    said.Clear();
    filter->Update();
    CheckBlocks(blocks, settings, filter, said, report);
    if (!report.Faults.empty())
    {
      report.About.push_back(Describe(filter));
    }
    if (random.Chance(50))
    {
      ChangeBlocks(random, blocks);
    }
    ChangeSettings(random, first, settings);
  }
}
}
