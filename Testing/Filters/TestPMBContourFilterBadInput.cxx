// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Each kind of invalid input or setting: one error that names it, an empty output, and a next call that works.
#include "PMBTesting.h"

#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkExecutive.h"
#include "vtkFloatArray.h"
#include "vtkHyperTreeGrid.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkRectilinearGrid.h"
#include "vtkStringArray.h"
#include "vtkTable.h"
#include "vtkUnstructuredGrid.h"

#include <limits>

using namespace pmbtest;

namespace
{
const double NaN = std::numeric_limits<double>::quiet_NaN();
const double Infinity = std::numeric_limits<double>::infinity();

vtkSmartPointer<vtkImageData> Good()
{
  return MakeImage(20, 20, 20, VTK_FLOAT, Distance(9.5, 9.5, 9.5));
}

void Select(vtkPMBContourFilter* filter, int association, const char* name)
{
  filter->SetInputArrayToProcess(0, 0, 0, association, name);
}

struct Trouble
{
  const char* Name;
  std::vector<std::string> Words; // in the message
  std::function<void(vtkPMBContourFilter*, vtkImageData*)> Make;
};

void Check(const Trouble& trouble)
{
  const std::string what = trouble.Name;
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter), pipeline(filter->GetExecutive());
  auto image = Good();
  filter->SetInputData(image);
  filter->SetValue(0, 7.1);
  trouble.Make(filter, image);
  filter->Update();
  PMB_EQUAL(messages.Errors(), 1, what + ": errors");
  PMB_EQUAL(messages.Warnings() + pipeline.Errors(), 0, what + ": further messages: " + pipeline.Text());
  PMB_EQUAL(filter->GetOutput()->GetNumberOfCells() + filter->GetOutput()->GetNumberOfPoints(), 0, what + ": output");
  for (const std::string& word : trouble.Words)
  {
    PMB_CHECK(messages.Text().find(word) != std::string::npos,
      what << ": the message does not say '" << word << "': " << messages.Text());
  }
  PMB_EQUAL(std::string(filter->GetLastRunSummary()).find("Failed: "), size_t(0), what + ": summary");

  // The same filter, with good input and settings.
  messages.Clear();
  filter->SetInputData(Good());
  filter->SetNumberOfContours(1);
  filter->SetValue(0, 7.1);
  filter->SetArrayComponent(0);
  filter->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, vtkDataSetAttributes::SCALARS);
  filter->Update();
  PMB_CHECK(filter->GetOutput()->GetNumberOfPolys() > 1000, what << ": the next call");
  PMB_EQUAL(messages.Errors() + messages.Warnings(), 0, what + ": messages of the next call: " + messages.Text());
}

const int Points = vtkDataObject::FIELD_ASSOCIATION_POINTS;
const int Cells = vtkDataObject::FIELD_ASSOCIATION_CELLS;

// Adds an array to points or cells, and chooses it as one of points or cells.
std::function<void(vtkPMBContourFilter*, vtkImageData*)> With(
  vtkAbstractArray* array, vtkIdType tuples, int belongs, int chosen)
{
  const vtkSmartPointer<vtkAbstractArray> kept = array;
  return [=](vtkPMBContourFilter* filter, vtkImageData* image)
  {
    kept->SetName("other");
    kept->SetNumberOfTuples(tuples);
    image->GetAttributesAsFieldData(belongs)->AddArray(kept);
    Select(filter, chosen, "other");
  };
}

std::vector<Trouble> Troubles()
{
  vtkNew<vtkFloatArray> onCells, chosenOnCells, hollow, shorter;
  vtkNew<vtkStringArray> names;
  return {
    { "no array at all", { "no active point scalars", "none" },
      [](vtkPMBContourFilter*, vtkImageData* image) { image->GetPointData()->Initialize(); } },
    { "no array of this name", { "no point array 'density'", "'samples'" },
      [](vtkPMBContourFilter* f, vtkImageData*) { Select(f, Points, "density"); } },
    { "only a cell array of this name", { "'other'", "cell array", "Cell Data to Point Data" },
      With(onCells, 6859, Cells, Points) },
    { "a cell array", { "'other'", "belongs to the cells", "Cell Data to Point Data" },
      With(chosenOnCells, 6859, Cells, Cells) },
    { "a string array", { "'other'", "not numeric" }, With(names, 8000, Points, Points) },
    { "an empty array", { "'other'", "0 tuples", "8000 points" }, With(hollow, 0, Points, Points) },
    { "a short array", { "'other'", "7999 tuples", "8000 points" }, With(shorter, 7999, Points, Points) },
    { "component too high", { "no component 1", "ArrayComponent to a number from 0 to 0" },
      [](vtkPMBContourFilter* f, vtkImageData*) { f->SetArrayComponent(1); } },
    { "component negative", { "no component -1" },
      [](vtkPMBContourFilter* f, vtkImageData*) { f->SetArrayComponent(-1); } },
    { "spacing 0", { "(1, 0, 1)", "spacing" },
      [](vtkPMBContourFilter*, vtkImageData* image) { image->SetSpacing(1, 0, 1); } },
    { "spacing NaN", { "nan", "spacing" },
      [](vtkPMBContourFilter*, vtkImageData* image) { image->SetSpacing(1, 1, NaN); } },
    { "origin infinite", { "inf", "Origin" },
      [](vtkPMBContourFilter*, vtkImageData* image) { image->SetOrigin(Infinity, 0, 0); } },
    { "singular direction", { "determinant 0" },
      [](vtkPMBContourFilter*, vtkImageData* image) { image->SetDirectionMatrix(1, 0, 0, 0, 1, 0, 1, 1, 0); } },
    { "NaN in the direction", { "direction matrix" },
      [](vtkPMBContourFilter*, vtkImageData* image) { image->SetDirectionMatrix(1, 0, 0, 0, NaN, 0, 0, 0, 1); } },
  };
}

// Not image data: one error that says what to use instead, and none from VTK's pipeline.
void TestOtherInput()
{
  vtkNew<vtkRectilinearGrid> rectilinear;
  vtkNew<vtkUnstructuredGrid> empty;
  vtkNew<vtkTable> table;
  vtkNew<vtkHyperTreeGrid> tree;
  for (vtkDataObject* input : std::initializer_list<vtkDataObject*>{ rectilinear, empty, table, tree })
  {
    Check({ input->GetClassName(), { input->GetClassName(), "Contour", "Resample To Image" },
      [=](vtkPMBContourFilter* f, vtkImageData*) { f->SetInputDataObject(input); } });
  }
}

// Names isovalues that are not finite. (One warning, and the others' surface and measures: the fuzzer.)
void TestIsovaluesNotFinite()
{
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(Good());
  filter->ComputeMeasuresOn();
  filter->SetValue(0, Infinity);
  filter->SetValue(1, 7.1);
  filter->SetValue(2, NaN);
  filter->SetValue(3, -Infinity);
  filter->Update();
  PMB_CHECK(Has(messages.Text(), "number 0 is inf, number 2 is nan, number 3 is -inf"), messages.Text());
  vtkDataArray* rows = filter->GetOutput()->GetFieldData()->GetArray("Isovalue");
  PMB_CHECK(
    rows && rows->GetNumberOfTuples() == 1 && rows->GetComponent(0, 0) == 7.1, "a row for each that is drawn");

  // None left: a single 3D image gets the suggested isovalue.
  messages.Clear();
  filter->SetNumberOfContours(1);
  filter->Update();
  PMB_CHECK(filter->GetOutput()->GetNumberOfPolys() > 100, "the suggested isovalue");
  PMB_CHECK(Has(messages.Text(), "the suggested isovalue is used"), messages.Text());
}

void TestNotFinite()
{
  for (double bad : { NaN, Infinity })
  {
    vtkNew<vtkPMBContourFilter> filter;
    Messages messages(filter);
    filter->SetInputData(MakeImage(9, 9, 9, VTK_FLOAT, [=](int, int, int) { return bad; }));
    filter->Update();
    PMB_EQUAL(filter->GetOutput()->GetNumberOfPoints(), 0, "no finite sample at all");
    PMB_EQUAL(messages.Warnings(), 1, "no finite sample at all is worth a warning");
  }
}

// One warning per filter, also for many blocks, of flags of hidden points or cells that do not fit. (The output: the fuzzer.)
struct UnfitFlags
{
  std::string Words; // in the warning
  bool OfCells;
  int Size, Type, Components;
  vtkIdType More; // tuples than there are points or cells
};

void TestUnfit(const UnfitFlags& unfit)
{
  auto image = MakeImage(10, 10, unfit.Size, VTK_FLOAT, Distance(4.2, 4.4, 4.6));
  auto flags = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(unfit.Type));
  flags->SetName(vtkDataSetAttributes::GhostArrayName());
  flags->SetNumberOfComponents(unfit.Components);
  flags->SetNumberOfTuples(unfit.More + (unfit.OfCells ? image->GetNumberOfCells() : image->GetNumberOfPoints()));
  flags->Fill(vtkDataSetAttributes::HIDDENCELL | vtkDataSetAttributes::HIDDENPOINT);
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
    PMB_EQUAL(messages.Warnings(), 1, unfit.Words + ": warnings: " + messages.Text());
    PMB_CHECK(Has(messages.Text(), unfit.Words), unfit.Words << ": " << messages.Text());
    const std::string summary = filter->GetLastRunSummary();
    PMB_CHECK(Has(summary, " points in ") && !Has(summary, " 0 points in "), unfit.Words << ": " << summary);
  }
}
}

int TestPMBContourFilterBadInput(int, char*[])
{
  for (const Trouble& trouble : Troubles())
  {
    Check(trouble);
  }
  TestOtherInput();
  TestIsovaluesNotFinite();
  TestNotFinite();
  const UnfitFlags unfit[] = { { "920 tuples", false, 10, VTK_UNSIGNED_CHAR, 1, -80 },
    { "730 tuples", true, 10, VTK_UNSIGNED_CHAR, 1, 1 }, { "99 tuples", false, 1, VTK_UNSIGNED_CHAR, 1, -1 },
    { "of the points has 1000 tuples of 1 double", false, 10, VTK_DOUBLE, 1, 0 },
    { "of the cells has 729 tuples of 2 unsigned char", true, 10, VTK_UNSIGNED_CHAR, 2, 0 },
    { "of the cells has 81 tuples of 2 unsigned char", true, 1, VTK_UNSIGNED_CHAR, 2, 0 } };
  for (const UnfitFlags& one : unfit)
  {
    TestUnfit(one);
  }
  return Result();
}
