// SPDX-License-Identifier: BSD-3-Clause
//
// Private to vtkPMBPolyDataMapper: a small mesh, of which VTK makes buffers in place of the real one.
#ifndef vtkPMBMeshStandIn_h
#define vtkPMBMeshStandIn_h

#include "vtkFloatArray.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkSmartPointer.h"

#include <algorithm>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBMeshStandIn
{
// Two vectors that find their range themselves: VTK would start threads.
class TwoVectors : public vtkFloatArray
{
public:
  static TwoVectors* New();
  vtkTypeMacro(TwoVectors, vtkFloatArray);

protected:
  bool ComputeScalarRange(double* ranges) override { return this->ComputeScalarRange(ranges, nullptr, 0); }
  bool ComputeScalarRange(double* ranges, const unsigned char*, unsigned char) override
  {
    for (int axis = 0; axis < 3; ++axis)
    {
      ranges[2 * axis] = std::min(this->GetComponent(0, axis), this->GetComponent(1, axis));
      ranges[2 * axis + 1] = std::max(this->GetComponent(0, axis), this->GetComponent(1, axis));
    }
    return true;
  }
};
vtkStandardNewMacro(TwoVectors);

inline vtkSmartPointer<vtkFloatArray> MakeTwo(const double a[3], const double b[3])
{
  auto vectors = vtkSmartPointer<TwoVectors>::New();
  vectors->SetNumberOfComponents(3);
  vectors->InsertNextTuple(a);
  vectors->InsertNextTuple(b);
  return vectors;
}

// Makes a mesh without cells, whose points are two corners of the bounds. It has two tuples of normals and of the array that
// colors the mesh, which may be null, and the other arrays of the mesh.
inline vtkSmartPointer<vtkPolyData> StandIn(vtkPolyData* mesh, vtkDataArray* colored)
{
  auto bare = vtkSmartPointer<vtkPolyData>::New();
  vtkNew<vtkPoints> corners;
  if (mesh->GetNumberOfPoints() > 0)
  {
    double bounds[6];
    mesh->GetPoints()->GetBounds(bounds);
    const double low[3] = { bounds[0], bounds[2], bounds[4] }, high[3] = { bounds[1], bounds[3], bounds[5] };
    corners->SetData(MakeTwo(low, high));
  }
  bare->SetPoints(corners);
  bare->GetPointData()->ShallowCopy(mesh->GetPointData());
  bare->GetFieldData()->ShallowCopy(mesh->GetFieldData());
  if (mesh->GetPointData()->GetNormals())
  {
    const double up[3] = { 0, 0, 1 };
    bare->GetPointData()->SetNormals(MakeTwo(up, up));
  }
  if (colored)
  {
    const auto two = vtk::TakeSmartPointer(colored->NewInstance());
    two->SetName(colored->GetName());
    two->SetNumberOfComponents(colored->GetNumberOfComponents());
    two->InsertTuples(0, 2, 0, colored);
    bare->GetPointData()->AddArray(two); // in its place
  }
  return bare;
}
}
VTK_ABI_NAMESPACE_END
#endif
