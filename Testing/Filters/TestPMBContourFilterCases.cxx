// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Each of the 256 ways in which the corners of a cell lie inside or outside.
#include "PMBTesting.h"

#include <set>

using namespace pmbtest;

int TestPMBContourFilterCases(int, char*[])
{
  std::set<vtkIdType> seen;
  for (int bits = 0; bits < 256; ++bits)
  {
    // Unequal distances to the isovalue, so that no two points fall together.
    auto image = MakeImage(2, 2, 2, VTK_FLOAT,
      [bits](int i, int j, int k)
      {
        const int corner = i + 2 * j + 4 * k;
        return (bits >> corner & 1) ? 1.0 + 0.1 * corner : -1.0 - 0.07 * corner;
      });
    const std::string what = "case " + std::to_string(bits);
    auto mesh = bits == 0 || bits == 255 ? nullptr : Contour(image, 0.0);
    if (!mesh)
    {
      continue; // no crossing: tested with the isovalues outside the range
    }
    auto reference = MarchingCubes(image, 0.0);
    PMB_EQUAL(mesh->GetNumberOfPolys(), reference->GetNumberOfPolys(), what + ": triangles");
    PMB_EQUAL(mesh->GetNumberOfPoints(), reference->GetNumberOfPoints(), what + ": points");
    PMB_CHECK(Hausdorff(mesh, reference) < 1e-6, what << ": points");
    PMB_EQUAL(OtherTriangles(mesh, reference), 0, what + ": triangles cut in other ways");
    seen.insert(mesh->GetNumberOfPolys());
    const int dims[3] = { 2, 2, 2 };
    const Judgement j = Judge(mesh, dims);
    PMB_EQUAL(j.Orphans + j.OutOfRange + j.ZeroArea + j.Repeated + j.OpenEdges, 0, what + ": mesh");
  }
  PMB_CHECK(seen.count(1) && seen.count(5), "cases of one and of five triangles were met");
  return Result();
}
