// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Fills OpenGL's buffers on the GPU that made a mesh.
#include "vtkCellArray.h"
#include "vtkDataArray.h"
#include "vtkInformation.h"
#include "vtkInformationObjectBaseKey.h"
#include "vtkLogger.h"
#include "vtkObjectFactory.h"
#include "vtkPMBContexts.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBOutput.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"

#include "particles/pmb_particles.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

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

  std::weak_ptr<vtkPMBContour::Contexts> Contexts;
  vtkMTimeType Count = 0;
  int Estimator = 0;
  std::array<Made, 3> Arrays;

protected:
  Origin() = default;
};
vtkStandardNewMacro(Origin);
}

vtkInformationKeyMacro(vtkPMBContourFilter, ORIGIN_ON_GPU, ObjectBase);

void vtkPMBContour::NoteOrigin(
  const std::shared_ptr<Contexts>& contexts, vtkMTimeType count, int estimator, vtkPolyData* mesh)
{
  vtkNew<Origin> origin;
  origin->Contexts = contexts;
  origin->Count = count;
  origin->Estimator = estimator;
  origin->Arrays = ArraysOf(mesh);
  mesh->GetPolys()->GetConnectivityArray()->GetInformation()->Set(vtkPMBContourFilter::ORIGIN_ON_GPU(), origin);
}

bool vtkPMBContourFilter::EmitToOpenGL(
  vtkPolyData* mesh, OpenGLBuffers* buffers, const double* shift, const double* scale)
{
  vtkDataArray* ids = mesh ? mesh->GetPolys()->GetConnectivityArray() : nullptr;
  auto* origin =
    ids && ids->HasInformation() ? Origin::SafeDownCast(ids->GetInformation()->Get(ORIGIN_ON_GPU())) : nullptr;
  const auto contexts = origin ? origin->Contexts.lock() : nullptr;
  if (!contexts || origin->Arrays != ArraysOf(mesh))
  {
    return false;
  }
  const pmb_gl_mesh how = { sizeof(how), static_cast<pmb_gradient_estimator>(origin->Estimator), shift, scale };
  return contexts->EmitToOpenGL(origin->Count, buffers, how);
}

pmb_status vtkPMBContour::RegisterBuffers(pmb_context* context, vtkPMBContourFilter::OpenGLBuffers& buffers)
{
  pmb_gl_buffers* made = nullptr;
  if (buffers.Registered)
  {
    return PMB_OK;
  }
  const pmb_status status = pmb_register_gl(context, buffers.Points, buffers.Normals, buffers.Triangles, &made);
  buffers.Registered = { made, [](void* old) { pmb_unregister_gl(static_cast<pmb_gl_buffers*>(old)); } };
  return status;
}

bool vtkPMBContour::Contexts::EmitToOpenGL(
  vtkMTimeType count, vtkPMBContourFilter::OpenGLBuffers* buffers, const pmb_gl_mesh& mesh)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  const auto found =
    std::find_if(this->List.begin(), this->List.end(), [=](const auto& context) { return context->Count == count; });
  const bool has = !this->InUse && found != this->List.end() && (*found)->OnGPU;
  if (!has || !buffers)
  {
    return has;
  }
  pmb_status status = RegisterBuffers((*found)->Get(), *buffers);
  if (status == PMB_OK)
  {
    auto* registered = static_cast<pmb_gl_buffers*>(buffers->Registered.get());
    pmb_particles* particles = (*found)->Particles.get();
    status = particles ? pmb_particles_emit_gl(particles, registered, &mesh)
                       : pmb_emit_gl((*found)->Get(), registered, &mesh);
  }
  if (status != PMB_OK)
  {
    vtkLog(TRACE, "PMB Contour: " << pmb_error((*found)->Get()));
    buffers->Registered = nullptr;
  }
  if (status == PMB_INTERNAL)
  {
    (*found)->Discard(); // the next execution makes another
  }
  return status == PMB_OK;
}
VTK_ABI_NAMESPACE_END
