// SPDX-License-Identifier: BSD-3-Clause
//
// Private to vtkPMBPolyDataMapper: colors of points, found by VTK's own vtkMapper, on all cores.
#ifndef vtkPMBMeshColors_h
#define vtkPMBMeshColors_h

#include "vtkDiscretizableColorTransferFunction.h"
#include "vtkFloatArray.h"
#include "vtkLookupTable.h"
#include "vtkMapper.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkOpenGLHelper.h"
#include "vtkOpenGLVertexArrayObject.h"
#include "vtkPMBMeshCopies.h"
#include "vtkPMBOpenGL.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkShaderProgram.h"
#include "vtkSmartPointer.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBMeshColors
{
// Whether threads may look up colors in a table at the same time.
inline bool CanShare(vtkScalarsToColors* table)
{
  auto* function = vtkDiscretizableColorTransferFunction::SafeDownCast(table);
  const bool isTable = function ? function->GetDiscretize() && !function->GetEnableOpacityMapping()
                                : vtkLookupTable::SafeDownCast(table) != nullptr;
  return isTable && !table->GetIndexedLookup() && table->GetAlpha() == 1.0;
}

// The array that colors a mesh, if it is of points and threads can share the work; else null.
inline vtkDataArray* FindShared(vtkPolyData* mesh, vtkAbstractArray* scalars, int ofCells, vtkScalarsToColors* table)
{
  auto* array = vtkDataArray::SafeDownCast(scalars);
  const bool fits = array && ofCells == 0 && array->GetName() && !array->GetLookupTable() &&
    array->HasStandardMemoryLayout() && array->GetDataType() != VTK_BIT && array->GetNumberOfTuples() >= 2 &&
    array->GetNumberOfTuples() == mesh->GetNumberOfPoints() && mesh->GetPointData()->GetNormals() != array &&
    !mesh->GetPointData()->GetTCoords();
  return fits && CanShare(table) ? array : nullptr;
}

// OpenGL's function that makes an array one of instances. VTK's windows of EGL have OpenGL 3.2, where it is an extension.
// Null: none.
inline auto FindDivisor()
{
  return glVertexAttribDivisor ? glVertexAttribDivisor : glVertexAttribDivisorARB;
}

// Gives all points the first color of a buffer, or each its own: OpenGL reads arrays of instances once for each draw.
inline void TakeFirst(vtkOpenGLHelper& drawn, const char* buffer, bool first)
{
  const int place = drawn.Program ? drawn.Program->FindAttributeArray(buffer) : -1;
  const auto divide = FindDivisor();
  if (place >= 0 && divide)
  {
    drawn.VAO->Bind();
    divide(static_cast<GLuint>(place), first ? 1 : 0);
  }
}

// Whether all values are the same, as those of one isovalue are.
inline bool IsOne(vtkDataArray* array)
{
  const auto* values = static_cast<const char*>(array->GetVoidPointer(0));
  const vtkIdType tuple = array->GetNumberOfComponents() * array->GetDataTypeSize();
  std::atomic<bool> same(true);
  vtkPMBMeshCopies::ForAll(array->GetNumberOfTuples() - 1,
    [&](vtkIdType begin, vtkIdType end)
    {
      const char* from = values + begin * tuple;
      if (same && std::memcmp(from, from + tuple, (end - begin) * tuple) != 0)
      {
        same = false;
      }
    });
  return same;
}

// Maps some points with the settings of another mapper that has mapped before.
class PartMapper : public vtkMapper
{
public:
  static PartMapper* New();
  vtkTypeMacro(PartMapper, vtkMapper);

  void Follow(vtkMapper* other)
  {
    this->SetLookupTable(other->GetLookupTable());
    this->SetUseLookupTableScalarRange(true); // the other has set it
    this->SetColorMode(other->GetColorMode());
    this->SetArrayComponent(other->GetArrayComponent());
    this->SetInterpolateScalarsBeforeMapping(other->GetInterpolateScalarsBeforeMapping());
  }

  // Writes texture coordinates, 8 bytes per point, or colors, 4. Returns false if they have another size. Points of one
  // isovalue have one color, which is found once.
  bool Write(vtkDataArray* array, vtkIdType begin, vtkIdType end, size_t bytes, unsigned char* to)
  {
    const vtkIdType components = array->GetNumberOfComponents(), count = end - begin;
    const auto* values_begin = static_cast<const char*>(array->GetVoidPointer(begin * components));
    const size_t tuple = static_cast<size_t>(components * array->GetDataTypeSize());
    const bool isOne = std::memcmp(values_begin, values_begin + tuple, (count - 1) * tuple) == 0;
    vtkNew<vtkPolyData> part;
    const auto values = vtk::TakeSmartPointer(vtkDataArray::CreateDataArray(array->GetDataType()));
    values->SetNumberOfComponents(static_cast<int>(components));
    values->SetVoidArray(array->GetVoidPointer(begin * components), (isOne ? 1 : count) * components, /*save=*/1);
    part->GetPointData()->SetScalars(values);
    this->SetInputDataObject(part);
    vtkUnsignedCharArray* colors = this->MapScalars(part, 1.0);
    vtkDataArray* from = colors ? static_cast<vtkDataArray*>(colors) : this->GetColorCoordinates();
    if (!from || from->GetNumberOfComponents() * static_cast<size_t>(from->GetDataTypeSize()) != bytes)
    {
      return false;
    }
    void *color = from->GetVoidPointer(0), *first = to + begin * bytes;
    if (!isOne)
    {
      std::memcpy(first, color, count * bytes);
    }
    else if (bytes == sizeof(std::uint64_t))
    {
      std::fill_n(static_cast<std::uint64_t*>(first), count, *static_cast<std::uint64_t*>(color));
    }
    else
    {
      std::fill_n(static_cast<std::uint32_t*>(first), count, *static_cast<std::uint32_t*>(color));
    }
    return true;
  }

  void Render(vtkRenderer*, vtkActor*) override {}
};
vtkStandardNewMacro(PartMapper);

// Writes the colors of an array in one piece of memory. Returns false if memory fails or they have another size.
inline bool Write(vtkMapper* mapper, vtkDataArray* array, size_t bytes, unsigned char* to)
{
  std::atomic<bool> failed(false);
  vtkPMBMeshCopies::ForAll(array->GetNumberOfTuples(),
    [&](vtkIdType begin, vtkIdType end)
    {
      try
      {
        vtkNew<PartMapper> part;
        part->Follow(mapper);
        if (!part->Write(array, begin, end, bytes, to))
        {
          failed = true;
        }
      }
      catch (const std::bad_alloc&) // must not leave the thread
      {
        failed = true;
      }
    });
  return !failed;
}
}
VTK_ABI_NAMESPACE_END
#endif
