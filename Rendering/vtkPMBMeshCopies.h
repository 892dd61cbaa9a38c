// SPDX-License-Identifier: BSD-3-Clause
//
// Private to vtkPMBPolyDataMapper: copies the arrays of a mesh into OpenGL's formats, on all cores.
#ifndef vtkPMBMeshCopies_h
#define vtkPMBMeshCopies_h

#include "vtkPMBOpenGL.h"

#include "vtkAOSDataArrayTemplate.h"
#include "vtkCellArray.h"
#include "vtkOpenGLVertexBufferObject.h"
#include "vtkPolyData.h"
#include "vtkSMPTools.h"
#include "vtkTypeInt32Array.h"
#include "vtkTypeInt64Array.h"

#include <atomic>
#include <cstdint>
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
  vtkSMPTools::LocalScope(vtkSMPTools::Config("STDThread"), [&] { vtkSMPTools::For(0, count, 1 << 18, work); });
}

// Writes the ids of a mesh of triangles, plus the index of its first point in the vertex buffer. Returns false if a cell is not a
// triangle or an id has no point.
template <typename Offsets, typename Ids>
bool CopyTriangles(
  const Offsets* offsets, const Ids* ids, vtkIdType triangles, vtkIdType points, GLuint first, GLuint* to)
{
  std::atomic<bool> wrong(false);
  ForAll(triangles,
    [&](vtkIdType begin, vtkIdType end)
    {
      bool bad = false;
      for (vtkIdType i = begin; i < end; ++i)
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
  return !wrong && static_cast<vtkIdType>(offsets[0]) == 0;
}

inline bool CopyTriangles(vtkCellArray* cells, vtkIdType points, GLuint first, GLuint* to)
{
  const vtkIdType triangles = cells->GetNumberOfCells();
  if (cells->IsStorage64Bit())
  {
    return CopyTriangles(cells->GetOffsetsArray64()->GetPointer(0), cells->GetConnectivityArray64()->GetPointer(0),
      triangles, points, first, to);
  }
  return CopyTriangles(cells->GetOffsetsArray32()->GetPointer(0), cells->GetConnectivityArray32()->GetPointer(0),
    triangles, points, first, to);
}

// Whether CopyVectors can read an array, a vector per point.
inline bool IsPlain(vtkDataArray* array, vtkPolyData* mesh)
{
  return array->GetNumberOfComponents() == 3 && array->GetNumberOfTuples() == mesh->GetNumberOfPoints() &&
    (vtkAOSDataArrayTemplate<float>::FastDownCast(array) || vtkAOSDataArrayTemplate<double>::FastDownCast(array));
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
  if (auto* floats = vtkAOSDataArrayTemplate<float>::FastDownCast(from))
  {
    CopyVectors(floats->GetPointer(0), count, buffer, to);
  }
  else if (auto* doubles = vtkAOSDataArrayTemplate<double>::FastDownCast(from))
  {
    CopyVectors(doubles->GetPointer(0), count, buffer, to);
  }
}
}
VTK_ABI_NAMESPACE_END
#endif
