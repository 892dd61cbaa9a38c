// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBPolyDataMapper.h"

#include "vtkPMBOpenGL.h"

#include "vtkActor.h"
#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkHardwareSelector.h"
#include "vtkInformation.h"
#include "vtkInformationVariantKey.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkOpenGLCellToVTKCellMap.h"
#include "vtkOpenGLIndexBufferObject.h"
#include "vtkOpenGLRenderWindow.h"
#include "vtkOpenGLVertexBufferObject.h"
#include "vtkOpenGLVertexBufferObjectGroup.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBMeshColors.h"
#include "vtkPMBMeshCopies.h"
#include "vtkPMBMeshStandIn.h"
#include "vtkPMBMeshVisibility.h"
#include "vtkPMBPrivateMembers.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkProperty.h"
#include "vtkRenderer.h"
#include "vtkSmartPointer.h"
#include "vtkVariant.h"
#include "vtkWeakPointer.h"

#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 3, 0)
#include "vtkCompositeMapperHelper2.h"
#else
#include "vtkOpenGLBatchedPolyDataMapper.h"
#include "vtkOpenGLCompositePolyDataMapperDelegator.h"
#endif

#include <atomic>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN

namespace
{
using namespace vtkPMBMeshCopies;
using vtkPMBMeshColors::FindShared;
using vtkPMBMeshStandIn::StandIn;

std::atomic<bool> AllTriangles(false);
}

#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 3, 0)
using HelperBase = vtkCompositeMapperHelper2;
using Element = vtkCompositeMapperHelperData;
#else
using HelperBase = vtkOpenGLBatchedPolyDataMapper;
using Element = vtkOpenGLBatchedPolyDataMapper::GLBatchElement;
#endif

// Draws the blocks of a mapper that have the same kinds of arrays.
class vtkPMBMapperHelper : public HelperBase
{
public:
  static vtkPMBMapperHelper* New();
  vtkTypeMacro(vtkPMBMapperHelper, HelperBase);

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
    this->Visible.Forget();
    const std::vector<Block> blocks = this->GetBlocks();
    this->Direct = this->AreAllTriangles(blocks, renderer, actor) && this->BuildDirectly(blocks, renderer, actor);
    if (!this->Direct)
    {
      this->HasOneColor = false;
      this->ForgetBuffers();
      // VTK expects the surface's buffers also for a selection of points.
      const int populate = this->PopulateSelectionSettings;
      this->PopulateSelectionSettings = 0;
      this->Mapper()->NumberOfDirectTriangles = this->Mapper()->NumberOfTrianglesFromGPU = 0;
      this->Superclass::BuildBufferObjects(renderer, actor);
      this->PopulateSelectionSettings = populate;
    }
  }

  ~vtkPMBMapperHelper() override { this->ForgetBuffers(); }

  void ReleaseGraphicsResources(vtkWindow* window) override
  {
    this->ForgetBuffers();
    this->Superclass::ReleaseGraphicsResources(window);
  }

  void UpdateShaders(vtkOpenGLHelper& drawn, vtkRenderer* renderer, vtkActor* actor) override
  {
    this->Superclass::UpdateShaders(drawn, renderer, actor);
    vtkPMBMeshColors::TakeFirst(drawn, this->NameOfColors(), this->HasOneColor);
  }

  void RenderPieceDraw(vtkRenderer* renderer, vtkActor* actor) override
  {
    const vtkIdType visible = this->FindVisible(renderer, actor);
    this->Mapper()->NumberOfDrawnTriangles = visible < 0 ? this->Mapper()->NumberOfDirectTriangles : visible;
    if (visible < 0)
    {
      this->Superclass::RenderPieceDraw(renderer, actor);
      return;
    }
    auto& triangles = this->Primitives[PrimitiveTris].IBO;
    auto& end = this->GetBlocks().front().Known->NextIndex[PrimitiveTris];
    const auto indices = static_cast<unsigned int>(3 * visible), all = std::exchange(end, indices);
    auto* whole = std::exchange(triangles, this->Visible.GetBuffer());
    triangles->IndexCount = indices;
    this->Superclass::RenderPieceDraw(renderer, actor);
    triangles = whole;
    end = all;
  }

  // After a selection VTK binds the earlier buffer again. It may be gone if it was one of these.
  void RenderPieceFinish(vtkRenderer* renderer, vtkActor* actor) override
  {
    this->Superclass::RenderPieceFinish(renderer, actor);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
  }

private:
  // A mesh, what VTK knows of it, and the mesh that VTK makes buffers from.
  struct Block
  {
    vtkPolyData* Mesh;
    Element* Known;
    vtkPolyData*& Drawn;
    bool ColoredByCells;
    vtkDataArray* Colored; // whose colors are found here; null: VTK finds them, if there are any
  };

  // The array that colors a mesh.
  vtkAbstractArray* FindScalars(vtkPolyData* mesh, int& ofCells)
  {
    return this->ScalarVisibility ? vtkAbstractMapper::GetAbstractScalars(mesh, this->ScalarMode,
                                      this->ArrayAccessMode, this->ArrayId, this->ArrayName, ofCells)
                                  : nullptr;
  }

  std::vector<Block> GetBlocks()
  {
    std::vector<Block> blocks;
    int ofCells = 0;
    bool all = true;
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 3, 0)
    for (auto& item : this->Data)
    {
      vtkAbstractArray* scalars = this->FindScalars(item.first, ofCells);
      blocks.push_back({ item.first, item.second, item.second->Data, scalars && ofCells != 0,
        FindShared(item.first, scalars, ofCells, this->GetLookupTable()) });
      all = all && blocks.back().Colored;
    }
#else
    for (auto& item : this->VTKPolyDataToGLBatchElement)
    {
      auto& own = item.second->Parent;
      vtkAbstractArray* scalars = own.ScalarVisibility
        ? vtkAbstractMapper::GetAbstractScalars(
            own.PolyData, own.ScalarMode, own.ArrayAccessMode, own.ArrayId, own.ArrayName.c_str(), ofCells)
        : nullptr;
      blocks.push_back({ own.PolyData, item.second.get(), own.PolyData, scalars && ofCells != 0,
        FindShared(own.PolyData, scalars, ofCells, this->GetLookupTable()) });
      all = all && blocks.back().Colored && own.ArrayComponent == this->ArrayComponent &&
        own.ColorMode == this->ColorMode && (!own.LookupTable || own.LookupTable == this->LookupTable) &&
        own.InterpolateScalarsBeforeMapping == static_cast<bool>(this->InterpolateScalarsBeforeMapping);
    }
#endif
    for (Block& block : blocks)
    {
      block.Colored = all ? block.Colored : nullptr;
    }
    return blocks;
  }

  // The buffer of colors, or of places in a texture with them.
  const char* NameOfColors()
  {
    const char* coordinates = this->VBOs->GetVBO("colorTCoord") ? "colorTCoord" : "tcoord"; // newer VTK, older
    return this->ColorCoordinates ? coordinates : "scalarColor";
  }

  vtkPMBPolyDataMapper* Mapper()
  {
    return static_cast<vtkPMBPolyDataMapper*>(this->Parent);
  }

  // Does not look at each cell.
  bool AreAllTriangles(const std::vector<Block>& blocks, vtkRenderer* renderer, vtkActor* actor)
  {
    vtkProperty* property = actor->GetProperty();
    if (renderer->GetSelector() || property->GetRepresentation() != VTK_SURFACE || property->GetEdgeVisibility() ||
      property->GetVertexVisibility())
    {
      return false;
    }
    vtkIdType points = 0, triangles = 0;
    for (const Block& block : blocks)
    {
      vtkPolyData* mesh = block.Mesh;
      vtkCellArray* polygons = mesh->GetPolys();
      vtkDataArray* normals = mesh->GetPointData()->GetNormals();
      int ofCells = 0;
      if (normals && normals == this->FindScalars(mesh, ofCells)) // the stand-in has others
      {
        return false;
      }
      if (!(AllTriangles || vtkPMBPolyDataMapper::HasTriangles(mesh)) || block.ColoredByCells || !CanCopy(mesh))
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

  // Returns false if OpenGL has no memory or a mesh has other cells.
  bool BuildDirectly(const std::vector<Block>& blocks, vtkRenderer* renderer, vtkActor* actor)
  {
    std::vector<vtkSmartPointer<vtkPolyData>> standIns;
    this->HasOneColor =
      blocks.size() == 1 && blocks.front().Colored && vtkPMBMeshColors::IsOne(blocks.front().Colored);
    for (const Block& block : blocks)
    {
      standIns.emplace_back(StandIn(block.Mesh, block.Colored));
      block.Drawn = standIns.back();
    }
    this->Superclass::BuildBufferObjects(renderer, actor); // but for points, normals, colors and triangles
    this->Window = vtkOpenGLRenderWindow::SafeDownCast(renderer->GetVTKWindow());
    this->Keep("vertexMC", this->Points);
    this->Keep("normalMC", this->Normals);
    if (this->HasOneColor || !blocks.front().Colored)
    {
      this->Colors = nullptr;
    }
    else
    {
      this->Keep(this->NameOfColors(), this->Colors);
    }
    this->MadeOnGPU = blocks.size() == 1 && vtkPMBContourFilter::EmitToOpenGL(blocks.front().Mesh, nullptr);
    const bool onGPU = this->MadeOnGPU && this->FillOnGPU(blocks.front().Mesh);
    this->Mapper()->NumberOfTrianglesFromGPU = onGPU ? blocks.front().Mesh->GetNumberOfPolys() : 0;
    const bool filled = onGPU ||
      (this->FillVertexBuffer(blocks, "vertexMC", [](vtkPolyData* mesh) { return mesh->GetPoints()->GetData(); }) &&
        this->FillVertexBuffer(
          blocks, "normalMC", [](vtkPolyData* mesh) { return mesh->GetPointData()->GetNormals(); }) &&
        this->FillIndexBuffer(blocks));
    const bool colored = filled && this->FillColors(blocks);
    this->ShareBuffers(blocks);
    return colored;
  }

  // Returns the number of visible triangles, whose ids are then in the list; negative: draw all.
  vtkIdType FindVisible(vtkRenderer* renderer, vtkActor* actor)
  {
    using namespace vtkPMBMeshVisibility;
    const vtkIdType triangles = this->Mapper()->NumberOfDirectTriangles;
    if (!this->Direct || !this->Points || triangles < LEAST_TRIANGLES || !AreSolid(this, renderer, actor) ||
      (!this->MadeOnGPU && !IsSoftware()))
    {
      return -1;
    }
    this->NameBuffers(); // the host has filled them if the GPU could not move points to the origin
    const std::vector<Block> blocks = this->GetBlocks();
    pmb_visible_request request;
    std::memset(&request, 0, sizeof(request)); // also between members: requests are compared
    request.struct_size = sizeof(request);
    request.triangle_count = triangles;
    if (blocks.size() != 1)
    {
      return -1;
    }
    blocks.front().Mesh->GetPoints()->GetBounds(request.bounds);
    return Describe(renderer, actor, this->Points, request)
      ? this->Visible.Find(request, this->Buffers, this->Points, this->Primitives[PrimitiveTris].IBO)
      : -1;
  }

  // VTK makes new vertex buffers for each mesh. This keeps the first one in place of the later ones: new memory costs OpenGL and
  // CUDA 80 ms per GB.
  void Keep(const char* name, vtkSmartPointer<vtkOpenGLVertexBufferObject>& kept)
  {
    vtkOpenGLVertexBufferObject* made = this->VBOs->GetVBO(name);
    if (!kept || !made || !vtkPMBPrivateMembers::Has("vertex-buffers") || made->GetStride() != kept->GetStride() ||
      made->GetCoordShiftAndScaleEnabled() != kept->GetCoordShiftAndScaleEnabled())
    {
      this->Buffers.Registered = nullptr;
      kept = made;
      return;
    }
    kept->SetShift(made->GetShift());
    kept->SetScale(made->GetScale());
    kept->Modified(); // VTK inspects it again
    vtkPMBPrivateMembers::VertexBuffers<vtkOpenGLVertexBufferObjectGroup>::Replace(this->VBOs, name, kept.Get());
  }

  void ForgetBuffers()
  {
    const vtkSmartPointer<vtkOpenGLRenderWindow> window = this->Window.Get();
    if (window) // else it is being deleted, and its context is current
    {
      window->PushContext();
    }
    this->Buffers.Registered = nullptr; // before OpenGL deletes them
    this->Visible.Release();
    this->Points = this->Normals = this->Colors = nullptr;
    if (window)
    {
      window->PopContext();
    }
    this->Window = nullptr;
  }

  // Binds a buffer with room for so many bytes. Returns false if OpenGL has no memory.
  bool Reserve(vtkOpenGLBufferObject* buffer, GLenum target, size_t bytes)
  {
    size_t step = 1 << 16; // an isovalue next to this one finds room
    while (bytes / step > 32)
    {
      step *= 2;
    }
    const auto wanted = static_cast<GLint64>((bytes + step - 1) / step * step);
    GLint64 room = 0;
    buffer->Bind();
    glGetBufferParameteri64v(target, GL_BUFFER_SIZE, &room);
    if (room >= wanted && room <= 2 * wanted)
    {
      return true;
    }
    if (buffer != this->Colors.Get()) // the GPU fills the others
    {
      this->Buffers.Registered = nullptr;
    }
    return Allocate(target, static_cast<size_t>(wanted));
  }

  // Lets the GPU that made the mesh fill the buffers. Returns false if it cannot.
  bool FillOnGPU(vtkPolyData* mesh)
  {
    auto* triangles = this->Primitives[PrimitiveTris].IBO;
    const bool moved = this->Points && this->Points->GetCoordShiftAndScaleEnabled();
    if (!this->Points || (moved && mesh->GetPoints()->GetDataType() != VTK_FLOAT))
    {
      return false;
    }
    triangles->GenerateBuffer(vtkOpenGLBufferObject::ElementArrayBuffer);
    const size_t vectors = 3 * sizeof(float) * static_cast<size_t>(mesh->GetNumberOfPoints());
    const size_t ids = sizeof(GLuint) * static_cast<size_t>(mesh->GetPolys()->GetNumberOfConnectivityIds());
    const bool reserved = this->Reserve(this->Points, GL_ARRAY_BUFFER, vectors) &&
      (!this->Normals || this->Reserve(this->Normals, GL_ARRAY_BUFFER, vectors)) &&
      this->Reserve(triangles, GL_ELEMENT_ARRAY_BUFFER, ids);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    triangles->Release();
    this->NameBuffers();
    return reserved &&
      vtkPMBContourFilter::EmitToOpenGL(mesh, &this->Buffers, moved ? this->Points->GetShift().data() : nullptr,
        moved ? this->Points->GetScale().data() : nullptr);
  }

  void NameBuffers()
  {
    this->Buffers.Points = static_cast<unsigned int>(this->Points->GetHandle());
    this->Buffers.Normals = this->Normals ? static_cast<unsigned int>(this->Normals->GetHandle()) : 0;
    this->Buffers.Triangles = static_cast<unsigned int>(this->Primitives[PrimitiveTris].IBO->GetHandle());
  }

  // Copies array(mesh) into the buffer of this name, if VTK made one.
  template <typename Array>
  bool FillVertexBuffer(const std::vector<Block>& blocks, const char* name, const Array& array)
  {
    vtkOpenGLVertexBufferObject* buffer = this->VBOs->GetVBO(name);
    size_t values = 0;
    for (const Block& block : blocks)
    {
      values += buffer ? array(block.Mesh)->GetNumberOfValues() : 0;
    }
    if (!values)
    {
      return true;
    }
    return this->Fill(buffer, GL_ARRAY_BUFFER, values * sizeof(float),
      [&](void* memory)
      {
        auto* to = static_cast<float*>(memory);
        for (const Block& block : blocks)
        {
          CopyVectors(array(block.Mesh), buffer, to);
          to += array(block.Mesh)->GetNumberOfValues();
        }
      });
  }

  // Returns false if memory fails or VTK takes colors in a way unknown here.
  bool FillColors(const std::vector<Block>& blocks)
  {
    if (!blocks.front().Colored || this->HasOneColor) // the stand-in has it
    {
      return true;
    }
    const size_t bytes = this->ColorCoordinates ? 2 * sizeof(float) : 4;
    size_t points = 0;
    for (const Block& block : blocks)
    {
      points += block.Mesh->GetNumberOfPoints();
    }
    bool right = this->Colors && this->Colors->GetStride() == bytes;
    const auto write = [&](void* memory)
    {
      auto* to = static_cast<unsigned char*>(memory);
      for (const Block& block : blocks)
      {
        right = right && vtkPMBMeshColors::Write(this, block.Colored, bytes, to);
        to += bytes * block.Mesh->GetNumberOfPoints();
      }
    };
    return right && this->Fill(this->Colors, GL_ARRAY_BUFFER, bytes * points, write) && right;
  }

  bool FillIndexBuffer(const std::vector<Block>& blocks)
  {
    vtkIdType ids = 0;
    for (const Block& block : blocks)
    {
      ids += block.Mesh->GetPolys()->GetNumberOfConnectivityIds();
    }
    auto* buffer = this->Primitives[PrimitiveTris].IBO;
    buffer->GenerateBuffer(vtkOpenGLBufferObject::ElementArrayBuffer);
    bool right = true;
    const bool filled = this->Fill(buffer, GL_ELEMENT_ARRAY_BUFFER, ids * sizeof(GLuint),
      [&](void* memory)
      {
        auto* to = static_cast<GLuint*>(memory);
        GLuint first = 0;
        for (const Block& block : blocks)
        {
          right = right && CopyTriangles(block.Mesh->GetPolys(), block.Mesh->GetNumberOfPoints(), first, to);
          first += static_cast<GLuint>(block.Mesh->GetNumberOfPoints());
          to += block.Mesh->GetPolys()->GetNumberOfConnectivityIds();
        }
      });
    return filled && right;
  }

  // Lets write(memory) fill a mapped buffer, from which OpenGL copies about ten times faster than from other memory. Returns
  // false, with a warning, if OpenGL has no such memory or lost it.
  template <typename Write>
  bool Fill(vtkOpenGLBufferObject* buffer, GLenum target, size_t bytes, const Write& write)
  {
    void* memory = this->Reserve(buffer, target, bytes)
      ? glMapBufferRange(target, 0, bytes, GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT)
      : nullptr;
    if (memory)
    {
      write(memory);
    }
    const bool filled = memory && glUnmapBuffer(target);
    buffer->Release();
    if (!filled && this->Mapper()->Told("memory"))
    {
      vtkWarningWithObjectMacro(this->Mapper(),
        "OpenGL has no memory for a buffer of "
          << bytes << " bytes. VTK's own mapper draws instead: the same picture, but slower. "
          << "Free GPU memory, or show fewer triangles. This warning appears once.");
    }
    return filled;
  }

  // Gives each block its part of the buffers.
  void ShareBuffers(const std::vector<Block>& blocks)
  {
    unsigned int index = 0, point = 0;
    Element* before = nullptr;
    for (const Block& block : blocks)
    {
      Element* known = block.Known;
      block.Drawn = block.Mesh;
      known->StartVertex = point;
      point += static_cast<unsigned int>(block.Mesh->GetNumberOfPoints());
      known->NextVertex = point;
      known->StartIndex[PrimitiveTris] = index;
      index += static_cast<unsigned int>(block.Mesh->GetPolys()->GetNumberOfConnectivityIds());
      known->NextIndex[PrimitiveTris] = index;
      // VTK makes the map from OpenGL's triangles to cells when cells are selected: it never takes an empty map for current.
      vtkNew<vtkCellArray> empty;
      vtkCellArray* none[4] = { empty, empty, empty, empty };
      known->CellCellMap->Update(none, VTK_SURFACE, nullptr);
      vtkCellArray* cells[4] = { block.Mesh->GetVerts(), block.Mesh->GetLines(), block.Mesh->GetPolys(),
        block.Mesh->GetStrips() };
      known->CellCellMap->SetStartOffset(before ? before->CellCellMap->GetFinalOffset() : 0);
      known->CellCellMap->BuildPrimitiveOffsetsIfNeeded(cells, VTK_SURFACE, block.Mesh->GetPoints());
      before = known;
    }
    this->Primitives[PrimitiveTris].IBO->IndexCount = index;
    this->Mapper()->NumberOfDirectTriangles = index / 3;
  }

  bool Direct = false;
  bool BuiltForSelection = false;
  bool HasOneColor = false;
  bool MadeOnGPU = false;                                               // the mesh, by a GPU that still has it
  vtkSmartPointer<vtkOpenGLVertexBufferObject> Points, Normals, Colors; // those kept; null: none
  vtkPMBContourFilter::OpenGLBuffers Buffers = {};                      // these and the triangles, for the GPU
  vtkWeakPointer<vtkOpenGLRenderWindow> Window;                         // theirs
  vtkPMBMeshVisibility::List Visible;
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

bool vtkPMBPolyDataMapper::HasTrianglesOfAllPoints(vtkPolyData* mesh)
{
  vtkDataArray* ids = mesh->GetPolys()->GetConnectivityArray();
  return ids->HasInformation() &&
    ids->GetInformation()->Get(vtkPMBContourFilter::TRIANGLES_OF_ALL_POINTS()) == vtkVariant(1);
}

bool vtkPMBPolyDataMapper::HasTriangles(vtkPolyData* mesh)
{
  vtkDataArray* ids = mesh->GetPolys()->GetConnectivityArray();
  return ids->HasInformation() && ids->GetInformation()->Has(vtkPMBContourFilter::TRIANGLES_OF_ALL_POINTS());
}

void vtkPMBPolyDataMapper::MarkTriangles(vtkPolyData* mesh)
{
  vtkInformation* marks = mesh->GetPolys()->GetConnectivityArray()->GetInformation();
  marks->Set(vtkPMBContourFilter::TRIANGLES_OF_ALL_POINTS(), 0);
}

#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 3, 0)
vtkCompositeMapperHelper2* vtkPMBPolyDataMapper::CreateHelper()
{
  return vtkPMBPrivateMembers::Has("mapper") ? vtkPMBMapperHelper::New() : this->Superclass::CreateHelper();
}
#else
namespace
{
class Delegator : public vtkOpenGLCompositePolyDataMapperDelegator
{
public:
  static Delegator* New();
  vtkTypeMacro(Delegator, vtkOpenGLCompositePolyDataMapperDelegator);

protected:
  Delegator()
  {
    this->GLDelegate = vtkPMBMapperHelper::New();
    this->Delegate = vtk::TakeSmartPointer(this->GLDelegate);
  }
};
vtkStandardNewMacro(Delegator);
}

vtkCompositePolyDataMapperDelegator* vtkPMBPolyDataMapper::CreateADelegator()
{
  return vtkPMBPrivateMembers::Has("mapper") ? Delegator::New() : this->Superclass::CreateADelegator();
}
#endif

void vtkPMBPolyDataMapper::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "NumberOfDirectTriangles: " << this->NumberOfDirectTriangles << "\n";
  os << indent << "NumberOfTrianglesFromGPU: " << this->NumberOfTrianglesFromGPU << "\n";
  os << indent << "NumberOfDrawnTriangles: " << this->NumberOfDrawnTriangles << "\n";
}

VTK_ABI_NAMESPACE_END
