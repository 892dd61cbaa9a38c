// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Extents, origin, spacing and direction matrix; mirrored axes. (Normals and gradients, by each estimator: the fuzzer.)
#include "PMBTesting.h"

#include "vtkMath.h"

#include <algorithm>
#include <cmath>

using namespace pmbtest;

namespace
{
struct Frame
{
  const char* Name;
  int Min[3];
  double Origin[3];
  double Spacing[3];
  double Direction[9];
};

// The directions are an arbitrary rotation, and the same with an axis mirrored.
const Frame Frames[] = {
  { "extent", { 7, -20, 1000 }, { 0, 0, 0 }, { 1, 1, 1 }, { 1, 0, 0, 0, 1, 0, 0, 0, 1 } },
  { "origin and spacing", { 0, 0, 0 }, { -3, 40, 0.5 }, { 0.25, 2, 1.5 }, { 1, 0, 0, 0, 1, 0, 0, 0, 1 } },
  { "negative spacing", { 0, 3, 0 }, { 1, 2, 3 }, { 0.5, -1.25, 2 }, { 1, 0, 0, 0, 1, 0, 0, 0, 1 } },
  { "two negative spacings", { 0, 3, 0 }, { 1, 2, 3 }, { -0.5, -1.25, 2 }, { 1, 0, 0, 0, 1, 0, 0, 0, 1 } },
  { "direction", { -4, 5, 6 }, { 10, 20, 30 }, { 0.5, 0.75, 2 },
    { 0.36, 0.48, -0.8, -0.8, 0.60, 0.0, 0.48, 0.64, 0.60 } },
  { "mirrored direction", { -4, 5, 6 }, { 10, 20, 30 }, { 0.5, 0.75, 2 },
    { 0.36, 0.48, 0.8, -0.8, 0.60, 0.0, 0.48, 0.64, -0.60 } },
  { "sheared", { 2, 0, -9 }, { 0, 0, 0 }, { 1, 1, 1 }, { 1, 0.4, 0, 0, 1, -0.3, 0, 0, 1 } },
};
const int Dims[3] = { 31, 26, 22 };

vtkSmartPointer<vtkImageData> Place(const Frame& f, const Field& field)
{
  auto image = MakeImage(Dims[0], Dims[1], Dims[2], VTK_DOUBLE, field);
  image->SetExtent(
    f.Min[0], f.Min[0] + Dims[0] - 1, f.Min[1], f.Min[1] + Dims[1] - 1, f.Min[2], f.Min[2] + Dims[2] - 1);
  image->SetOrigin(f.Origin);
  image->SetSpacing(f.Spacing);
  image->SetDirectionMatrix(f.Direction);
  return image;
}

// World position of an index, from vtkImageData.
void ToWorld(vtkImageData* image, const double p[3], double world[3])
{
  int extent[6];
  image->GetExtent(extent);
  double shifted[3] = { p[0] + extent[0], p[1] + extent[2], p[2] + extent[4] };
  image->TransformContinuousIndexToPhysicalPoint(shifted, world);
}

void TestPlace(const Frame& frame)
{
  const Field field = Gyroid(11.3);
  auto plain = Contour(MakeImage(Dims[0], Dims[1], Dims[2], VTK_DOUBLE, field), 0.05);
  auto image = Place(frame, field);
  auto mesh = Contour(image, 0.05);
  const std::string what = frame.Name;
  PMB_EQUAL(mesh->GetNumberOfPoints(), plain->GetNumberOfPoints(), what + ": points");
  PMB_CHECK(mesh->GetNumberOfPolys() > 1000, what << ": too few triangles");
  double greatest = 0;
  for (vtkIdType i = 0; i < std::min(mesh->GetNumberOfPoints(), plain->GetNumberOfPoints()); ++i)
  {
    double p[3], world[3], q[3];
    plain->GetPoint(i, p);
    mesh->GetPoint(i, q);
    ToWorld(image, p, world);
    greatest = std::max(greatest, std::sqrt(vtkMath::Distance2BetweenPoints(world, q)));
  }
  PMB_CHECK(greatest < 1e-10 * 3000, what << ": a point is " << greatest << " from its place");

  const Judgement j = Judge(mesh);
  // Slivers may face against the smooth normals; wrong winding would be wrong nearly everywhere.
  PMB_CHECK(j.Disagreeing * 1000 < mesh->GetNumberOfPolys(), what << ": " << j.Disagreeing << " facets face inward");
  PMB_EQUAL(j.Repeated + j.Orphans + j.OutOfRange, 0, what + ": mesh");
}
}

int TestPMBContourFilterGeometry(int, char*[])
{
  for (const Frame& frame : Frames)
  {
    TestPlace(frame);
  }
  return Result();
}
