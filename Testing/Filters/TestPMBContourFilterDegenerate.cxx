// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Isovalues that equal samples: no triangle without area, no two points at one place, no orphan; and switched off, the
// counts of vtkFlyingEdges3D.
#include "PMBTesting.h"

#include <cmath>

using namespace pmbtest;

namespace
{
void Compare(vtkImageData* image, double isovalue, const std::string& what)
{
  auto clean = Contour(image, isovalue);
  auto all = Contour(image, isovalue, [](vtkPMBContourFilter* f) { f->RemoveDegenerateTrianglesOff(); });
  auto reference = FlyingEdges(image, isovalue);
  PMB_EQUAL(all->GetNumberOfPolys(), reference->GetNumberOfPolys(), what + ": triangles without removal");
  PMB_EQUAL(all->GetNumberOfPoints(), reference->GetNumberOfPoints(), what + ": points without removal");

  int dims[3];
  image->GetDimensions(dims);
  const Judgement before = Judge(all, dims), after = Judge(clean, dims);
  PMB_CHECK(before.ZeroArea > 0 && before.Duplicates > 0, what << ": nothing to remove, the test says nothing");
  PMB_EQUAL(after.ZeroArea, 0, what + ": triangles without area");
  PMB_EQUAL(after.Duplicates, 0, what + ": points at one place");
  PMB_EQUAL(after.Orphans, 0, what + ": orphans");
  PMB_EQUAL(after.OutOfRange, 0, what + ": ids out of range");
  PMB_EQUAL(after.OpenEdges, 0, what + ": open edges");
  // What is left out has no area, so nothing else may be gone.
  PMB_EQUAL(clean->GetNumberOfPolys(), all->GetNumberOfPolys() - before.ZeroArea, what + ": triangles left");
  PMB_CHECK(std::abs(AreaOf(clean) / AreaOf(all) - 1) < 1e-6, what << ": area changed by the removal");
}
}

int TestPMBContourFilterDegenerate(int, char*[])
{
  for (int type : { VTK_UNSIGNED_CHAR, VTK_SHORT, VTK_INT, VTK_FLOAT, VTK_DOUBLE, VTK_UNSIGNED_LONG_LONG })
  {
    const std::string name = vtkImageScalarTypeNameMacro(type);
    Compare(MakeImage(21, 17, 13, type, Noise(7, 4)), 1, name + " noise at 1");
    Compare(MakeImage(40, 11, 9, type, Noise(8, 6)), 3, name + " noise at 3");
  }
  Compare(MakeImage(34, 12, 12, VTK_SHORT, [](int i, int j, int k) { return i + j + k; }), 20, "ramp");
  Compare(MakeImage(25, 25, 25, VTK_INT,
            [](int i, int j, int k) { return std::abs(i - 12) + std::abs(j - 12) + std::abs(k - 12); }),
    8, "octahedron");
  return Result();
}
