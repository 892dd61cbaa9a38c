// SPDX-License-Identifier: BSD-3-Clause
//
// Private to vtkPMBPolyDataMapper: finds the triangles of a mesh that a picture shows.
#ifndef vtkPMBMeshVisibility_h
#define vtkPMBMeshVisibility_h

#include "vtkPMBOpenGL.h"

#include "vtkActor.h"
#include "vtkMapper.h"
#include "vtkMatrix4x4.h"
#include "vtkNew.h"
#include "vtkOpenGLCamera.h"
#include "vtkOpenGLIndexBufferObject.h"
#include "vtkOpenGLVertexBufferObject.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBMeshCopies.h"
#include "vtkPMBVisibleTriangles.h"
#include "vtkProperty.h"
#include "vtkRenderer.h"
#include "vtkShaderProperty.h"

#include "visible/pmb_visible.h"

#include <cstring>
#include <memory>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBMeshVisibility
{
// Drawing fewer triangles takes less time than finding the visible ones.
enum
{
  LEAST_TRIANGLES = 1 << 18
};

// Whether the processor draws.
inline bool IsSoftware()
{
  const auto* name = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
  return name && (std::strstr(name, "llvmpipe") || std::strstr(name, "softpipe") || std::strstr(name, "SWR"));
}

// Whether each triangle hides everything behind it, from both sides, and nothing beside it.
inline bool AreSolid(vtkMapper* mapper, vtkRenderer* renderer, vtkActor* actor)
{
  vtkProperty* property = actor->GetProperty();
  vtkShaderProperty* shaders = actor->GetShaderProperty();
  double factor = 0.0, units = 0.0; // of VTK's polygon offset
  GLint compares = 0;
  if (vtkMapper::GetResolveCoincidentTopology() != VTK_RESOLVE_OFF)
  {
    mapper->GetCoincidentTopologyPolygonOffsetParameters(factor, units);
  }
  glGetIntegerv(GL_DEPTH_FUNC, &compares);
  return !renderer->GetSelector() && !actor->HasTranslucentPolygonalGeometry() &&
    !actor->IsRenderingTranslucentPolygonalGeometry() && actor->GetCoordinateSystem() == vtkProp3D::WORLD &&
    !actor->GetTexture() && property->GetNumberOfTextures() == 0 && !property->GetBackfaceCulling() &&
    !property->GetFrontfaceCulling() && mapper->GetNumberOfClippingPlanes() == 0 && factor == 0.0 && units == 0.0 &&
    vtkMapper::GetResolveCoincidentTopology() != VTK_RESOLVE_SHIFT_ZBUFFER &&
    shaders->GetNumberOfShaderReplacements() == 0 && !shaders->HasVertexShaderCode() &&
    !shaders->HasFragmentShaderCode() && !shaders->HasGeometryShaderCode() && glIsEnabled(GL_DEPTH_TEST) &&
    (compares == GL_LEQUAL || compares == GL_LESS);
}

// Fills the request, without its arrays, for the points as they are in their buffer. Returns false for views unknown here.
inline bool Describe(
  vtkRenderer* renderer, vtkActor* actor, vtkOpenGLVertexBufferObject* points, pmb_visible_request& request)
{
  vtkNew<vtkMatrix4x4> toWorld, toClip;
  GLint viewport[4] = { 0, 0, 0, 0 }, samples = 0;
  actor->GetMatrix(toWorld);
  if (points->GetCoordShiftAndScaleEnabled())
  {
    vtkNew<vtkMatrix4x4> back;
    for (int axis = 0; axis < 3; ++axis)
    {
      const double scale = points->GetScale()[axis], shift = points->GetShift()[axis];
      back->SetElement(axis, axis, 1.0 / scale);
      back->SetElement(axis, 3, shift);
      request.bounds[2 * axis] = (request.bounds[2 * axis] - shift) * scale;
      request.bounds[2 * axis + 1] = (request.bounds[2 * axis + 1] - shift) * scale;
    }
    vtkMatrix4x4::Multiply4x4(toWorld, back, toWorld);
  }
  // The matrices of VTK's shader: an eye's in stereo. VTK stores them transposed.
  vtkMatrix4x4 *toView = nullptr, *viewToClip = nullptr, *worldToClip = nullptr;
  vtkMatrix3x3* normals = nullptr;
  static_cast<vtkOpenGLCamera*>(renderer->GetActiveCamera())
    ->GetKeyMatrices(renderer, toView, normals, viewToClip, worldToClip);
  toWorld->Transpose();
  vtkMatrix4x4::Multiply4x4(toWorld, worldToClip, toClip);
  toClip->Transpose();
  std::memcpy(request.to_clip, toClip->GetData(), sizeof(request.to_clip));
  glGetIntegerv(GL_VIEWPORT, viewport);
  request.width = viewport[2];
  request.height = viewport[3];
  glGetIntegerv(GL_SAMPLES, &samples);
  request.samples = samples > 1 && glIsEnabled(GL_MULTISAMPLE) ? samples : 1;
  request.places[0] = request.places[1] = 0.5f;
  for (int i = 0; request.samples > 1 && i < samples && i < PMB_VISIBLE_SAMPLES; ++i)
  {
    glGetMultisamplefv(GL_SAMPLE_POSITION, static_cast<GLuint>(i), request.places + 2 * i);
  }
  return request.width >= 1 && request.width <= PMB_VISIBLE_PIXELS && request.height >= 1 &&
    request.height <= PMB_VISIBLE_PIXELS && request.samples <= PMB_VISIBLE_SAMPLES;
}

// Maps a whole buffer while this exists. Null: OpenGL cannot map it.
class Mapping
{
public:
  Mapping(GLenum target, int buffer, GLbitfield access)
    : Target(target)
  {
    GLint64 bytes = 0;
    glBindBuffer(target, static_cast<GLuint>(buffer));
    glGetBufferParameteri64v(target, GL_BUFFER_SIZE, &bytes);
    this->Memory = glMapBufferRange(target, 0, bytes, access);
  }
  ~Mapping()
  {
    if (this->Memory)
    {
      glUnmapBuffer(this->Target);
    }
    glBindBuffer(this->Target, 0);
  }
  Mapping(const Mapping&) = delete;
  void operator=(const Mapping&) = delete;

  void* Memory;

private:
  const GLenum Target;
};

// An index buffer with the visible triangles that were found last.
class List
{
public:
  // Finds them in the buffers of a mesh, which must not change before Forget(), on a GPU if it draws or they are registered for
  // one. Returns their number; negative: draw all triangles.
  vtkIdType Find(const pmb_visible_request& request, vtkPMBContourFilter::OpenGLBuffers& mesh,
    vtkOpenGLBufferObject* points, vtkOpenGLBufferObject* triangles)
  {
    if (this->IsKnown && std::memcmp(&request, &this->Last, sizeof(request)) == 0)
    {
      return this->Count;
    }
    const bool onGPU = mesh.Registered || !IsSoftware();
    if (!this->Finder || onGPU != this->OnGPU)
    {
      this->OnGPU = onGPU;
      this->Finder = std::make_unique<vtkPMBVisibleTriangles>(onGPU);
    }
    this->IsKnown = false;
    this->Last = request;
    vtkIdType room = request.triangle_count / 8, count = 0;
    bool found = this->Reserve(room) && this->FindOnce(request, mesh, points, triangles, room, count);
    if (found && count > room && count <= request.triangle_count / 2)
    {
      room = count;
      found = this->Reserve(room) && this->FindOnce(request, mesh, points, triangles, room, count);
    }
    this->IsKnown = found;
    this->Count = found && count <= room ? count : -1;
    return this->Count;
  }

  // Call this before the mesh's buffers change.
  void Forget() { this->IsKnown = false; }

  // Frees the buffer, with its OpenGL context current.
  void Release()
  {
    this->Forget();
    this->Visible.Registered = nullptr;
    this->Finder = nullptr;
    this->Buffer->ReleaseGraphicsResources();
  }

  vtkOpenGLIndexBufferObject* GetBuffer() { return this->Buffer; }

private:
  // Makes room for at least `room` triangles and sets it to the room there is. Returns false if OpenGL has no memory.
  bool Reserve(vtkIdType& room)
  {
    constexpr GLenum target = GL_ELEMENT_ARRAY_BUFFER;
    const GLint64 bytes = 3 * sizeof(GLuint) * room;
    GLint64 there = 0;
    this->Buffer->GenerateBuffer(vtkOpenGLBufferObject::ElementArrayBuffer);
    this->Buffer->Bind();
    glGetBufferParameteri64v(target, GL_BUFFER_SIZE, &there);
    if (there < bytes)
    {
      this->Visible.Registered = nullptr;
      there = vtkPMBMeshCopies::Allocate(target, static_cast<size_t>(bytes)) ? bytes : 0;
    }
    this->Buffer->Release();
    room = static_cast<vtkIdType>(there / (3 * sizeof(GLuint)));
    return there >= bytes;
  }

  bool FindOnce(const pmb_visible_request& request, vtkPMBContourFilter::OpenGLBuffers& mesh,
    vtkOpenGLBufferObject* points, vtkOpenGLBufferObject* triangles, vtkIdType room, vtkIdType& count)
  {
    if (this->OnGPU)
    {
      this->Visible.Triangles = static_cast<unsigned int>(this->Buffer->GetHandle());
      return this->Finder->Find(request, mesh, this->Visible, count);
    }
    pmb_visible_request mapped = request;
    const Mapping from(GL_ARRAY_BUFFER, points->GetHandle(), GL_MAP_READ_BIT);
    const Mapping ids(GL_COPY_READ_BUFFER, triangles->GetHandle(), GL_MAP_READ_BIT);
    const Mapping to(
      GL_COPY_WRITE_BUFFER, this->Buffer->GetHandle(), GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    mapped.points = static_cast<const float*>(from.Memory);
    mapped.triangles = static_cast<const uint32_t*>(ids.Memory);
    mapped.visible = static_cast<uint32_t*>(to.Memory);
    mapped.visible_capacity = room;
    return from.Memory && ids.Memory && to.Memory && this->Finder->Find(mapped, count);
  }

  std::unique_ptr<vtkPMBVisibleTriangles> Finder;
  bool OnGPU = false, IsKnown = false;
  pmb_visible_request Last = {};
  vtkIdType Count = -1;
  vtkNew<vtkOpenGLIndexBufferObject> Buffer;
  vtkPMBContourFilter::OpenGLBuffers Visible = {};
};
}
VTK_ABI_NAMESPACE_END
#endif
