// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// 2D images give isolines by VTK's own filter. (Thinner and empty input: the fuzzer.)
#include "PMBTesting.h"

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkDoubleArray.h"
#include "vtkIdList.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkSynchronizedTemplates2D.h"

#include <cmath>
#include <limits>

using namespace pmbtest;

namespace
{
void TestPlane(int nx, int ny, int nz, int type)
{
  auto image = MakeImage(nx, ny, nz, type, Distance(0.4 * nx, 0.4 * ny, 0.4 * nz));
  image->SetExtent(3, 2 + nx, -5, ny - 6, 20, 19 + nz);
  image->SetSpacing(0.5, 2, 1.25);
  image->SetOrigin(1, 2, 3);
  std::ostringstream what;
  what << nx << " x " << ny << " x " << nz << ", type " << type;

  vtkNew<vtkPMBContourFilter> filter;
  vtkNew<vtkSynchronizedTemplates2D> reference;
  for (int i = 0; i < 2; ++i)
  {
    filter->SetValue(i, 4.5 + 3 * i);
    reference->SetValue(i, 4.5 + 3 * i);
  }
  Messages messages(filter);
  filter->SetInputData(image);
  reference->SetInputData(image);
  filter->Update();
  reference->Update();
  vtkPolyData* lines = filter->GetOutput();
  PMB_CHECK(reference->GetOutput()->GetNumberOfLines() > 20, what.str() << ": the reference is too small");
  PMB_EQUAL(lines->GetNumberOfLines(), reference->GetOutput()->GetNumberOfLines(), what.str() + ": lines");
  PMB_EQUAL(lines->GetNumberOfPoints(), reference->GetOutput()->GetNumberOfPoints(), what.str() + ": points");
  PMB_CHECK(Hausdorff(lines, reference->GetOutput()) < 1e-4, what.str() << ": points");
  double range[2];
  vtkDataArray* scalars = lines->GetPointData()->GetScalars();
  PMB_CHECK(scalars != nullptr && std::string(scalars->GetName()) == "samples", what.str() << ": scalars");
  scalars->GetRange(range);
  PMB_CHECK(range[0] == 4.5 && range[1] == 7.5, what.str() << ": the scalars are the isovalues");
  PMB_EQUAL(messages.Errors() + messages.Warnings(), 0, what.str() + ": messages " + messages.Text());
  PMB_CHECK(Has(filter->GetLastRunSummary(), "2D"), "the summary says why");

  const double *old = lines->GetBounds(), turned[2] = { old[4], old[5] }; // VTK's filter has no direction matrix
  image->SetDirectionMatrix(0, 0, 1, 1, 0, 0, 0, 1, 0);                   // x along the former z
  image->SetOrigin(3, 1, 2);
  filter->Update();
  const double* now = filter->GetOutput()->GetBounds();
  PMB_CHECK(std::abs(now[0] - turned[0]) + std::abs(now[1] - turned[1]) < 1e-4, what.str() << ": direction");
}

void TestArrays()
{
  auto image = MakeImage(24, 1, 18, VTK_FLOAT, Distance(11.5, 0, 8.5));
  image->GetPointData()->AddArray(
    MakeArray(image, "ramp", VTK_DOUBLE, 2, 1, [](int i, int, int k) { return i + 100 * k; }));
  vtkNew<vtkDoubleArray> ids;
  ids->SetName("cell");
  for (vtkIdType c = 0; c < image->GetNumberOfCells(); ++c)
  {
    ids->InsertNextValue(c);
  }
  image->GetCellData()->AddArray(ids);
  auto lines = Contour(image, 6.2);
  vtkDataArray* ramp = lines->GetPointData()->GetArray("ramp");
  vtkDataArray* cell = lines->GetCellData()->GetArray("cell");
  PMB_CHECK(ramp && cell && lines->GetNumberOfLines() > 20, "arrays are passed");
  double worst = 0;
  for (vtkIdType i = 0; ramp && i < lines->GetNumberOfPoints(); ++i)
  {
    double p[3];
    lines->GetPoint(i, p);
    worst = std::max(worst, std::abs(ramp->GetComponent(i, 1) - (p[0] + 100 * p[2])));
  }
  PMB_CHECK(worst < 1e-3, "interpolated values are off by " << worst);
  int wrong = 0;
  vtkNew<vtkIdList> ends;
  for (vtkIdType c = 0; cell && c < lines->GetNumberOfLines(); ++c)
  {
    lines->GetLines()->GetCellAtId(c, ends);
    double a[3], b[3];
    lines->GetPoint(ends->GetId(0), a);
    lines->GetPoint(ends->GetId(1), b);
    wrong += cell->GetComponent(c, 0) != std::floor((a[0] + b[0]) / 2) + 23 * std::floor((a[2] + b[2]) / 2);
  }
  PMB_EQUAL(wrong, 0, "lines with another cell's value");
  auto bare = Contour(image, 6.2,
    [](vtkPMBContourFilter* f)
    {
      f->InterpolateAttributesOff();
      f->ComputeScalarsOff();
    });
  PMB_EQUAL(bare->GetPointData()->GetNumberOfArrays() + bare->GetCellData()->GetNumberOfArrays(), 0, "arrays off");
}

// Isolines leave out hidden cells and points. (Triangles, also after changes: the fuzzer, and Testing/Kernels.)
void TestHidden()
{
  const char* name = vtkDataSetAttributes::GhostArrayName();
  auto image = MakeImage(40, 40, 1, VTK_FLOAT, Distance(19.3, 18.7, 0)),
       cells = MakeImage(39, 39, 1, VTK_FLOAT, Gyroid(5));
  const vtkIdType all = Contour(image, 12.5)->GetNumberOfLines();
  image->GetCellData()->AddArray(MakeArray(cells, name, VTK_UNSIGNED_CHAR, 1, 0,
    [](int i, int, int) { return i < 19 ? vtkDataSetAttributes::HIDDENCELL : 0; }));
  auto half = Contour(image, 12.5);
  const double first = half->GetBounds()[0];
  PMB_CHECK(half->GetNumberOfLines() < all && first >= 19, "lines from hidden cells, from x = " << first);
  image->GetPointData()->AddArray(
    MakeArray(image, name, VTK_UNSIGNED_CHAR, 1, 0, [](int, int, int) { return vtkDataSetAttributes::HIDDENPOINT; }));
  PMB_EQUAL(Contour(image, 12.5)->GetNumberOfLines(), vtkIdType(0), "lines of hidden points");
}

// As for surfaces: a warning names the range of finite, visible samples within the image.
void TestRange()
{
  auto image = MakeImage(15, 15, 1, VTK_FLOAT,
    [](int i, int j, int) { return i == 3 ? std::numeric_limits<double>::quiet_NaN() : i + 100 * j; });
  vtkDataArray* samples = image->GetPointData()->GetScalars();
  samples->InsertNextTuple1(5000); // longer than the image: no harm
  vtkNew<vtkPMBContourFilter> filter;
  Messages messages(filter);
  filter->SetInputData(image);
  filter->SetValue(0, 2000);
  filter->Update();
  PMB_EQUAL(messages.Warnings(), 1, "an isovalue outside the range");
  PMB_CHECK(Has(messages.Text(), "0 to 1414"), messages.Text());
  messages.Clear();
  filter->SetValue(0, 1000);
  filter->Update();
  PMB_EQUAL(messages.Errors() + messages.Warnings(), 0, messages.Text());
  // Cells with a sample that is not finite give no line.
  PMB_CHECK(filter->GetOutput()->GetNumberOfLines() > 0, "lines");
  for (vtkIdType i = 0; i < filter->GetOutput()->GetNumberOfPoints(); ++i)
  {
    const double x = filter->GetOutput()->GetPoint(i)[0];
    PMB_CHECK(x <= 2 || x >= 4, "a point beside such a sample");
  }
}
}

int TestPMBContourFilterFlat(int, char*[])
{
  TestPlane(25, 27, 1, VTK_FLOAT);
  TestPlane(25, 1, 27, VTK_DOUBLE);
  TestPlane(1, 25, 27, VTK_SHORT);
  TestArrays();
  TestRange();
  TestHidden();
  return Result();
}
