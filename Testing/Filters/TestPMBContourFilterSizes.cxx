// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Every size from 2 to 70 along each axis, so that volumes end at every place of a brick.
#include "PMBTesting.h"

using namespace pmbtest;

namespace
{
void Compare(int nx, int ny, int nz)
{
  auto image = MakeImage(nx, ny, nz, VTK_SHORT, Noise(nx + 100 * ny + 10000 * nz, 1000));
  auto mesh = Contour(image, 499.5, [](vtkPMBContourFilter* f) { f->RemoveDegenerateTrianglesOff(); });
  auto reference = FlyingEdges(image, 499.5);
  std::ostringstream what;
  what << nx << " x " << ny << " x " << nz;
  PMB_EQUAL(mesh->GetNumberOfPolys(), reference->GetNumberOfPolys(), what.str() + ": triangles");
  PMB_EQUAL(mesh->GetNumberOfPoints(), reference->GetNumberOfPoints(), what.str() + ": points");
  PMB_CHECK(Hausdorff(mesh, reference) < 1e-4, what.str() << ": points");
  const int dims[3] = { nx, ny, nz };
  const Judgement j = Judge(mesh, dims);
  PMB_EQUAL(j.Orphans + j.OutOfRange + j.OpenEdges + j.Repeated + j.NotFinite, 0, what.str() + ": mesh");
}
}

int TestPMBContourFilterSizes(int, char*[])
{
  for (int n = 2; n <= 70; ++n)
  {
    Compare(n, 6, 5);
    Compare(5, n, 6);
    Compare(6, 5, n);
  }
  for (int n = 2; n <= 9; ++n)
  {
    Compare(30 + n, 2 + n, 12 - n);
    Compare(2, 2, n);
    Compare(2, n, 2);
    Compare(n, 2, 2);
  }
  return Result();
}
