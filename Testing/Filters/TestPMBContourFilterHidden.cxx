// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Blanked points and cells: isolines, and flags that do not fit. (Triangles, also after changes: the fuzzer, and Testing/Kernels.)
#include "PMBTesting.h"

#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkUnsignedCharArray.h"

#include <vector>

using namespace pmbtest;

namespace
{
using Attributes = vtkDataSetAttributes;
enum
{
  N = 40
};

vtkSmartPointer<vtkUnsignedCharArray> AddGhosts(vtkDataSetAttributes* data, vtkIdType n)
{
  auto ghosts = vtkSmartPointer<vtkUnsignedCharArray>::New();
  ghosts->SetName(Attributes::GhostArrayName());
  ghosts->SetNumberOfTuples(n);
  ghosts->Fill(0);
  data->AddArray(ghosts);
  return ghosts;
}

// Isolines respect both kinds too.
void TestSlice()
{
  auto image = MakeImage(N, N, 1, VTK_FLOAT, Distance(19.3, 18.7, 0));
  const vtkIdType all = Contour(image, 12.5)->GetNumberOfLines();
  auto cells = AddGhosts(image->GetCellData(), image->GetNumberOfCells());
  for (int j = 0; j < N - 1; ++j)
  {
    for (int i = 0; i < 19; ++i)
    {
      cells->SetValue(i + (N - 1) * j, Attributes::HIDDENCELL);
    }
  }
  auto half = Contour(image, 12.5);
  double bounds[6];
  half->GetBounds(bounds);
  PMB_CHECK(half->GetNumberOfLines() < all && bounds[0] >= 19, "lines from hidden cells, from x = " << bounds[0]);
  auto points = AddGhosts(image->GetPointData(), image->GetNumberOfPoints());
  points->Fill(Attributes::HIDDENPOINT);
  PMB_EQUAL(Contour(image, 12.5)->GetNumberOfLines(), vtkIdType(0), "lines of hidden points");
}

// Ignores invalid flags, with one warning per filter, also for many blocks.
struct Unfit
{
  std::string Words; // in the warning
  bool OfCells;
  int Size, Type, Components;
  vtkIdType More; // tuples than there are points or cells
};

void TestUnfit(const Unfit& unfit)
{
  auto image = MakeImage(10, 10, unfit.Size, VTK_FLOAT, Distance(4.2, 4.4, 4.6));
  auto expected = Contour(image, 6);
  auto flags = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(unfit.Type));
  flags->SetName(Attributes::GhostArrayName());
  flags->SetNumberOfComponents(unfit.Components);
  flags->SetNumberOfTuples(unfit.More + (unfit.OfCells ? image->GetNumberOfCells() : image->GetNumberOfPoints()));
  flags->Fill(Attributes::HIDDENCELL | Attributes::HIDDENPOINT);
  unfit.OfCells ? image->GetCellData()->AddArray(flags) : image->GetPointData()->AddArray(flags);

  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetBlock(0, image);
  blocks->SetBlock(1, image);
  for (vtkDataObject* input : { static_cast<vtkDataObject*>(image), static_cast<vtkDataObject*>(blocks) })
  {
    vtkNew<vtkPMBContourFilter> filter;
    Messages messages(filter);
    filter->SetInputDataObject(input);
    for (double isovalue : { 5.9, 6.0 })
    {
      filter->SetValue(0, isovalue);
      filter->Update();
    }
    auto* mesh = vtkPolyData::SafeDownCast(filter->GetOutputDataObject(0));
    std::string difference;
    PMB_CHECK(expected->GetNumberOfCells() > 10 && (!mesh || SameBytes(mesh, expected, difference)), difference);
    PMB_EQUAL(messages.Errors(), 0, unfit.Words + ": errors: " + messages.Text());
    PMB_EQUAL(messages.Warnings(), 1, unfit.Words + ": warnings: " + messages.Text());
    PMB_CHECK(Has(messages.Text(), unfit.Words), unfit.Words << ": " << messages.Text());
    PMB_CHECK(Has(filter->GetLastRunSummary(), " points in "), unfit.Words << ": " << filter->GetLastRunSummary());
  }
}
}

int TestPMBContourFilterHidden(int, char*[])
{
  TestSlice();
  const Unfit unfit[] = { { "920 tuples", false, 10, VTK_UNSIGNED_CHAR, 1, -80 },
    { "730 tuples", true, 10, VTK_UNSIGNED_CHAR, 1, 1 }, { "99 tuples", false, 1, VTK_UNSIGNED_CHAR, 1, -1 },
    { "of the points has 1000 tuples of 1 double", false, 10, VTK_DOUBLE, 1, 0 },
    { "of the cells has 729 tuples of 2 unsigned char", true, 10, VTK_UNSIGNED_CHAR, 2, 0 },
    { "of the cells has 81 tuples of 2 unsigned char", true, 1, VTK_UNSIGNED_CHAR, 2, 0 } };
  for (const Unfit& one : unfit)
  {
    TestUnfit(one);
  }
  return Result();
}
