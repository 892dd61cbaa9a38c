// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkPMBPolyDataMapper
 * @brief draws meshes of triangles without a walk over their cells
 *
 * VTK's mapper of composite data copies the ids of the triangles one by one into a vector, looks at the points of each triangle,
 * and moves and scales all points. This mapper writes the ids straight into OpenGL's index buffer, on all cores, and hands
 * points, normals and point colors to OpenGL in one piece each. With VTK 9.2 it also finds the colors on all cores, but for
 * categories, opacities from a function, and color functions that are not discretized.
 *
 * It does so for a surface without visible edges or vertices, all of whose cells are triangles, which is colored by points or
 * by one color: for meshes of vtkPMBContourFilter and vtkPMBParticleSurface, and after AllTrianglesOn() for all others. Its
 * superclass draws everything else with the same picture. The superclass also draws selections, because VTK leaves out
 * triangles without area and counts those that remain.
 *
 * If the GPU that made the mesh also draws it, the GPU fills the buffers itself. If OpenGL has no memory for a buffer, the
 * superclass draws, after one warning per mapper.
 *
 * Of a large opaque mesh in one block only the visible triangles go to OpenGL. The GPU that made the mesh finds them, or the CPU
 * if the CPU draws. Textures, clipping planes, culling, the user's shaders and polygon offsets turn this off.
 *
 * Points far from the origin are shifted and scaled as VTK does, because a float has too few digits there.
 *
 * @warning For VTK 9.2, 9.3 and 9.6, which ParaView 5.11 to 5.13 and 6.1 have.
 */
#ifndef vtkPMBPolyDataMapper_h
#define vtkPMBPolyDataMapper_h

#include "vtkPMBOnce.h"            // for warnings
#include "vtkPMBRenderingModule.h" // for export macro
#include "vtkVersionMacros.h"      // for VTK_VERSION_NUMBER

#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 3, 0)
#include "vtkCompositePolyDataMapper2.h"
#define vtkPMBPolyDataMapperBase vtkCompositePolyDataMapper2
#else
#include "vtkCompositePolyDataMapper.h"
#define vtkPMBPolyDataMapperBase vtkCompositePolyDataMapper
#endif

VTK_ABI_NAMESPACE_BEGIN

class vtkPolyData;

class VTKPMBRENDERING_EXPORT vtkPMBPolyDataMapper : public vtkPMBPolyDataMapperBase
{
public:
  static vtkPMBPolyDataMapper* New();
  vtkTypeMacro(vtkPMBPolyDataMapper, vtkPMBPolyDataMapperBase);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * Set/get whether all mappers of this process draw the triangles of all meshes without a walk over the cells, from the next
   * time that they build buffers. Off by default: only meshes of this project's filters.
   */
  static void SetAllTriangles(bool all);
  static bool GetAllTriangles();
  ///@}

  /**
   * Whether a mesh has the mark of this project's filters: all cells are triangles, and they use all points.
   */
  static bool HasTrianglesOfAllPoints(vtkPolyData* mesh);

  ///@{
  /**
   * Whether a mesh has that mark or the one that MarkTriangles() gives it: all cells are triangles. Such meshes are drawn without
   * a walk over the cells.
   */
  static bool HasTriangles(vtkPolyData* mesh);
  static void MarkTriangles(vtkPolyData* mesh);
  ///@}

  /**
   * Get the number of triangles that were written without a walk over the cells when buffers were built last. Blocks with other
   * kinds of arrays have buffers of their own.
   */
  vtkGetMacro(NumberOfDirectTriangles, vtkIdType);

  /**
   * Get how many of them the GPU that made them wrote to OpenGL's buffers by itself.
   */
  vtkGetMacro(NumberOfTrianglesFromGPU, vtkIdType);

  /**
   * Get how many of them were drawn last: where these are many, those that hide behind others, lie outside the view or cover no
   * sample of a pixel are left out. The picture is the same.
   */
  vtkGetMacro(NumberOfDrawnTriangles, vtkIdType);

protected:
  vtkPMBPolyDataMapper() = default;
  ~vtkPMBPolyDataMapper() override = default;

#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 3, 0)
  vtkCompositeMapperHelper2* CreateHelper() override;
#else
  vtkCompositePolyDataMapperDelegator* CreateADelegator() override;
#endif

private:
  friend class vtkPMBMapperHelper;
  vtkIdType NumberOfDirectTriangles = 0;
  vtkIdType NumberOfTrianglesFromGPU = 0;
  vtkIdType NumberOfDrawnTriangles = 0;
  vtkPMB::Once Told; // warnings
};

VTK_ABI_NAMESPACE_END

#endif
