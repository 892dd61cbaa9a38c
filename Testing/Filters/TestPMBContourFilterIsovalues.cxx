// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Several isovalues in one pass: each one's mesh as alone, one after another, in the order given.
#include "PMBTesting.h"

#include "vtkDataArray.h"
#include "vtkNew.h"
#include "vtkPointData.h"

using namespace pmbtest;

namespace
{
void Compare(vtkImageData* image, const std::vector<double>& isovalues, const std::string& what)
{
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputData(image);
  for (size_t i = 0; i < isovalues.size(); ++i)
  {
    filter->SetValue(static_cast<int>(i), isovalues[i]);
  }
  filter->Update();
  PMB_EQUAL(filter->GetNumberOfBinds(), 1, what + ": one summary for all");
  const std::vector<double> points = PointsOf(filter->GetOutput());
  const std::vector<vtkIdType> triangles = TrianglesOf(filter->GetOutput());
  vtkDataArray* scalars = filter->GetOutput()->GetPointData()->GetScalars();

  std::vector<double> expectedPoints;
  std::vector<vtkIdType> expectedTriangles;
  bool scalarsRight = true;
  for (double isovalue : isovalues)
  {
    auto alone = Contour(image, isovalue);
    const vtkIdType first = static_cast<vtkIdType>(expectedPoints.size() / 3);
    for (vtkIdType id : TrianglesOf(alone))
    {
      expectedTriangles.push_back(first + id);
    }
    for (vtkIdType i = 0; i < alone->GetNumberOfPoints() && first + i < scalars->GetNumberOfTuples(); ++i)
    {
      scalarsRight = scalarsRight && scalars->GetComponent(first + i, 0) == static_cast<float>(isovalue);
    }
    const std::vector<double> alonePoints = PointsOf(alone);
    expectedPoints.insert(expectedPoints.end(), alonePoints.begin(), alonePoints.end());
  }
  PMB_CHECK(points == expectedPoints, what << ": points");
  PMB_CHECK(triangles == expectedTriangles && !triangles.empty(), what << ": triangles");
  PMB_CHECK(scalarsRight, what << ": scalars");
}
}

int TestPMBContourFilterIsovalues(int, char*[])
{
  auto wavelet = MakeWavelet(41);
  Compare(wavelet, { 200, 157.5, 100, 157.5 }, "in any order, one twice");
  Compare(wavelet, { 1e9, 157, -1e9 }, "some outside the range");
  Compare(MakeImage(36, 20, 20, VTK_UNSIGNED_CHAR, Noise(3, 5)), { 1, 2, 3 }, "at the samples' values");
  // None: nothing, and no complaint.
  vtkNew<vtkPMBContourFilter> none;
  Messages messages(none);
  none->SetInputData(wavelet);
  none->SetNumberOfContours(0);
  none->Update();
  PMB_EQUAL(none->GetOutput()->GetNumberOfCells(), 0, "no isovalue, no surface");
  PMB_EQUAL(messages.Errors() + messages.Warnings(), 0, "no isovalue is no error");
  return Result();
}
