// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkPMBVolumeMapper
 * @brief   draws image data by rays on the CPU or an NVIDIA GPU, without OpenGL's shaders
 *
 * A mapper in the place of vtkSmartVolumeMapper. It draws the blend modes composite, maximum and minimum intensity, average
 * intensity, and isosurface, with light. Rays go past bricks of the volume that show nothing, so that an isosurface in an empty
 * volume costs little.
 *
 * Of an array with several components it draws one, if the components are independent, that one has a weight of 1, and the
 * others of 0. What it cannot draw goes to vtkSmartVolumeMapper with one warning: several components together, cell data, nearest-neighbour
 * interpolation, isosurfaces with gradient opacity, two-dimensional transfer functions, other blend modes, and croppings other than to
 * a box.
 *
 * While the CPU casts, observers of the render window's AbortCheckEvent can stop the picture with SetAbortRender(), 20 times a
 * second.
 *
 * It takes part in depth peeling of volumes (vtkDualDepthPeelingPass). Its edges have the window's samples of a pixel.
 *
 * vtkHardwareSelector finds isosurfaces: the sample nearest to the point on the surface, or its cell.
 *
 * @sa vtkSmartVolumeMapper vtkPMBContourFilter
 */
#ifndef vtkPMBVolumeMapper_h
#define vtkPMBVolumeMapper_h

#include "vtkNew.h"                // For members
#include "vtkPMBRenderingModule.h" // For export macro
#include "vtkVolumeMapper.h"

#include <memory> // For the internals
#include <string> // For names

VTK_ABI_NAMESPACE_BEGIN
class vtkDataArray;
class vtkDoubleArray;
class vtkImageData;
class vtkSmartVolumeMapper;
class vtkVolumeProperty;

class VTKPMBRENDERING_EXPORT vtkPMBVolumeMapper : public vtkVolumeMapper
{
public:
  static vtkPMBVolumeMapper* New();
  vtkTypeMacro(vtkPMBVolumeMapper, vtkVolumeMapper);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * Set/Get the world length between the samples of a ray. 0, the default: half the shortest edge of a cell.
   */
  vtkSetClampMacro(SampleDistance, double, 0.0, VTK_DOUBLE_MAX);
  vtkGetMacro(SampleDistance, double);
  ///@}

  ///@{
  /**
   * Set/Get whether the samples of each pixel are moved by a part of a step, against rings where steps are long. Default: off.
   */
  vtkSetMacro(UseJittering, vtkTypeBool);
  vtkGetMacro(UseJittering, vtkTypeBool);
  vtkBooleanMacro(UseJittering, vtkTypeBool);
  ///@}

  ///@{
  /**
   * Set/Get whether composites have a color per segment between two samples in place of a color per sample. Then no narrow peak
   * of the opacity is missed between samples, and longer steps do. Default: off.
   */
  vtkSetMacro(UsePreIntegration, vtkTypeBool);
  vtkGetMacro(UsePreIntegration, vtkTypeBool);
  vtkBooleanMacro(UsePreIntegration, vtkTypeBool);
  ///@}

  ///@{
  /**
   * Set/Get the point array whose values color isosurfaces, by the color function of the volume's property. It has one component.
   * nullptr, the default: a surface has the color of its isovalue. The opacity is that of the isovalue in any case.
   */
  vtkSetStdStringFromCharMacro(ColorArrayName);
  vtkGetCharFromStdStringMacro(ColorArrayName);
  ///@}

  ///@{
  /**
   * Set/Get the array of a two-dimensional transfer function, for vtkSmartVolumeMapper; nullptr, the default: the gradient.
   */
  vtkSetStdStringFromCharMacro(Transfer2DYAxisArray);
  vtkGetCharFromStdStringMacro(Transfer2DYAxisArray);
  ///@}

  ///@{
  /**
   * Set/Get where to compute and on how many threads: as in vtkPMBContourFilter.
   */
  vtkSetClampMacro(Device, int, 0, 2);
  vtkGetMacro(Device, int);
  vtkSetClampMacro(NumberOfThreads, int, 0, 1024);
  vtkGetMacro(NumberOfThreads, int);
  ///@}

  /**
   * Finds isovalues of a point array of one component to start with, the best first, and a curve of the surfaces' sizes: those of
   * vtkPMBContourFilter::GetSuggestedIsovalues() and GetIsovalueCurve(). Both are empty where nothing can be suggested. A picture of
   * the same array needs no second pass over the samples.
   */
  void SuggestIsovalues(vtkImageData* image, vtkDataArray* array, vtkDoubleArray* isovalues, vtkDoubleArray* curve);

  /**
   * Whether only isosurfaces show, and all are opaque for a property: a prop can draw them with its opaque geometry, by
   * RenderVolumetricGeometry(). Then translucent geometry before them, and passes such as ambient occlusion, find them.
   */
  bool IsOpaque(vtkVolumeProperty* property);

  /**
   * Get the device that drew the last picture, for a person; empty if vtkSmartVolumeMapper drew it, or it was stopped.
   */
  std::string GetLastDevice() const;

  /**
   * Get whether OpenGL took the last picture from the GPU's memory, without the host.
   */
  bool GetStayedOnGPU() const;

  ///@{
  /**
   * Draws the volume; VTK calls these.
   */
  void Render(vtkRenderer* renderer, vtkVolume* volume) override;
  void ReleaseGraphicsResources(vtkWindow* window) override;
  ///@}

protected:
  vtkPMBVolumeMapper();
  ~vtkPMBVolumeMapper() override;

private:
  bool Describe(vtkRenderer* renderer, vtkVolume* volume, vtkImageData* image, vtkDataArray* array);
  void RenderRays(vtkRenderer* renderer, vtkVolume* volume, vtkImageData* image, vtkDataArray* array);
  bool Cast(vtkImageData* image, vtkDataArray* array);
  std::string FindObstacle(vtkVolumeProperty* property, vtkDataArray* array, int isOfCells);
  vtkDataArray* FindColors(vtkImageData* image);
  void RenderWithOther(vtkRenderer* renderer, vtkVolume* volume, const std::string& why);

  struct Internals;
  const std::unique_ptr<Internals> Own;
  vtkNew<vtkSmartVolumeMapper> Other;
  double SampleDistance = 0.0;
  vtkTypeBool UseJittering = 0;
  vtkTypeBool UsePreIntegration = 0;
  int Device;
  int NumberOfThreads = 0;
  std::string ColorArrayName, Transfer2DYAxisArray;
};
VTK_ABI_NAMESPACE_END
#endif
