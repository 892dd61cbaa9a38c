// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Suggested isovalues and their use, the histogram's table.
#include "PMBTesting.h"

#include "vtkCallbackCommand.h"
#include "vtkDataArray.h"
#include "vtkDoubleArray.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"
#include "vtkPMBIsovalueHistogram.h"
#include "vtkPointData.h"
#include "vtkTable.h"

#include <algorithm>

using namespace pmbtest;

namespace
{
// A ball of 100 and radius 18 in air of 0, in noise of +-10.
vtkSmartPointer<vtkImageData> Ball(double height = 100.0)
{
  const Field distance = Distance(23.7, 24.1, 23.9), noise = Noise(5, 21);
  return MakeImage(48, 48, 48, VTK_FLOAT,
    [=](int i, int j, int k)
    {
      const double inside = std::min(std::max((18.0 - distance(i, j, k)) / 2.0, 0.0), 1.0);
      return height * inside + noise(i, j, k) - 10.0;
    });
}

int CountOf(vtkPMBContourFilter* filter)
{
  return static_cast<int>(filter->GetSuggestedIsovalues()->GetNumberOfValues());
}

void TestUse()
{
  auto image = Ball();
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(image);
  PMB_EQUAL(filter->GetUseSuggestedIsovalue(), 0, "default");
  PMB_EQUAL(CountOf(filter), 0, "before the first execution");
  PMB_EQUAL(std::string(filter->GetSuggestionSummary()), "none", "the text before the first execution");
  filter->SetValue(0, 3.5);
  filter->Update();
  PMB_CHECK(!Has(filter->GetLastRunSummary(), "suggest"), filter->GetLastRunSummary());
  PMB_EQUAL(CountOf(filter), 2, "suggestions");
  const double suggested = filter->GetSuggestedIsovalues()->GetValue(0);
  PMB_CHECK(suggested > 10 && suggested < 90, "the suggestion is " << suggested);
  filter->UseSuggestedIsovalueOn();
  vtkNew<vtkCallbackCommand> asker; // during the execution: must not block
  asker->SetCallback([](vtkObject* caller, unsigned long, void*, void*)
    { static_cast<vtkPMBContourFilter*>(caller)->GetSuggestionSummary(); });
  filter->AddObserver(vtkCommand::ProgressEvent, asker);
  filter->Update();
  std::string difference;
  PMB_CHECK(SameBytes(filter->GetOutput(), Contour(image, suggested), difference), difference);
  PMB_CHECK(Has(filter->GetLastRunSummary(), " was suggested"), filter->GetLastRunSummary());
  PMB_EQUAL(filter->GetValue(0), 3.5, "the value that is set");
  PMB_EQUAL(filter->GetNumberOfBinds(), 1, "volumes read");
  filter->SetNumberOfContours(0);
  filter->Update();
  PMB_CHECK(SameBytes(filter->GetOutput(), Contour(image, suggested), difference), "no value is set: " << difference);
  PMB_EQUAL(messages.Warnings() + messages.Errors(), 0, messages.Text());
}

// Nothing is suggested for constant samples, 2D images and without the array. (Other samples: the fuzzer.)
void TestNone()
{
  auto image = Ball();
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(image);
  filter->UseSuggestedIsovalueOn();
  filter->Update();
  vtkDataArray* samples = image->GetPointData()->GetScalars();
  samples->Fill(7.0);
  samples->Modified();
  filter->SetValue(0, 7.0);
  filter->Update();
  PMB_EQUAL(CountOf(filter), 0, "constant samples");
  PMB_CHECK(Has(filter->GetLastRunSummary(), "can be suggested"), filter->GetLastRunSummary());
  filter->SetInputData(MakeImage(20, 20, 1, VTK_FLOAT, Gyroid(5)));
  filter->SetValue(0, 0.1);
  filter->Update();
  PMB_EQUAL(CountOf(filter), 0, "a 2D image");
  PMB_CHECK(filter->GetOutput()->GetNumberOfLines() > 0, "isolines");
  PMB_CHECK(Has(filter->GetLastRunSummary(), "suggested for 2D images"), filter->GetLastRunSummary());
  filter->SetInputArrayToProcess(0, 0, 0, 0, "no such array");
  filter->Update();
  PMB_EQUAL(CountOf(filter), 0, "without the array");
  PMB_EQUAL(messages.Errors(), 1, messages.Text());
}

void TestBlocks()
{
  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetBlock(0, Ball());
  blocks->SetBlock(1, Ball(200.0));
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputDataObject(blocks);
  filter->UseSuggestedIsovalueOn();
  filter->SetValue(0, 50.0);
  filter->Update();
  PMB_CHECK(Has(filter->GetLastRunSummary(), "those set are used"), filter->GetLastRunSummary());
  PMB_EQUAL(CountOf(filter), 0, "suggestions for blocks");
  auto* output = vtkMultiBlockDataSet::SafeDownCast(filter->GetOutputDataObject(0));
  std::string difference;
  PMB_CHECK(output && SameBytes(vtkPolyData::SafeDownCast(output->GetBlock(0)), Contour(Ball(), 50.0), difference),
    difference);

  vtkNew<vtkPMBIsovalueHistogram> histogram;
  histogram->SetInputDataObject(blocks);
  histogram->Update();
  auto* tables = vtkMultiBlockDataSet::SafeDownCast(histogram->GetOutputDataObject(0));
  for (unsigned block = 0; block < 2; ++block)
  {
    auto* table = tables ? vtkTable::SafeDownCast(tables->GetBlock(block)) : nullptr;
    PMB_CHECK(table && table->GetNumberOfRows() == 256, "the table of block " << block);
  }
}

// There are triangles exactly where the histogram counts bricks.
void TestHistogram()
{
  auto image = Ball();
  vtkNew<vtkPMBIsovalueHistogram> histogram;
  Messages messages(histogram);
  histogram->SetInputData(image);
  histogram->SetNumberOfBins(20);
  histogram->Update();
  vtkTable* table = histogram->GetOutput();
  PMB_EQUAL(table->GetNumberOfRows(), 20, "rows");
  int suggested = 0;
  for (vtkIdType row = 0; row < table->GetNumberOfRows(); ++row)
  {
    const double isovalue = table->GetValueByName(row, "bin_extents").ToDouble();
    const bool crossed = table->GetValueByName(row, "Bricks").ToTypeInt64() > 0;
    PMB_EQUAL(Contour(image, isovalue)->GetNumberOfPolys() > 0, crossed, "surface at " + std::to_string(isovalue));
    suggested += table->GetValueByName(row, "Suggested").ToInt() > 0;
  }
  PMB_EQUAL(suggested, 2, "bins that are suggested");
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputData(image);
  vtkNew<vtkTable> kept;
  filter->GetIsovalueHistogram(20, kept);
  PMB_EQUAL(kept->GetNumberOfRows(), 0, "rows before the first execution");
  filter->Update();
  filter->GetIsovalueHistogram(20, kept);
  PMB_EQUAL(kept->GetNumberOfRows(), 20, "rows from the filter's own summary");
  for (vtkIdType row = 0; row < 20; ++row)
  {
    for (vtkIdType column = 0; column < table->GetNumberOfColumns(); ++column)
    {
      PMB_CHECK(table->GetValue(row, column) == kept->GetValue(row, column), "row " << row << ", column " << column);
    }
  }
  PMB_EQUAL(filter->GetNumberOfBinds(), 1, "volumes read");
  histogram->SetInputArrayToProcess(0, 0, 0, 0, "no such array");
  histogram->Update();
  PMB_EQUAL(histogram->GetOutput()->GetNumberOfRows(), 0, "rows without the array");
  PMB_CHECK(messages.Errors() == 1 && Has(messages.Text(), "no such array"), messages.Text());
  histogram->SetNumberOfBins(-3);
  PMB_EQUAL(histogram->GetNumberOfBins(), 1, "least number of bins");
  histogram->SetNumberOfBins(1 << 30);
  PMB_EQUAL(histogram->GetNumberOfBins(), 4096, "greatest number of bins");
}
}

int TestPMBContourFilterExplore(int, char*[])
{
  TestUse();
  TestNone();
  TestBlocks();
  TestHistogram();
  return Result();
}
