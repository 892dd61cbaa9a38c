// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Composite input: a mesh per block, as each block alone; one warning and one summary for all.
#include "PMBTesting.h"

#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"

using namespace pmbtest;

int TestPMBContourFilterComposite(int, char*[])
{
  vtkSmartPointer<vtkImageData> images[3] = { MakeImage(20, 21, 22, VTK_FLOAT, Distance(9, 9, 9)),
    MakeImage(15, 15, 1, VTK_FLOAT, Distance(7, 7, 0)), MakeImage(30, 12, 12, VTK_SHORT, Noise(3, 100)) };
  vtkNew<vtkMultiBlockDataSet> blocks;
  for (int b = 0; b < 3; ++b)
  {
    blocks->SetBlock(b + (b > 0), images[b]); // block 1 is empty
  }
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(blocks);
  filter->SetValue(0, 5.3);
  for (int round = 0; round < 2; ++round)
  {
    filter->Update();
    auto* output = vtkMultiBlockDataSet::SafeDownCast(filter->GetOutputDataObject(0));
    PMB_CHECK(output != nullptr, "the output is composite");
    vtkIdType triangles = 0;
    for (int b = 0; output && b < 3; ++b)
    {
      auto* mesh = vtkPolyData::SafeDownCast(output->GetBlock(b + (b > 0)));
      auto alone = Contour(images[b], filter->GetValue(0));
      std::string difference = "no mesh";
      PMB_CHECK(mesh && SameBytes(mesh, alone, difference), "block " << b << ": " << difference);
      PMB_CHECK(mesh && mesh->GetNumberOfCells() > 0, "block " << b << " is empty");
      triangles += alone->GetNumberOfPolys();
    }
    const std::string summary = filter->GetLastRunSummary();
    PMB_CHECK(summary.find(std::to_string(triangles) + " triangles") != std::string::npos, "summary: " << summary);
    PMB_CHECK(summary.find("2 of 3 blocks") != std::string::npos, "summary: " << summary);
    filter->SetValue(0, 4.7);
  }
  PMB_EQUAL(messages.Errors() + messages.Warnings(), 0, "messages: " + messages.Text());

  filter->SetValue(0, 50); // only in the third block
  filter->Update();
  PMB_EQUAL(messages.Errors() + messages.Warnings(), 0, "an isovalue of one block: " + messages.Text());
  messages.Clear();
  filter->SetValue(0, 5000);
  filter->Update();
  PMB_EQUAL(messages.Errors(), 0, "an isovalue of none: errors");
  PMB_EQUAL(messages.Warnings(), 1, "an isovalue of none: warnings");
  PMB_CHECK(messages.Text().find("0 to 99") != std::string::npos, "the range of all blocks: " << messages.Text());
  return Result();
}
