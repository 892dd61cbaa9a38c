// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// All types of numbers that VTK's arrays have, against a reference that is right for each.
#include "PMBTesting.h"

#include "vtkDataArray.h"
#include "vtkPointData.h"
#include "vtkPoints.h"

using namespace pmbtest;

namespace
{
void Compare(int type, const Field& field, double isovalue, const std::string& what)
{
  auto image = MakeImage(37, 18, 11, type, field);
  // vtkFlyingEdges3D subtracts unsigned 32-bit and 64-bit samples with wrap-around and so misplaces their points.
  auto reference = MarchingCubes(image, isovalue);
  auto mesh = Contour(image, isovalue);
  PMB_CHECK(reference->GetNumberOfPolys() > 100, what << ": the reference is too small to say anything");
  PMB_EQUAL(mesh->GetNumberOfPolys(), reference->GetNumberOfPolys(), what + ": triangles");
  PMB_EQUAL(mesh->GetNumberOfPoints(), reference->GetNumberOfPoints(), what + ": points");
  PMB_CHECK(Hausdorff(mesh, reference) < 1e-4, what << ": points are " << Hausdorff(mesh, reference) << " apart");
  vtkDataArray* scalars = mesh->GetPointData()->GetScalars();
  PMB_EQUAL(scalars->GetComponent(0, 0), isovalue, what + ": scalar");
  const bool wide = type != VTK_FLOAT && vtkDataArray::GetDataTypeSize(type) >= 4;
  PMB_EQUAL(scalars->GetDataType(), wide ? VTK_DOUBLE : VTK_FLOAT, what + ": type of the scalars");
  PMB_EQUAL(mesh->GetPoints()->GetDataType(), type == VTK_DOUBLE ? VTK_DOUBLE : VTK_FLOAT, what + ": points' type");
}

struct Type
{
  int Id;
  const char* Name;
  double Low; // a low value near which samples lie, to meet signs and large numbers
  double Step;
};
}

int TestPMBContourFilterTypes(int, char*[])
{
  const Type types[] = {
    { VTK_CHAR, "char", 0, 1 },
    { VTK_SIGNED_CHAR, "signed char", -60, 1 },
    { VTK_UNSIGNED_CHAR, "unsigned char", 130, 1 },
    { VTK_SHORT, "short", -30000, 500 },
    { VTK_UNSIGNED_SHORT, "unsigned short", 5000, 500 },
    { VTK_INT, "int", -2000000000, 30000000 },
    { VTK_UNSIGNED_INT, "unsigned int", 1000000000, 30000000 },
    { VTK_LONG, "long", -1e15, 1e13 },
    { VTK_UNSIGNED_LONG, "unsigned long", 1e15, 1e13 },
    { VTK_LONG_LONG, "long long", -1e15, 1e13 },
    { VTK_UNSIGNED_LONG_LONG, "unsigned long long", 1e15, 1e13 },
    { VTK_ID_TYPE, "vtkIdType", -1e9, 1e7 },
    { VTK_FLOAT, "float", -60, 1 },
    { VTK_DOUBLE, "double", -60, 1 },
  };
  for (const Type& type : types)
  {
    const Field noise = Noise(5, 100);
    const Field field = [=](int i, int j, int k) { return type.Low + type.Step * noise(i, j, k); };
    Compare(type.Id, field, type.Low + 49.5 * type.Step, type.Name);
  }
  return Result();
}
