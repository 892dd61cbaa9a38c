// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Composite input: a mesh per block, as of each block alone, with the blocks' names and places; blocks that cannot be contoured;
// levels of AMR; one warning and one summary for all. Filters and blocks share threads.
#include "PMBTesting.h"

#include "vtkAMRBox.h"
#include "vtkAMRUtilities.h"
#include "vtkCompositeDataIterator.h"
#include "vtkContourFilter.h"
#include "vtkDataArray.h"
#include "vtkFieldData.h"
#include "vtkInformation.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkMultiPieceDataSet.h"
#include "vtkNew.h"
#include "vtkNonOverlappingAMR.h"
#include "vtkOverlappingAMR.h"
#include "vtkPartitionedDataSet.h"
#include "vtkPartitionedDataSetCollection.h"
#include "vtkPointData.h"
#include "vtkRectilinearGrid.h"
#include "vtkUniformGrid.h"
#include "vtkUnstructuredGrid.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

using namespace pmbtest;

namespace
{
vtkSmartPointer<vtkImageData> Image(int i)
{
  return i == 0 ? MakeImage(20, 21, 22, VTK_FLOAT, Distance(9, 9, 9))
    : i == 1    ? MakeImage(15, 15, 1, VTK_FLOAT, Distance(7, 7, 0))
                : MakeImage(30, 12, 12, VTK_SHORT, Noise(3, 100));
}

void Name(vtkInformation* of, const char* name)
{
  of->Set(vtkCompositeDataSet::NAME(), name);
}

// The leaves by their flat index, with their names.
struct Leaf
{
  vtkDataObject* Data;
  std::string Name;
};
std::map<unsigned int, Leaf> LeavesOf(vtkCompositeDataSet* composite)
{
  std::map<unsigned int, Leaf> leaves;
  vtkSmartPointer<vtkCompositeDataIterator> it;
  it.TakeReference(composite->NewIterator());
  for (it->InitTraversal(); !it->IsDoneWithTraversal(); it->GoToNextItem())
  {
    vtkInformation* data = it->HasCurrentMetaData() ? it->GetCurrentMetaData() : nullptr;
    const char* name = data ? data->Get(vtkCompositeDataSet::NAME()) : nullptr;
    leaves[it->GetCurrentFlatIndex()] = { it->GetCurrentDataObject(), name ? name : "" };
  }
  return leaves;
}

// Contours a composite of images and compares each leaf, and its measures, with its image alone. Lines have no measures.
void CheckKind(vtkCompositeDataSet* input, const std::string& outputClass, size_t leafCount)
{
  const std::string what = input->GetClassName();
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(input);
  filter->SetValue(0, 5.3);
  filter->ComputeMeasuresOn();
  filter->Update();
  auto* output = vtkCompositeDataSet::SafeDownCast(filter->GetOutputDataObject(0));
  PMB_CHECK(output != nullptr, what << ": the output is composite");
  if (!output)
  {
    return;
  }
  PMB_EQUAL(std::string(output->GetClassName()), outputClass, what + ": class of the output");
  auto theirs = LeavesOf(input), ours = LeavesOf(output);
  PMB_EQUAL(ours.size(), leafCount, what + ": leaves");
  for (const auto& leaf : theirs)
  {
    auto* mesh = vtkPolyData::SafeDownCast(ours[leaf.first].Data);
    auto alone = Contour(
      vtkImageData::SafeDownCast(leaf.second.Data), 5.3, [](vtkPMBContourFilter* f) { f->ComputeMeasuresOn(); });
    std::string difference = "no mesh";
    PMB_CHECK(mesh && SameBytes(mesh, alone, difference), what << ", leaf " << leaf.first << ": " << difference);
    difference = mesh ? FieldDifference(mesh->GetFieldData(), alone->GetFieldData(), "measure") : "";
    PMB_CHECK(difference.empty(), what << ", leaf " << leaf.first << ": " << difference);
    PMB_EQUAL(alone->GetFieldData()->HasArray("Area"), alone->GetNumberOfLines() == 0, what + ": has an area");
    PMB_EQUAL(ours[leaf.first].Name, leaf.second.Name, what + ": name");
    PMB_CHECK(alone->GetNumberOfCells() > 0, what << ": the leaf's contour is empty");
  }
  PMB_EQUAL(messages.Errors() + messages.Warnings(), 0, what + ": " + messages.Text());
}

void TestTrees()
{
  vtkNew<vtkMultiBlockDataSet> blocks, nested;
  vtkNew<vtkMultiPieceDataSet> pieces;
  blocks->SetBlock(0, Image(0)); // 1 stays empty
  blocks->SetBlock(2, nested);
  blocks->SetBlock(3, pieces);
  nested->SetBlock(1, Image(1));
  pieces->SetPiece(0, Image(2));
  pieces->SetPiece(1, Image(0));
  Name(blocks->GetMetaData(0u), "first");
  Name(blocks->GetMetaData(2u), "nest");
  Name(nested->GetMetaData(1u), "deep");
  Name(pieces->GetMetaData(1u), "piece");
  CheckKind(blocks, "vtkMultiBlockDataSet", 4);

  vtkNew<vtkPartitionedDataSet> parts;
  parts->SetPartition(0, Image(0));
  parts->SetPartition(2, Image(2));
  CheckKind(parts, "vtkPartitionedDataSet", 2);

  vtkNew<vtkPartitionedDataSetCollection> collection;
  collection->SetPartitionedDataSet(0, parts);
  collection->SetPartition(2, 0, Image(1));
  Name(collection->GetMetaData(2u), "third");
  CheckKind(collection, "vtkPartitionedDataSetCollection", 3);
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputData(collection);
  filter->SetValue(0, 5.3);
  filter->Update();
  auto* output = vtkPartitionedDataSetCollection::SafeDownCast(filter->GetOutputDataObject(0));
  PMB_CHECK(output && output->GetNumberOfPartitionedDataSets() == 3 && output->HasMetaData(2u) &&
      output->GetMetaData(2u)->Has(vtkCompositeDataSet::NAME()),
    "a collection keeps its empty members and names");
}

// Blocks that are not images or lack the array have an empty output; the others have a mesh.
void TestOthers()
{
  vtkNew<vtkMultiBlockDataSet> blocks;
  vtkNew<vtkRectilinearGrid> grid;
  grid->SetDimensions(3, 3, 3);
  vtkNew<vtkUnstructuredGrid> nothing;
  vtkNew<vtkImageData> bare;
  bare->SetDimensions(4, 4, 4);
  blocks->SetBlock(0, grid);
  blocks->SetBlock(1, bare);
  blocks->SetBlock(2, nothing);
  blocks->SetBlock(3, Image(0));
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(blocks);
  filter->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, "samples");
  for (double isovalue : { 5.3, 4.7 })
  {
    filter->SetValue(0, isovalue);
    filter->Update();
    auto* output = vtkMultiBlockDataSet::SafeDownCast(filter->GetOutputDataObject(0));
    for (unsigned int b = 0; b < 4; ++b)
    {
      auto* mesh = vtkPolyData::SafeDownCast(output->GetBlock(b));
      PMB_EQUAL(mesh && mesh->GetNumberOfCells() > 0, b == 3, "triangles of a block");
    }
  }
  PMB_EQUAL(messages.Errors(), 0, "blocks of other kinds: " + messages.Text());
  PMB_EQUAL(messages.Warnings(), 1, "one warning, once");
  PMB_CHECK(Has(messages.Text(), "1 of 4 blocks") && Has(messages.Text(), "(vtkRectilinearGrid)"), messages.Text());
  const std::string summary = filter->GetLastRunSummary();
  PMB_CHECK(Has(summary, "without the array: 1") && Has(summary, "no image data: 1"), summary);

  messages.Clear();
  filter->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, "unknown");
  filter->Update();
  PMB_EQUAL(messages.Errors(), 1, "an array missing in all blocks: " + messages.Text());
  PMB_CHECK(Has(messages.Text(), "no point array 'unknown'"), messages.Text());
  PMB_CHECK(Has(filter->GetLastRunSummary(), "Failed"), filter->GetLastRunSummary());

  messages.Clear();
  blocks->SetBlock(1, Image(0));
  filter->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, "samples");
  filter->SetArrayComponent(3);
  filter->Update();
  PMB_EQUAL(messages.Errors(), 1, "the same error of two blocks: " + messages.Text());
  filter->SetArrayComponent(0);

  vtkNew<vtkMultiBlockDataSet> empty;
  filter->SetInputData(empty);
  filter->Update();
  PMB_EQUAL(
    std::string(filter->GetLastRunSummary()), std::string("No surface: the input has no blocks"), "no blocks");
}

// Cells that a finer level covers have no triangles, as in vtkContourFilter.
void TestAMR()
{
  const int counts[2] = { 1, 2 };
  const double origin[3] = { 0, 0, 0 };
  vtkNew<vtkOverlappingAMR> amr;
  vtkNew<vtkNonOverlappingAMR> other;
  amr->Initialize(2, counts);
  other->Initialize(2, counts);
  amr->SetOrigin(origin);
  amr->SetGridDescription(VTK_XYZ_GRID);
  for (unsigned int level = 0; level < 2; ++level)
  {
    const double h = level ? 0.5 : 1, spacing[3] = { h, h, h };
    amr->SetSpacing(level, spacing);
    amr->SetRefinementRatio(level, 2);
    for (int n = 0; n < counts[level]; ++n) // 14^3 cells each, from 14 n
    {
      const int low = 14 * n, first[3] = { low, low, low }, last[3] = { low + 13, low + 13, low + 13 };
      vtkNew<vtkUniformGrid> grid, copy;
      grid->ShallowCopy(MakeImage(15, 15, 15, VTK_FLOAT,
        [=](int i, int j, int k)
        { return std::hypot(std::hypot(h * (low + i) - 7.1, h * (low + j) - 7.3), h * (low + k) - 6.8); }));
      grid->SetOrigin(h * low, h * low, h * low);
      grid->SetSpacing(spacing);
      amr->SetAMRBox(level, n, vtkAMRBox(first, last));
      amr->SetDataSet(level, n, grid);
      copy->DeepCopy(grid);
      other->SetDataSet(level, n, copy);
    }
  }
  amr->GenerateParentChildInformation();
  vtkAMRUtilities::BlankCells(amr);
  vtkIdType total[2] = { 0, 0 };
  vtkCompositeDataSet* inputs[2] = { amr, other };
  for (int n = 0; n < 2; ++n)
  {
    vtkNew<vtkPMBContourFilter> filter;
    vtkNew<vtkContourFilter> theirs;
    filter->SetInputData(inputs[n]);
    theirs->SetInputData(inputs[n]);
    filter->SetValue(0, 5.317);
    theirs->SetValue(0, 5.317);
    filter->Update();
    theirs->Update();
    auto ours = LeavesOf(vtkCompositeDataSet::SafeDownCast(filter->GetOutputDataObject(0)));
    PMB_EQUAL(filter->GetOutputDataObject(0)->GetClassName(),
      std::string(theirs->GetOutputDataObject(0)->GetClassName()), "class of the output");
    PMB_EQUAL(ours.size(), size_t(3), "grids");
    for (const auto& leaf : LeavesOf(vtkCompositeDataSet::SafeDownCast(theirs->GetOutputDataObject(0))))
    {
      const vtkIdType count = vtkPolyData::SafeDownCast(ours[leaf.first].Data)->GetNumberOfPolys();
      PMB_EQUAL(count, vtkPolyData::SafeDownCast(leaf.second.Data)->GetNumberOfPolys(), "triangles of a grid");
      total[n] += count;
    }
  }
  PMB_CHECK(total[0] > 100 && total[0] < total[1], "refined cells are left out: " << total[0] << " of " << total[1]);
}

// `count` blocks of 41^3 samples, large enough for contexts of their own, and a small one.
vtkSmartPointer<vtkMultiBlockDataSet> LargeBlocks(unsigned int count)
{
  auto blocks = vtkSmartPointer<vtkMultiBlockDataSet>::New();
  for (unsigned int b = 0; b < count; ++b)
  {
    blocks->SetBlock(b, MakeImage(41, 41, 41, VTK_UNSIGNED_CHAR, Distance(20, 19 + 0.05 * b, 21)));
  }
  blocks->SetBlock(count, Image(0));
  return blocks;
}

// Runs at another isovalue. Returns how many blocks were read.
vtkIdType Read(vtkPMBContourFilter* filter, vtkMultiBlockDataSet* blocks, double isovalue)
{
  const vtkIdType before = filter->GetNumberOfBinds();
  filter->SetInputData(blocks);
  filter->SetValue(0, isovalue);
  filter->Update();
  auto* mesh = vtkMultiBlockDataSet::SafeDownCast(filter->GetOutputDataObject(0))->GetBlock(1);
  std::string difference;
  auto alone = Contour(vtkImageData::SafeDownCast(blocks->GetBlock(1)), isovalue);
  PMB_CHECK(SameBytes(vtkPolyData::SafeDownCast(mesh), alone, difference), difference);
  return filter->GetNumberOfBinds() - before;
}

// A block is read once, not for each isovalue, and again after a change.
void TestReuse()
{
  auto blocks = LargeBlocks(3);
  vtkNew<vtkPMBContourFilter> filter;
  PMB_EQUAL(Read(filter, blocks, 7.5), 4, "blocks read at first");
  PMB_EQUAL(Read(filter, blocks, 8.5), 0, "blocks read for another isovalue");
  vtkImageData::SafeDownCast(blocks->GetBlock(1))->GetPointData()->GetScalars()->Modified();
  PMB_EQUAL(Read(filter, blocks, 9.5), 1, "blocks read after a change of one");
  auto many = LargeBlocks(70); // more than have contexts: the last ones share one
  PMB_EQUAL(Read(filter, many, 7.5), 71, "many blocks read to begin with");
  PMB_EQUAL(Read(filter, many, 8.5), 7, "many blocks read for another isovalue");
  PMB_EQUAL(Read(filter, blocks, 8.5), 4, "of the first again: they were let go");
}

// One summary and one warning for all, with lines. The summary ends with an error of any block.
void TestSummary()
{
  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetBlock(0, Image(0));
  blocks->SetBlock(1, Image(1));
  blocks->SetBlock(3, MakeImage(9, 9, 9, VTK_FLOAT, [](int i, int, int) { return 100 + i; })); // 2 is empty
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(blocks);
  const auto run = [&](double isovalue)
  {
    messages.Clear();
    filter->SetValue(0, isovalue);
    filter->Update();
    return std::string(filter->GetLastRunSummary());
  };
  const std::string summary = run(5.3);
  const vtkIdType triangles = Contour(Image(0), 5.3)->GetNumberOfPolys();
  const vtkIdType lines = Contour(Image(1), 5.3)->GetNumberOfLines();
  PMB_CHECK(Has(summary, "3 of 3 blocks") && Has(summary, std::to_string(triangles) + " triangles") &&
      Has(summary, std::to_string(lines) + " lines"),
    summary);
  PMB_EQUAL(messages.Errors() + messages.Warnings(), 0, "an isovalue of two blocks: " + messages.Text());
  run(50); // outside each block's range, inside that of all
  PMB_EQUAL(messages.Errors() + messages.Warnings(), 0, "an isovalue between blocks: " + messages.Text());
  run(500);
  PMB_CHECK(messages.Warnings() == 1 && Has(messages.Text(), "0 to 108"), "the range of all: " << messages.Text());

  vtkNew<vtkMultiBlockDataSet> bad;
  bad->SetBlock(0, Image(0));
  vtkImageData::SafeDownCast(bad->GetBlock(0))->SetSpacing(0, 1, 1);
  bad->SetBlock(1, MakeImage(9, 1, 1, VTK_FLOAT, Distance(1, 0, 0)));
  filter->SetInputData(bad);
  PMB_CHECK(Has(run(5.3), "Failed: The image has spacing"), filter->GetLastRunSummary());
  PMB_EQUAL(messages.Errors(), 1, "an error of a block");
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

int TestPMBContourFilterComposite(int, char*[])
{
  TestThreads();
  TestSummary();
  TestTrees();
  TestOthers();
  TestAMR();
  TestReuse();
  return Result();
}
