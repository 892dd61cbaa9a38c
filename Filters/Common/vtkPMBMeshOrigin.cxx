// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBMeshOrigin.h"

#include "vtkCellArray.h"
#include "vtkDataArray.h"
#include "vtkInformation.h"
#include "vtkInformationObjectBaseKey.h"
#include "vtkObjectFactory.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"

#include <array>
#include <memory>

VTK_ABI_NAMESPACE_BEGIN
namespace
{
// An array and its MTime when the filter had made it.
struct Made
{
  const vtkDataArray* Array;
  vtkMTimeType Time;

  explicit Made(vtkDataArray* array = nullptr)
    : Array(array)
    , Time(array ? array->GetMTime() : 0)
  {
  }
  bool operator==(const Made& other) const { return this->Array == other.Array && this->Time == other.Time; }
};

std::array<Made, 3> ArraysOf(vtkPolyData* mesh)
{
  return { Made(mesh->GetPoints() ? mesh->GetPoints()->GetData() : nullptr), Made(mesh->GetPointData()->GetNormals()),
    Made(mesh->GetPolys()->GetConnectivityArray()) };
}

// The contexts that made a mesh, and which of their meshes it is.
class Origin : public vtkObject
{
public:
  static Origin* New();
  vtkTypeMacro(Origin, vtkObject);

  std::weak_ptr<vtkPMB::Contexts> Contexts;
  vtkMTimeType Count = 0;
  int Estimator = 0;
  std::array<Made, 3> Arrays;

protected:
  Origin() = default;
};
vtkStandardNewMacro(Origin);
}

void vtkPMB::NoteOrigin(
  const std::shared_ptr<Contexts>& contexts, vtkMTimeType count, int estimator, vtkPolyData* mesh)
{
  vtkNew<Origin> origin;
  origin->Contexts = contexts;
  origin->Count = count;
  origin->Estimator = estimator;
  origin->Arrays = ArraysOf(mesh);
  mesh->GetPolys()->GetConnectivityArray()->GetInformation()->Set(vtkPMBContourFilter::ORIGIN_ON_GPU(), origin);
}

bool vtkPMB::EmitToOpenGL(
  vtkPolyData* mesh, vtkPMBContourFilter::OpenGLBuffers* buffers, const double* shift, const double* scale)
{
  vtkDataArray* ids = mesh ? mesh->GetPolys()->GetConnectivityArray() : nullptr;
  auto* origin = ids && ids->HasInformation()
    ? Origin::SafeDownCast(ids->GetInformation()->Get(vtkPMBContourFilter::ORIGIN_ON_GPU()))
    : nullptr;
  const auto contexts = origin ? origin->Contexts.lock() : nullptr;
  if (!contexts || origin->Arrays != ArraysOf(mesh))
  {
    return false;
  }
  const pmb_gl_mesh how = { sizeof(how), static_cast<pmb_gradient_estimator>(origin->Estimator), shift, scale };
  return contexts->EmitToOpenGL(origin->Count, buffers, how);
}

VTK_ABI_NAMESPACE_END
