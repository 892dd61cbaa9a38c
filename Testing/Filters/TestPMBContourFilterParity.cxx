// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The same surface as VTK's filters, and a valid mesh: every case of a cell, larger volumes. (Sizes along each axis,
// isovalues that equal samples: Testing/Kernels; types of samples: TestPMBContourAcceleration.)
#include "PMBTesting.h"

#include <cmath>
#include <set>
#include <sstream>
#include <string>

using namespace pmbtest;

namespace
{
void Compare(vtkPolyData* mesh, vtkPolyData* reference, const std::string& what, double tolerance = 1e-4)
{
  PMB_CHECK(reference->GetNumberOfPolys() > 0, what << ": the reference is empty: the test checks nothing");
  PMB_EQUAL(mesh->GetNumberOfPolys(), reference->GetNumberOfPolys(), what + ": triangles");
  PMB_EQUAL(mesh->GetNumberOfPoints(), reference->GetNumberOfPoints(), what + ": points");
  const double distance = Hausdorff(mesh, reference);
  PMB_CHECK(distance < tolerance, what << ": points are " << distance << " apart");
}

Judgement CheckMesh(vtkImageData* image, vtkPolyData* mesh, const std::string& what)
{
  int dims[3];
  image->GetDimensions(dims);
  const Judgement j = Judge(mesh, dims);
  PMB_EQUAL(j.OutOfRange, 0, what + ": ids out of range");
  PMB_EQUAL(j.Orphans, 0, what + ": orphans");
  PMB_EQUAL(j.NotFinite, 0, what + ": points that are not finite");
  PMB_EQUAL(j.OpenEdges, 0, what + ": open edges");
  PMB_EQUAL(j.Repeated, 0, what + ": directed edges used twice");
  return j;
}

void CompareCases()
{
  std::set<vtkIdType> seen;
  for (int bits = 1; bits < 255; ++bits)
  {
    // Unequal distances to the isovalue, so that no two points coincide.
    auto image = MakeImage(2, 2, 2, VTK_FLOAT,
      [bits](int i, int j, int k)
      {
        const int corner = i + 2 * j + 4 * k;
        return (bits >> corner & 1) ? 1.0 + 0.1 * corner : -1.0 - 0.07 * corner;
      });
    const std::string what = "case " + std::to_string(bits);
    auto mesh = Contour(image, 0.0), reference = MarchingCubes(image, 0.0);
    Compare(mesh, reference, what, 1e-6);
    PMB_EQUAL(OtherTriangles(mesh, reference), 0, what + ": triangles cut in other ways");
    PMB_EQUAL(CheckMesh(image, mesh, what).ZeroArea, 0, what + ": triangles without an area");
    seen.insert(mesh->GetNumberOfPolys());
  }
  PMB_CHECK(seen.count(1) && seen.count(5), "cases of one and of five triangles were met");
}

void CompareGeneral(vtkImageData* image, double isovalue, const std::string& what, bool smooth)
{
  auto mesh = Contour(image, isovalue), reference = FlyingEdges(image, isovalue);
  Compare(mesh, reference, what);
  PMB_CHECK(std::abs(AreaOf(mesh) / AreaOf(reference) - 1) < 1e-5, what << ": area " << AreaOf(mesh));
  PMB_EQUAL(OtherTriangles(mesh, reference), 0, what + ": triangles cut in other ways");
  const vtkIdType inward = CheckMesh(image, mesh, what).Disagreeing;
  PMB_CHECK(!smooth || inward * 1000 < mesh->GetNumberOfPolys(), what << ": " << inward << " facets face inward");
  PMB_EQUAL(mesh->GetNumberOfPolys(), MarchingCubes(image, isovalue)->GetNumberOfPolys(), what + ": marching cubes");
}
}

int TestPMBContourFilterParity(int, char*[])
{
  CompareCases();
  CompareGeneral(MakeImage(64, 64, 64, VTK_FLOAT, Cayley(64)), -0.012, "Cayley", true);
  CompareGeneral(MakeImage(40, 37, 50, VTK_FLOAT, Gyroid(9.1)), 0.1, "gyroid", true);
  CompareGeneral(MakeImage(40, 41, 42, VTK_FLOAT, Distance(19.3, 20.1, 20.7)), 15.03, "sphere", true);
  CompareGeneral(MakeImage(35, 36, 37, VTK_UNSIGNED_CHAR, Noise(1, 256)), 127.5, "noise, unsigned char", false);
  CompareGeneral(MakeImage(66, 9, 10, VTK_SHORT, Noise(2, 30000)), 12000.5, "noise, short", false);
  return Result();
}
