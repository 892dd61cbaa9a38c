// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// What normals and gradients are made from: NormalEstimator.
#include "PMBTesting.h"

#include "vtkDataArray.h"
#include "vtkNew.h"
#include "vtkPointData.h"

#include <algorithm>
#include <cmath>

using namespace pmbtest;

namespace
{
const char* const Names[] = { "central", "forward", "Sobel" };
const int Size = 20;
const double Spacing[3] = { 0.5, 2.0, 1.0 };
const double Isovalue = 150.3;

// i^2 + i j^2: along x and y the three estimators are known, and not the same.
vtkSmartPointer<vtkImageData> MakeKnownImage(int type)
{
  auto image = MakeImage(Size, Size, Size, type, [](int i, int j, int) { return i * i + i * j * j; });
  image->SetSpacing(Spacing);
  return image;
}

void ExpectGradient(int estimator, double x, double y, double gradient[3])
{
  const bool forward = estimator == vtkPMBContourFilter::FORWARD_DIFFERENCES;
  const double more = forward ? 1.0 : estimator == vtkPMBContourFilter::SOBEL ? 0.5 : 0.0;
  gradient[0] = (2.0 * x + y * y + more) / Spacing[0];
  gradient[1] = x * (2.0 * y + (forward ? 1.0 : 0.0)) / Spacing[1];
  gradient[2] = 0.0;
}

void TestKnownField(int type, int estimator)
{
  auto mesh = Contour(MakeKnownImage(type), Isovalue,
    [=](vtkPMBContourFilter* f)
    {
      f->SetNormalEstimator(estimator);
      f->ComputeGradientsOn();
    });
  vtkDataArray* gradients = mesh->GetPointData()->GetArray("Gradients");
  vtkDataArray* normals = mesh->GetPointData()->GetNormals();
  int checked = 0;
  for (vtkIdType id = 0; id < mesh->GetNumberOfPoints(); ++id)
  {
    double point[3], expected[3], got[3], normal[3];
    mesh->GetPoint(id, point);
    const double x = point[0] / Spacing[0], y = point[1] / Spacing[1];
    // On edges along x, away from the border, the gradient is linear in x.
    if (std::abs(y - std::round(y)) > 1e-5 || x < 1 || x > Size - 2 || y < 0.5 || y > Size - 1.5)
    {
      continue;
    }
    ++checked;
    ExpectGradient(estimator, x, y, expected);
    gradients->GetTuple(id, got);
    normals->GetTuple(id, normal);
    const double length = std::hypot(expected[0], expected[1]);
    for (int axis = 0; axis < 3; ++axis)
    {
      PMB_CHECK(std::abs(got[axis] - expected[axis]) < 1e-4 * length,
        Names[estimator] << ", point " << id << ", axis " << axis << ": gradient " << got[axis] << ", not "
                         << expected[axis]);
      PMB_CHECK(std::abs(normal[axis] + expected[axis] / length) < 1e-4,
        Names[estimator] << ", point " << id << ", axis " << axis << ": normal " << normal[axis]);
    }
  }
  PMB_CHECK(checked > 50, "only " << checked << " points");
}

// The greatest difference between the point arrays of a name.
double GreatestDifference(vtkPolyData* a, vtkPolyData* b, const char* name)
{
  vtkDataArray* arrays[2] = { a->GetPointData()->GetArray(name), b->GetPointData()->GetArray(name) };
  double greatest = 0.0;
  for (vtkIdType id = 0; id < arrays[0]->GetNumberOfTuples(); ++id)
  {
    for (int axis = 0; axis < 3; ++axis)
    {
      greatest = std::max(greatest, std::abs(arrays[0]->GetComponent(id, axis) - arrays[1]->GetComponent(id, axis)));
    }
  }
  return greatest;
}

// Everything but normals and gradients stays, and the volume is not read again.
void TestOnlyOrientationChanges()
{
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputData(MakeKnownImage(VTK_SHORT));
  filter->SetValue(0, Isovalue);
  filter->ComputeGradientsOn();
  filter->Update();
  vtkNew<vtkPolyData> first;
  first->DeepCopy(filter->GetOutput());
  for (int estimator : { vtkPMBContourFilter::FORWARD_DIFFERENCES, vtkPMBContourFilter::SOBEL })
  {
    vtkNew<vtkPolyData> before, after;
    filter->SetNormalEstimator(estimator);
    filter->Update();
    before->ShallowCopy(first);
    after->ShallowCopy(filter->GetOutput());
    for (const char* name : { "Normals", "Gradients" })
    {
      PMB_CHECK(GreatestDifference(before, after, name) > 1e-3, Names[estimator] << ": " << name);
      before->GetPointData()->RemoveArray(name);
      after->GetPointData()->RemoveArray(name);
    }
    std::string difference;
    PMB_CHECK(SameBytes(before, after, difference), Names[estimator] << ": " << difference);
  }
  PMB_EQUAL(filter->GetNumberOfBinds(), 1, "binds");
}

// Gradients without normals are by the estimator too.
void TestGradientsAlone()
{
  auto setup = [](bool normals)
  {
    return [=](vtkPMBContourFilter* f)
    {
      f->SetNormalEstimator(vtkPMBContourFilter::SOBEL);
      f->ComputeGradientsOn();
      f->SetComputeNormals(normals);
    };
  };
  auto image = MakeKnownImage(VTK_FLOAT);
  auto both = Contour(image, Isovalue, setup(true)), alone = Contour(image, Isovalue, setup(false));
  std::string difference;
  both->GetPointData()->RemoveArray("Normals");
  PMB_CHECK(alone->GetNumberOfPoints() > 0 && SameBytes(both, alone, difference), difference);
}

// Isolines have no normals.
void TestSlice()
{
  auto image = MakeImage(Size, Size, 1, VTK_FLOAT, [](int i, int j, int) { return i * i + i * j * j; });
  auto plain = Contour(image, Isovalue);
  auto sobel =
    Contour(image, Isovalue, [](vtkPMBContourFilter* f) { f->SetNormalEstimator(vtkPMBContourFilter::SOBEL); });
  std::string difference;
  PMB_CHECK(plain->GetNumberOfLines() > 0 && SameBytes(plain, sobel, difference), difference);
  PMB_EQUAL(sobel->GetNumberOfLines(), plain->GetNumberOfLines(), "lines");
  PMB_CHECK(!sobel->GetPointData()->GetNormals(), "normals of lines");
}
}

int TestPMBContourFilterNormals(int, char*[])
{
  for (int estimator = vtkPMBContourFilter::CENTRAL_DIFFERENCES; estimator <= vtkPMBContourFilter::SOBEL; ++estimator)
  {
    TestKnownField(VTK_SHORT, estimator);
    TestKnownField(VTK_FLOAT, estimator);
    TestKnownField(VTK_DOUBLE, estimator);
  }
  TestOnlyOrientationChanges();
  TestGradientsAlone();
  TestSlice();
  return Result();
}
