// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Blanked points and cells, on vtkImageData and vtkUniformGrid: no triangles, no points, no effect on the rest; what
// only says that a cell is doubled stays.
#include "PMBTesting.h"

#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkIntArray.h"
#include "vtkMath.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkUniformGrid.h"
#include "vtkUnsignedCharArray.h"

#include <cmath>
#include <limits>
#include <set>

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

// Cells numbered, so that the triangles tell where they are from.
vtkSmartPointer<vtkImageData> MakeNumbered(int vtkType = VTK_FLOAT)
{
  auto image = MakeImage(N, N, N, vtkType, Distance(19.3, 18.7, 20.2));
  vtkNew<vtkIntArray> numbers;
  numbers->SetName("Cell");
  numbers->SetNumberOfTuples(image->GetNumberOfCells());
  for (int i = 0; i < image->GetNumberOfCells(); ++i)
  {
    numbers->SetValue(i, i);
  }
  image->GetCellData()->AddArray(numbers);
  return image;
}

std::set<int> CellsOf(vtkPolyData* mesh)
{
  std::set<int> cells;
  vtkDataArray* numbers = mesh->GetCellData()->GetArray("Cell");
  for (vtkIdType i = 0; i < numbers->GetNumberOfTuples(); ++i)
  {
    cells.insert(static_cast<int>(numbers->GetComponent(i, 0)));
  }
  return cells;
}

// Half of the cells, of each kind of flag a third; the others' triangles stay as they are.
void TestCells(bool uniformGrid)
{
  auto whole = MakeNumbered();
  auto all = Contour(whole, 12.5);
  vtkSmartPointer<vtkImageData> image = whole;
  if (uniformGrid)
  {
    image = vtkSmartPointer<vtkUniformGrid>::New();
    image->ShallowCopy(whole);
  }
  auto ghosts = AddGhosts(image->GetCellData(), image->GetNumberOfCells());
  std::set<int> expected;
  for (int cell : CellsOf(all))
  {
    const unsigned char kinds[] = { 0, Attributes::HIDDENCELL, Attributes::DUPLICATECELL, Attributes::REFINEDCELL,
      Attributes::HIDDENCELL | Attributes::DUPLICATECELL, Attributes::EXTERIORCELL };
    const unsigned char kind = kinds[(cell / 3) % 6];
    ghosts->SetValue(cell, kind);
    if (!(kind & (Attributes::HIDDENCELL | Attributes::REFINEDCELL)))
    {
      expected.insert(cell);
    }
  }
  auto mesh = Contour(image, 12.5);
  const std::string what = uniformGrid ? "uniform grid" : "image";
  PMB_CHECK(!expected.empty() && expected.size() < CellsOf(all).size(), what << ": nothing tested");
  PMB_CHECK(CellsOf(mesh) == expected, what << ": other cells than those that are visible give triangles");
  PMB_EQUAL(Judge(mesh).Orphans, 0, what + ": points without triangles");
  vtkUnsignedCharArray* flags = mesh->GetCellGhostArray();
  PMB_CHECK(flags && flags->GetNumberOfTuples() == mesh->GetNumberOfPolys(), what << ": flags of triangles");
  vtkDataArray* numbers = mesh->GetCellData()->GetArray("Cell");
  for (vtkIdType i = 0; flags && i < flags->GetNumberOfTuples(); ++i)
  {
    const auto cell = static_cast<vtkIdType>(numbers->GetComponent(i, 0));
    PMB_EQUAL(int(flags->GetValue(i)), int(ghosts->GetValue(cell)), what + ": flag of a triangle");
  }
}

// A hidden point is as one that holds NaN.
void TestPoints()
{
  auto image = MakeNumbered();
  auto same = MakeNumbered();
  auto ghosts = AddGhosts(image->GetPointData(), image->GetNumberOfPoints());
  for (vtkIdType i = 0; i < image->GetNumberOfPoints(); i += 77)
  {
    ghosts->SetValue(i, i % 2 ? Attributes::HIDDENPOINT : Attributes::HIDDENPOINT | Attributes::DUPLICATEPOINT);
    image->GetPointData()->GetScalars()->SetComponent(i, 0, -1e30);
    same->GetPointData()->GetScalars()->SetComponent(i, 0, vtkMath::Nan());
    ghosts->SetValue((i + 5) % image->GetNumberOfPoints(), Attributes::DUPLICATEPOINT); // hides nothing
  }
  auto mesh = Contour(image, 12.5), expected = Contour(same, 12.5);
  std::string difference;
  PMB_CHECK(SameBytes(mesh, expected, difference), "hidden points, NaN: " << difference);
  PMB_CHECK(mesh->GetNumberOfPolys() > 1000, mesh->GetNumberOfPolys() << " triangles");
}

// vtkUniformGrid's own way to blank, changed between updates.
void TestChanges()
{
  vtkNew<vtkUniformGrid> grid;
  grid->ShallowCopy(MakeNumbered(VTK_SHORT));
  const vtkIdType point = 19 + 13 + N * (19 + N * 20);
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputData(grid);
  filter->SetValue(0, 12.5);
  filter->Update();
  const vtkIdType before = filter->GetOutput()->GetNumberOfPolys();
  const std::set<int> cells = CellsOf(filter->GetOutput());
  grid->BlankCell(*cells.begin());
  filter->Update();
  PMB_EQUAL(CellsOf(filter->GetOutput()).size(), cells.size() - 1, "cells after one is blanked");
  grid->BlankPoint(point);
  grid->Modified(); // for the first point and cell VTK does it
  filter->Update();
  const vtkIdType after = filter->GetOutput()->GetNumberOfPolys();
  PMB_CHECK(after < before - 8, after << " triangles after a point is blanked, " << before << " before");
  grid->UnBlankPoint(point);
  grid->UnBlankCell(*cells.begin());
  grid->Modified();
  filter->Update();
  PMB_EQUAL(filter->GetOutput()->GetNumberOfPolys(), before, "triangles when nothing is blanked any more");
  vtkUnsignedCharArray* flags = grid->GetCellGhostArray();
  flags->SetValue(*cells.begin(), Attributes::HIDDENCELL); // in place
  flags->Modified();
  grid->Modified();
  filter->Update();
  PMB_EQUAL(CellsOf(filter->GetOutput()).size(), cells.size() - 1, "cells after a change in place");
}

// Isolines of a slice heed both kinds too.
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

// Flags that are none are not used: the surface is that without them, and a filter says so once.
struct Unfit
{
  std::string Words; // of the warning
  bool OfCells;
  int Type, Components;
  vtkIdType More; // tuples than there are points or cells
};

void TestUnfit(const Unfit& unfit, int nz)
{
  auto image = MakeImage(10, 10, nz, VTK_FLOAT, Distance(4.2, 4.4, 4.6));
  auto expected = Contour(image, 6);
  PMB_CHECK(expected->GetNumberOfCells() > 10, "nothing tested");
  auto flags = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(unfit.Type));
  flags->SetName(Attributes::GhostArrayName());
  flags->SetNumberOfComponents(unfit.Components);
  flags->SetNumberOfTuples(unfit.More + (unfit.OfCells ? image->GetNumberOfCells() : image->GetNumberOfPoints()));
  flags->Fill(Attributes::HIDDENCELL | Attributes::HIDDENPOINT);
  unfit.OfCells ? image->GetCellData()->AddArray(flags) : image->GetPointData()->AddArray(flags);

  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(image);
  filter->SetValue(0, 6);
  filter->Update();
  std::string difference;
  PMB_CHECK(SameBytes(filter->GetOutput(), expected, difference), unfit.Words << ": " << difference);
  PMB_EQUAL(messages.Errors(), 0, unfit.Words + ": errors: " + messages.Text());
  PMB_EQUAL(messages.Warnings(), 1, unfit.Words + ": warnings: " + messages.Text());
  PMB_CHECK(Has(messages.Text(), unfit.Words), unfit.Words << ": " << messages.Text());
  PMB_CHECK(Has(filter->GetLastRunSummary(), " points in "), unfit.Words << ": " << filter->GetLastRunSummary());
  filter->SetValue(0, 5.9);
  filter->Update();
  image->Modified();
  filter->Update();
  PMB_EQUAL(messages.Warnings(), 1, unfit.Words + ": warnings of three executions: " + messages.Text());
}

void TestUnfitFlags()
{
  for (bool ofCells : { false, true })
  {
    const std::string what = ofCells ? "of the cells" : "of the points";
    for (vtkIdType more : { -80, -1, 1 })
    {
      TestUnfit(
        { std::to_string((ofCells ? 729 : 1000) + more) + " tuples", ofCells, VTK_UNSIGNED_CHAR, 1, more }, 10);
      TestUnfit({ std::to_string((ofCells ? 81 : 100) + more) + " tuples", ofCells, VTK_UNSIGNED_CHAR, 1, more }, 1);
    }
    TestUnfit({ what + " holds double with 1", ofCells, VTK_DOUBLE, 1, 0 }, 10);
    TestUnfit({ what + " holds unsigned char with 2", ofCells, VTK_UNSIGNED_CHAR, 2, 0 }, 10);
    TestUnfit({ what + " holds unsigned char with 2", ofCells, VTK_UNSIGNED_CHAR, 2, 0 }, 1);
  }
}

// Of many blocks the first one says it.
void TestUnfitBlocks()
{
  vtkNew<vtkMultiBlockDataSet> blocks;
  for (unsigned int n = 0; n < 3; ++n)
  {
    auto image = MakeImage(10, 10, 10, VTK_FLOAT, Distance(4.2, 4.4, 4.6));
    AddGhosts(image->GetCellData(), 7);
    AddGhosts(image->GetPointData(), 7);
    blocks->SetBlock(n, image);
  }
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputDataObject(blocks);
  filter->SetValue(0, 3);
  filter->Update();
  PMB_EQUAL(messages.Warnings(), 2, "warnings of three blocks, of points and of cells: " + messages.Text());
  PMB_EQUAL(messages.Errors(), 0, "errors of three blocks: " + messages.Text());
  PMB_CHECK(Has(filter->GetLastRunSummary(), "3 of 3 blocks"), filter->GetLastRunSummary());
}
}

int TestPMBContourFilterHidden(int, char*[])
{
  TestCells(false);
  TestCells(true);
  TestPoints();
  TestChanges();
  TestSlice();
  TestUnfitFlags();
  TestUnfitBlocks();
  return Result();
}
