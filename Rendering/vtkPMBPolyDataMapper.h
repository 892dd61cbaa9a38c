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
 * by one color. Meshes of vtkPMBContourFilter and vtkPMBParticleSurface are drawn like this, and with AllTrianglesOn() all others too. Its
 * superclass draws everything else. It also draws while a selection is made, because VTK leaves triangles without area out
 * and counts those that remain. Both give the same picture.
 *
 * Where the GPU that made the mesh also draws it, the GPU fills the buffers by itself. If OpenGL has no memory for a buffer, the
 * superclass draws, after one warning per mapper.
 *
 * Of a large opaque mesh in one block only the triangles that can be seen go to OpenGL: the GPU that made the mesh finds them, or
 * the processor where that draws as well. Not with textures, clipping planes, culling, shaders of the user's or moved depths.
 *
 * Points far from the origin are moved and scaled as VTK does it, since float has too few digits for them there.
 *
 * @warning For VTK 9.2 and 9.3, which ParaView 5.11 to 5.13 have.
 */
#ifndef vtkPMBPolyDataMapper_h
#define vtkPMBPolyDataMapper_h

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
   * Set/get whether triangles of all meshes are drawn without a walk over the cells, by all mappers of this process, from the
   * next time on that they build buffers. Off by default: only those of our filters.
   */
  static void SetAllTriangles(bool all);
  static bool GetAllTriangles();
  ///@}

  /**
   * Whether a mesh has the mark of our filters: all cells are triangles, and they use all points.
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
  vtkPMBPolyDataMapper(const vtkPMBPolyDataMapper&) = delete;
  void operator=(const vtkPMBPolyDataMapper&) = delete;

  friend class vtkPMBMapperHelper;
  vtkIdType NumberOfDirectTriangles = 0;
  vtkIdType NumberOfTrianglesFromGPU = 0;
  vtkIdType NumberOfDrawnTriangles = 0;
  bool MemoryWarningShown = false;
};

VTK_ABI_NAMESPACE_END

#endif
