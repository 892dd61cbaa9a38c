// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBPolyDataMapper.h"

#include "vtk_glew.h"

#include "vtkActor.h"
#include "vtkBoundingBox.h"
#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkCompositeMapperHelper2.h"
#include "vtkHardwareSelector.h"
#include "vtkInformation.h"
#include "vtkInformationIntegerKey.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkOpenGLCellToVTKCellMap.h"
#include "vtkOpenGLIndexBufferObject.h"
#include "vtkOpenGLVertexBufferObject.h"
#include "vtkPMBContourFilter.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkProperty.h"
#include "vtkRenderer.h"
#include "vtkSMPTools.h"
#include "vtkSmartPointer.h"
#include "vtkTypeInt32Array.h"
#include "vtkTypeInt64Array.h"

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN

namespace
{
std::atomic<bool> AllTriangles(false);

// Writes the ids of a mesh of triangles, plus the index of its first point in the vertex buffer, as OpenGL takes them. Says no
// if a cell is no triangle or an id is no point's.
template <typename Offsets, typename Ids>
bool CopyTriangles(
  const Offsets* offsets, const Ids* ids, vtkIdType triangles, vtkIdType points, GLuint first, GLuint* to)
{
  std::atomic<bool> wrong(false);
  vtkSMPTools::LocalScope(vtkSMPTools::Config("STDThread"),
    [&]
    {
      vtkSMPTools::For(0, triangles, 1 << 18,
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
    });
  return !wrong && static_cast<vtkIdType>(offsets[0]) == 0;
}

bool CopyTriangles(vtkCellArray* cells, vtkIdType points, GLuint first, GLuint* to)
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
}

// Draws the blocks of a mapper that have the same kinds of arrays.
class vtkPMBMapperHelper : public vtkCompositeMapperHelper2
{
public:
  static vtkPMBMapperHelper* New();
  vtkTypeMacro(vtkPMBMapperHelper, vtkCompositeMapperHelper2);

protected:
  bool GetNeedToRebuildBufferObjects(vtkRenderer* renderer, vtkActor* actor) override
  {
    const bool selecting = renderer->GetSelector() != nullptr;
    const bool changed = this->Superclass::GetNeedToRebuildBufferObjects(renderer, actor);
    return changed || (selecting ? this->Direct : this->BuiltForSelection);
  }

  void BuildBufferObjects(vtkRenderer* renderer, vtkActor* actor) override
  {
    this->BuiltForSelection = renderer->GetSelector() != nullptr;
    this->Direct = this->AreAllTriangles(renderer, actor) && this->FillIndexBuffer();
    if (!this->Direct)
    {
      // For a selection of points too VTK expects the surface's buffers: those it builds when none is made.
      const int populate = this->PopulateSelectionSettings;
      this->PopulateSelectionSettings = 0;
      this->Mapper()->NumberOfDirectTriangles = 0;
      this->Superclass::BuildBufferObjects(renderer, actor);
      this->PopulateSelectionSettings = populate;
      return;
    }
    // Without cells: VTK makes the buffers of points, normals and colors.
    std::vector<vtkSmartPointer<vtkPolyData>> bare;
    for (auto& item : this->Data)
    {
      vtkNew<vtkPolyData> points;
      points->SetPoints(item.first->GetPoints());
      points->GetPointData()->ShallowCopy(item.first->GetPointData());
      points->GetFieldData()->ShallowCopy(item.first->GetFieldData());
      bare.emplace_back(points);
      item.second->Data = points;
    }
    const int method = this->ShiftScaleMethod;
    if (method == vtkOpenGLVertexBufferObject::AUTO_SHIFT_SCALE && this->IsNearOrigin())
    {
      this->ShiftScaleMethod = vtkOpenGLVertexBufferObject::DISABLE_SHIFT_SCALE;
    }
    this->Superclass::BuildBufferObjects(renderer, actor);
    this->ShiftScaleMethod = method;
    this->ShareIndexBuffer();
  }

  // VTK binds the buffer of before a selection again after it. If it was one of these, it may be gone by then.
  void RenderPieceFinish(vtkRenderer* renderer, vtkActor* actor) override
  {
    this->Superclass::RenderPieceFinish(renderer, actor);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
  }

private:
  vtkPMBPolyDataMapper* Mapper() { return static_cast<vtkPMBPolyDataMapper*>(this->Parent); }

  // As far as can be said without looking at each cell.
  bool AreAllTriangles(vtkRenderer* renderer, vtkActor* actor)
  {
    vtkProperty* property = actor->GetProperty();
    if (renderer->GetSelector() || this->Data.empty() || property->GetRepresentation() != VTK_SURFACE ||
      property->GetEdgeVisibility() || property->GetVertexVisibility())
    {
      return false;
    }
    const bool byCells = this->ScalarVisibility && this->ScalarMode != VTK_SCALAR_MODE_USE_POINT_DATA &&
      this->ScalarMode != VTK_SCALAR_MODE_USE_POINT_FIELD_DATA;
    vtkIdType points = 0, triangles = 0;
    for (auto& item : this->Data)
    {
      vtkPolyData* mesh = item.first;
      vtkCellArray* polygons = mesh->GetPolys();
      const bool ours =
        polygons->GetConnectivityArray()->GetInformation()->Has(vtkPMBContourFilter::TRIANGLES_OF_ALL_POINTS());
      if (!(ours || AllTriangles) || byCells || mesh->GetCellData()->GetNormals() || mesh->GetNumberOfVerts() ||
        mesh->GetNumberOfLines() || mesh->GetNumberOfStrips() ||
        polygons->GetNumberOfConnectivityIds() != 3 * polygons->GetNumberOfCells())
      {
        return false;
      }
      points += mesh->GetNumberOfPoints();
      triangles += polygons->GetNumberOfCells();
    }
    // VTK's numbers of indices and points are unsigned int.
    return points <= std::numeric_limits<GLuint>::max() && triangles > 0 &&
      triangles <= std::numeric_limits<GLuint>::max() / 3;
  }

  // The rule of VTK's mapper of a single mesh: float has digits enough for the points.
  bool IsNearOrigin() const
  {
    vtkBoundingBox box;
    for (const auto& item : this->Data)
    {
      box.AddBounds(item.first->GetPoints()->GetBounds());
    }
    double center[3];
    box.GetCenter(center);
    const double distance = center[0] * center[0] + center[1] * center[1] + center[2] * center[2];
    const double size = box.GetDiagonalLength() * box.GetDiagonalLength();
    return size > 0 && distance <= 1e6 * size && std::abs(std::log10(size)) <= 7;
  }

  // False: OpenGL has no memory, or a mesh is not of triangles.
  bool FillIndexBuffer()
  {
    vtkIdType ids = 0;
    for (auto& item : this->Data)
    {
      ids += item.first->GetPolys()->GetNumberOfConnectivityIds();
    }
    auto* buffer = this->Primitives[PrimitiveTris].IBO;
    if (!buffer->GenerateBuffer(vtkOpenGLBufferObject::ElementArrayBuffer) || !buffer->Bind())
    {
      return false;
    }
    while (glGetError() != GL_NO_ERROR)
    {
    }
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, ids * sizeof(GLuint), nullptr, GL_STATIC_DRAW);
    auto* to = static_cast<GLuint*>(glGetError() == GL_NO_ERROR
        ? glMapBufferRange(
            GL_ELEMENT_ARRAY_BUFFER, 0, ids * sizeof(GLuint), GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT)
        : nullptr);
    bool right = to != nullptr;
    GLuint first = 0;
    for (auto& item : this->Data)
    {
      right = right && CopyTriangles(item.first->GetPolys(), item.first->GetNumberOfPoints(), first, to);
      first += static_cast<GLuint>(item.first->GetNumberOfPoints());
      to += right ? item.first->GetPolys()->GetNumberOfConnectivityIds() : 0;
    }
    right = (!to || glUnmapBuffer(GL_ELEMENT_ARRAY_BUFFER)) && right;
    buffer->Release();
    return right;
  }

  // Gives each block its part of the index buffer.
  void ShareIndexBuffer()
  {
    unsigned int index = 0;
    vtkCompositeMapperHelperData* before = nullptr;
    for (auto& item : this->Data)
    {
      vtkCompositeMapperHelperData* block = item.second;
      block->Data = item.first;
      block->StartIndex[PrimitiveTris] = index;
      index += static_cast<unsigned int>(item.first->GetPolys()->GetNumberOfConnectivityIds());
      block->NextIndex[PrimitiveTris] = index;
      // The map from OpenGL's triangles to cells is made when cells are selected. An empty one is never taken for up to date.
      vtkNew<vtkCellArray> empty;
      vtkCellArray* none[4] = { empty, empty, empty, empty };
      block->CellCellMap->Update(none, VTK_SURFACE, nullptr);
      vtkCellArray* cells[4] = { item.first->GetVerts(), item.first->GetLines(), item.first->GetPolys(),
        item.first->GetStrips() };
      block->CellCellMap->SetStartOffset(before ? before->CellCellMap->GetFinalOffset() : 0);
      block->CellCellMap->BuildPrimitiveOffsetsIfNeeded(cells, VTK_SURFACE, item.first->GetPoints());
      before = block;
    }
    this->Primitives[PrimitiveTris].IBO->IndexCount = index;
    this->Mapper()->NumberOfDirectTriangles = index / 3;
  }

  bool Direct = false;
  bool BuiltForSelection = false;
};
vtkStandardNewMacro(vtkPMBMapperHelper);

vtkStandardNewMacro(vtkPMBPolyDataMapper);

void vtkPMBPolyDataMapper::SetAllTriangles(bool all)
{
  AllTriangles = all;
}

bool vtkPMBPolyDataMapper::GetAllTriangles()
{
  return AllTriangles;
}

vtkCompositeMapperHelper2* vtkPMBPolyDataMapper::CreateHelper()
{
  return vtkPMBMapperHelper::New();
}

void vtkPMBPolyDataMapper::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "NumberOfDirectTriangles: " << this->NumberOfDirectTriangles << "\n";
}

VTK_ABI_NAMESPACE_END
