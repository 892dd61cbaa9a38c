// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Points and triangles of vtkFlyingEdges3D, triangle counts of vtkMarchingCubes, and a sound mesh, on several volumes.
#include "PMBTesting.h"

#include <cmath>

using namespace pmbtest;

namespace
{
void CheckMesh(vtkImageData* image, vtkPolyData* mesh, const std::string& what, bool smooth)
{
  int dims[3];
  image->GetDimensions(dims);
  const Judgement j = Judge(mesh, dims);
  PMB_EQUAL(j.OutOfRange, 0, what + ": ids out of range");
  PMB_EQUAL(j.Orphans, 0, what + ": orphans");
  PMB_EQUAL(j.NotFinite, 0, what + ": points that are not finite");
  PMB_EQUAL(j.OpenEdges, 0, what + ": open edges");
  PMB_EQUAL(j.Repeated, 0, what + ": directed edges used twice");
  if (smooth)
  {
    PMB_CHECK(
      j.Disagreeing * 1000 < mesh->GetNumberOfPolys(), what << ": " << j.Disagreeing << " facets face inward");
  }
}

// The image is of spacing 1 at the origin.
vtkSmartPointer<vtkPolyData> Compare(vtkImageData* image, double isovalue, const std::string& what)
{
  auto all = Contour(image, isovalue, [](vtkPMBContourFilter* f) { f->RemoveDegenerateTrianglesOff(); });
  auto reference = FlyingEdges(image, isovalue);
  PMB_CHECK(reference->GetNumberOfPolys() > 0, what << ": the reference is empty, the test says nothing");
  PMB_EQUAL(all->GetNumberOfPolys(), reference->GetNumberOfPolys(), what + ": triangles");
  PMB_EQUAL(all->GetNumberOfPoints(), reference->GetNumberOfPoints(), what + ": points");
  PMB_CHECK(Hausdorff(all, reference) < 1e-4, what << ": points are " << Hausdorff(all, reference) << " apart");
  PMB_CHECK(std::abs(AreaOf(all) / AreaOf(reference) - 1) < 1e-5,
    what << ": area " << AreaOf(all) << ", expected " << AreaOf(reference));
  return reference;
}

// Where no sample equals the isovalue, both settings and vtkMarchingCubes give the same number of triangles.
void CompareGeneral(vtkImageData* image, double isovalue, const std::string& what, bool smooth)
{
  auto reference = Compare(image, isovalue, what);
  auto mesh = Contour(image, isovalue);
  PMB_EQUAL(OtherTriangles(mesh, reference), 0, what + ": triangles cut in other ways");
  CheckMesh(image, mesh, what, smooth);
  PMB_EQUAL(mesh->GetNumberOfPolys(), MarchingCubes(image, isovalue)->GetNumberOfPolys(), what + ": marching cubes");
}
}

int TestPMBContourFilterParity(int, char*[])
{
  auto wavelet = MakeWavelet(61);
  wavelet->SetExtent(0, 60, 0, 60, 0, 60);
  for (double isovalue : { 100.0, 157.0, 200.0 })
  {
    Compare(wavelet, isovalue, "wavelet");
  }
  CompareGeneral(MakeImage(64, 64, 64, VTK_FLOAT, Cayley(64, 64, 64)), -0.012, "Cayley", true);
  CompareGeneral(MakeImage(45, 46, 47, VTK_DOUBLE, Cayley(45, 46, 47)), -0.012, "Cayley, double", true);
  CompareGeneral(MakeImage(40, 37, 50, VTK_FLOAT, Gyroid(9.1)), 0.1, "gyroid", true);
  CompareGeneral(MakeImage(40, 41, 42, VTK_FLOAT, Distance(19.3, 20.1, 20.7)), 15.03, "sphere", true);
  CompareGeneral(MakeImage(35, 36, 37, VTK_UNSIGNED_CHAR, Noise(1, 256)), 127.5, "noise, unsigned char", false);
  CompareGeneral(MakeImage(66, 9, 10, VTK_SHORT, Noise(2, 30000)), 12000.5, "noise, short", false);
  // The isovalue equals many samples: the counts without removal.
  Compare(MakeImage(24, 23, 22, VTK_UNSIGNED_CHAR, Noise(3, 5)), 2, "noise at a sample's value");
  return Result();
}
