// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this project: what it reaches of VTK and ParaView that these do not offer, and that another version may change. Tried
// with VTK 9.1 to 9.6 and ParaView 5.11 to 6.1; with newer ones these features are off. So is one that the environment variable
// PMB_WITHOUT names, if it makes trouble:
//
//   point-bounds    vtkPoints::Bounds; off: VTK passes over the points to find them
//   cell-bounds     vtkPolyData::CellsBounds; off: VTK walks over the cells to find them
//   array-ranges    vtkFieldData::Ranges; off: ParaView 6.1 passes over the arrays to find them
//   vertex-buffers  vtkOpenGLVertexBufferObjectGroup::UsedVBOs; off: each mesh gets new buffers
//   mapper          the helpers of vtkCompositePolyDataMapper; off: VTK's own mapper draws
//   definitions     ParaView's definitions of representations; off: no Isosurface and no PMB Volume, VTK's own mapper draws
//   domains         vtkSMDomain::AddRequiredProperty(); off: the range of isovalues is that of the array to color by
//   panel           pqApplicationCore::instance() by its symbol; off: ParaView's own widgets in the panel
//
// Each needs only the headers of its argument's class.
#ifndef vtkPMBPrivateMembers_h
#define vtkPMBPrivateMembers_h

#include "vtkABINamespace.h"
#include "vtkVersionMacros.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBPrivateMembers
{
constexpr bool AreTried = VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 7, 0);

inline bool Has(const char* feature)
{
  const char* without = std::getenv("PMB_WITHOUT");
  return AreTried && !(without && std::strcmp(without, feature) == 0);
}

template <typename Points> // vtkPoints
struct PointBounds : Points
{
  static void Set(Points* points, const double bounds[6])
  {
    if constexpr (AreTried)
    {
      std::copy(bounds, bounds + 6, points->*(&PointBounds::Bounds));
      (points->*(&PointBounds::ComputeTime)).Modified();
    }
  }
};

template <typename Mesh> // vtkPolyData
struct CellBounds : Mesh
{
  // To the bounds of all points.
  static void Set(Mesh* mesh)
  {
    if constexpr (AreTried)
    {
      mesh->GetBounds(mesh->*(&CellBounds::CellsBounds));
      (mesh->*(&CellBounds::CellsBoundsTime)).Modified();
    }
  }
};

template <typename Fields> // vtkFieldData
struct ArrayRanges : Fields
{
  // To those that the arrays have kept.
  static void Set(Fields* fields)
  {
    if constexpr (AreTried && VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 2, 0))
    {
      for (int i = 0; i < fields->GetNumberOfArrays(); ++i)
      {
        auto* array = fields->GetArray(i);
        const int last = array ? array->GetNumberOfComponents() - 1 : -1;
        if (last >= 0 && array->HasInformation() && array->GetInformation()->Has(array->PER_COMPONENT()))
        {
          for (int component = -1; component <= last; ++component)
          {
            const int kind = component < 0 ? 0 : 1, at = std::max(0, 2 * component);
            auto& [time, ghosts, ranges] = (fields->*(&ArrayRanges::Ranges))[i][kind];
            auto& [finite_time, finite_ghosts, finite] = (fields->*(&ArrayRanges::FiniteRanges))[i][kind];
            ranges.resize(2 * (last + 1));
            finite.resize(2 * (last + 1));
            array->GetRange(&ranges[at], component);
            array->GetFiniteRange(&finite[at], component);
            time = finite_time = array->GetMTime();
            ghosts = finite_ghosts = 0;
          }
        }
      }
    }
  }
};

template <typename Group> // vtkOpenGLVertexBufferObjectGroup
struct VertexBuffers : Group
{
  // Puts a buffer in the place of the one with this name, which there is.
  template <typename Buffer>
  static void Replace(Group* group, const char* name, Buffer* buffer)
  {
    if constexpr (AreTried)
    {
      Buffer*& found = (group->*(&VertexBuffers::UsedVBOs))[name];
      found->Delete();
      buffer->Register(nullptr);
      found = buffer;
    }
  }
};

template <typename Manager> // vtkSIProxyDefinitionManager, which caches combined definitions
struct Definitions : Manager
{
  static void Forget(Manager* definitions)
  {
    if constexpr (AreTried)
    {
      (definitions->*(&Definitions::InvalidateCollapsedDefinition))();
    }
  }
};

template <typename Domain> // vtkSMDomain
struct Domains : Domain
{
  // Has a domain depend on another property with this function.
  template <typename Property>
  static void Follow(Domain* domain, const char* function, Property* property)
  {
    if constexpr (AreTried)
    {
      (domain->*(&Domains::RemoveRequiredProperty))(domain->GetRequiredProperty(function));
      (domain->*(&Domains::AddRequiredProperty))(property, function);
      domain->Update(property);
    }
  }
};

// Of pqApplicationCore::instance(), as gcc and clang name it. Only ParaView's window has it: other programs have no Qt.
constexpr const char* WindowSymbol = "_ZN17pqApplicationCore8instanceEv";
}
VTK_ABI_NAMESPACE_END
#endif
