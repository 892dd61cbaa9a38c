// SPDX-License-Identifier: BSD-3-Clause
//
// Private to vtkPMBPolyDataMapper: copies the arrays of a mesh into OpenGL's formats, on all cores.
#ifndef vtkPMBMeshCopies_h
#define vtkPMBMeshCopies_h

#include "vtkPMBOpenGL.h"

#include "vtkAOSDataArrayTemplate.h"
#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkOpenGLVertexBufferObject.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkSMPTools.h"
#include "vtkType.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBMeshCopies
{
// Allocates memory for the bound buffer. Returns false if OpenGL has none.
inline bool Allocate(GLenum target, size_t bytes)
{
  for (int i = 0; i < 16 && glGetError() != GL_NO_ERROR; ++i) // a lost context may report errors forever
  {
  }
  glBufferData(target, bytes, nullptr, GL_STATIC_DRAW);
  return glGetError() == GL_NO_ERROR;
}

// Calls work(begin, end) for parts of [0, count), on all cores.
template <typename Work>
void ForAll(vtkIdType count, const Work& work)
{
  const std::string threads = "STDThread"; // of type string: Config would take characters for a truth value
  vtkSMPTools::LocalScope(vtkSMPTools::Config(threads), [&] { vtkSMPTools::For(0, count, 1 << 18, work); });
}

// The values of an array as they lie in memory, or null.
template <typename Number>
const Number* InMemory(vtkDataArray* array)
{
  auto* plain = vtkAOSDataArrayTemplate<Number>::FastDownCast(array);
  return plain ? plain->GetPointer(0) : nullptr;
}

// Writes the ids of a mesh of triangles, plus the index of its first point in the vertex buffer. Returns false if a cell is not a
// triangle, an id has no point, or the ids are not in memory. From VTK 9.6 on the offsets need not be.
template <typename Id>
bool CopyTriangles(vtkCellArray* cells, vtkIdType points, GLuint first, GLuint* to)
{
  const Id* ids = InMemory<Id>(cells->GetConnectivityArray());
  const Id* offsets = InMemory<Id>(cells->GetOffsetsArray());
  if (!ids || (!offsets && cells->IsHomogeneous() != 3))
  {
    return false;
  }
  std::atomic<bool> wrong(offsets && offsets[0] != 0);
  ForAll(cells->GetNumberOfCells(),
    [&](vtkIdType begin, vtkIdType end)
    {
      bool bad = false;
      for (vtkIdType i = begin; offsets && i < end; ++i)
      {
        bad |= static_cast<vtkIdType>(offsets[i + 1]) != 3 * (i + 1);
      }
      for (vtkIdType i = 3 * begin; i < 3 * end; ++i)
      {
        bad |= static_cast<uint64_t>(ids[i]) >= static_cast<uint64_t>(points);
        to[i] = static_cast<GLuint>(ids[i]) + first;
      }
      if (bad)
      {
        wrong = true;
      }
    });
  return !wrong;
}

inline bool CopyTriangles(vtkCellArray* cells, vtkIdType points, GLuint first, GLuint* to)
{
  return CopyTriangles<vtkTypeInt64>(cells, points, first, to) ||
    CopyTriangles<vtkTypeInt32>(cells, points, first, to);
}

// Whether CopyVectors can read an array, a vector per point.
inline bool IsPlain(vtkDataArray* array, vtkPolyData* mesh)
{
  return array->GetNumberOfComponents() == 3 && array->GetNumberOfTuples() == mesh->GetNumberOfPoints() &&
    (InMemory<float>(array) || InMemory<double>(array));
}

// Whether a mesh is of triangles with points and normals that can be copied. Does not look at each cell.
inline bool CanCopy(vtkPolyData* mesh)
{
  vtkCellArray* polygons = mesh->GetPolys();
  vtkDataArray* normals = mesh->GetPointData()->GetNormals();
  return !mesh->GetCellData()->GetNormals() && !mesh->GetNumberOfVerts() && !mesh->GetNumberOfLines() &&
    !mesh->GetNumberOfStrips() && polygons->GetNumberOfConnectivityIds() == 3 * polygons->GetNumberOfCells() &&
    mesh->GetPoints() && IsPlain(mesh->GetPoints()->GetData(), mesh) && (!normals || IsPlain(normals, mesh));
}

// Writes vectors as floats, shifted and scaled as VTK does.
template <typename Number>
void CopyVectors(const Number* from, vtkIdType count, vtkOpenGLVertexBufferObject* buffer, float* to)
{
  const bool moved = buffer->GetCoordShiftAndScaleEnabled();
  const std::vector<double> shift = buffer->GetShift(), scale = buffer->GetScale();
  ForAll(count,
    [&](vtkIdType begin, vtkIdType end)
    {
      for (vtkIdType i = 3 * begin; !moved && i < 3 * end; ++i)
      {
        to[i] = static_cast<float>(from[i]);
      }
      for (vtkIdType i = begin; moved && i < end; ++i)
      {
        for (int axis = 0; axis < 3; ++axis)
        {
          to[3 * i + axis] = static_cast<float>((from[3 * i + axis] - shift[axis]) * scale[axis]);
        }
      }
    });
}

inline void CopyVectors(vtkDataArray* from, vtkOpenGLVertexBufferObject* buffer, float* to)
{
  const vtkIdType count = from->GetNumberOfTuples();
  if (const auto* floats = InMemory<float>(from))
  {
    CopyVectors(floats, count, buffer, to);
  }
  else if (const auto* doubles = InMemory<double>(from))
  {
    CopyVectors(doubles, count, buffer, to);
  }
}
}
VTK_ABI_NAMESPACE_END
#endif
