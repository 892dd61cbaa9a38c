// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBVolumeMapper.h"

#include "vtkContourValues.h"
#include "vtkDataArray.h"
#include "vtkHardwareSelector.h"
#include "vtkImageData.h"
#include "vtkLight.h"
#include "vtkLightCollection.h"
#include "vtkMath.h"
#include "vtkMatrix4x4.h"
#include "vtkObjectFactory.h"
#include "vtkOpenGLCamera.h"
#include "vtkOpenGLRenderWindow.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBOnce.h"
#include "vtkPMBRayCaster.h"
#include "vtkPMBVolumeScene.h"
#include "vtkPiecewiseFunction.h"
#include "vtkPlane.h"
#include "vtkPlaneCollection.h"
#include "vtkPointData.h"
#include "vtkPolyDataMapper.h"
#include "vtkPropCollection.h"
#include "vtkRenderer.h"
#include "vtkSmartVolumeMapper.h"
#include "vtkVolume.h"
#include "vtkVolumeProperty.h"

#include "rays/pmb_rays.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace
{
using namespace vtkPMBVolumeScene;

// Whether the renderer shows nothing but one volume. ParaView has props without a place, for selections.
bool IsAlone(vtkRenderer* renderer)
{
  int visible = 0;
  vtkPropCollection* props = renderer->GetViewProps();
  vtkCollectionSimpleIterator at;
  props->InitTraversal(at);
  while (vtkProp* prop = props->GetNextProp(at))
  {
    const double* bounds = prop->GetVisibility() ? prop->GetBounds() : nullptr;
    visible += bounds && vtkMath::AreBoundsInitialized(bounds) ? (vtkVolume::SafeDownCast(prop) ? 1 : 2) : 0;
  }
  return visible == 1 && !renderer->GetPreserveDepthBuffer();
}

// A plane of the world as one of the volume's own space, which the matrix takes to the world.
void AddPlane(const double normal[3], const double origin[3], vtkMatrix4x4* matrix, std::vector<double>& planes)
{
  const double plane[4] = { normal[0], normal[1], normal[2],
    -(normal[0] * origin[0] + normal[1] * origin[1] + normal[2] * origin[2]) };
  for (int c = 0; c < 4; ++c)
  {
    double sum = 0;
    for (int r = 0; r < 4; ++r)
    {
      sum += plane[r] * (matrix ? matrix->GetElement(r, c) : (r == c));
    }
    planes.push_back(sum);
  }
}

// As OpenGL draws meshes now: its viewport, and the camera with the eye of a stereo picture. viewToClip: for the picture.
void AddCamera(vtkRenderer* renderer, vtkVolume* volume, Scene& scene)
{
  vtkMatrix4x4 *worldToView, *viewToClip, *worldToClip; // transposed
  vtkMatrix3x3* normals;
  static_cast<vtkOpenGLCamera*>(renderer->GetActiveCamera())
    ->GetKeyMatrices(renderer, worldToView, normals, viewToClip, worldToClip);
  vtkNew<vtkMatrix4x4> toClip;
  vtkMatrix4x4::Transpose(worldToClip, toClip);
  vtkMatrix4x4::Multiply4x4(toClip->GetData(), volume->GetMatrix()->GetData(), scene.Request.world_to_clip);
  std::copy_n(volume->GetMatrix()->GetData(), 12, scene.Request.placement);
  scene.Look.ViewToClip = viewToClip;
  int viewport[4];
  scene.Window->GetState()->vtkglGetIntegerv(GL_VIEWPORT, viewport);
  std::copy_n(viewport, 2, scene.Origin);
  scene.Request.width = viewport[2];
  scene.Request.height = viewport[3];
}

// As vtkOpenGLRenderer gives them to meshes.
pmb_ray_light MakeLight(vtkLight* light)
{
  double from[3], to[3], attenuation[3];
  light->GetTransformedPosition(from);
  light->GetTransformedFocalPoint(to);
  light->GetAttenuationValues(attenuation);
  pmb_ray_light made = {};
  made.position[3] = light->GetPositional() ? 1 : 0;
  for (int a = 0; a < 3; ++a)
  {
    made.position[a] = light->GetPositional() ? from[a] : from[a] - to[a];
    made.color[a] = static_cast<float>(light->GetDiffuseColor()[a] * light->GetIntensity());
    made.direction[a] = static_cast<float>(to[a] - from[a]);
    made.attenuation[a] = static_cast<float>(attenuation[a]);
  }
  if (light->GetPositional() && light->GetConeAngle() < 90)
  {
    made.cone_cosine = static_cast<float>(std::cos(vtkMath::RadiansFromDegrees(light->GetConeAngle())));
    made.exponent = static_cast<float>(light->GetExponent());
  }
  return made;
}

// Returns how many lights are on. Without any, surfaces have their color and volumes none, as VTK's. Volumes have the material's
// ambient light from a single headlight alone: VTK's mapper multiplies it by the ambient colors of other lights, which are black.
int AddLights(vtkRenderer* renderer, Scene& scene)
{
  int count = 0;
  bool isHeadlight = true;
  vtkLightCollection* lights = renderer->GetLights();
  vtkCollectionSimpleIterator i;
  lights->InitTraversal(i);
  while (vtkLight* light = lights->GetNextLight(i))
  {
    if (light->GetSwitch() && ++count <= PMB_RAY_LIGHTS)
    {
      scene.Lights.push_back(MakeLight(light));
    }
    isHeadlight = isHeadlight &&
      (!light->GetSwitch() || (count == 1 && light->LightTypeIsHeadlight() && light->GetIntensity() == 1));
  }
  pmb_ray_request& request = scene.Request;
  if (request.shade && request.mode != PMB_RAY_ISOSURFACE && !isHeadlight)
  {
    request.ambient = 0;
  }
  if (count == 0)
  {
    request.ambient = request.mode == PMB_RAY_ISOSURFACE ? request.ambient + request.diffuse : !request.shade;
    request.diffuse = request.specular = 0;
  }
  request.lights = scene.Lights.data();
  request.light_count = static_cast<int>(scene.Lights.size());
  return count;
}

void AddColors(vtkVolumeProperty* property, int mode, Scene& scene)
{
  pmb_ray_request& request = scene.Request;
  scene.Property = property;
  request.mode = mode == vtkVolumeMapper::ISOSURFACE_BLEND ? PMB_RAY_ISOSURFACE
    : mode == vtkVolumeMapper::MAXIMUM_INTENSITY_BLEND     ? PMB_RAY_MAXIMUM
    : mode == vtkVolumeMapper::MINIMUM_INTENSITY_BLEND     ? PMB_RAY_MINIMUM
    : mode == vtkVolumeMapper::AVERAGE_INTENSITY_BLEND     ? PMB_RAY_AVERAGE
                                                           : PMB_RAY_COMPOSITE;
  vtkContourValues* isovalues = property->GetIsoSurfaceValues();
  for (int i = 0; i < isovalues->GetNumberOfContours() && i < PMB_RAY_ISOVALUES; ++i)
  {
    pmb_ray_isovalue isovalue = { isovalues->GetValue(i), {} };
    FillColor(property, scene.Component, isovalue.value, isovalue.color);
    if (scene.ColorBy && property->GetColorChannels(scene.Component) == 3) // of values that are not finite
    {
      std::copy_n(property->GetRGBTransferFunction(scene.Component)->GetNanColor(), 3, isovalue.color);
    }
    scene.Isovalues.push_back(isovalue);
  }
  request.isovalues = scene.Isovalues.data();
  request.isovalue_count = static_cast<int>(scene.Isovalues.size());
  request.table_unit = std::max(property->GetScalarOpacityUnitDistance(scene.Component), 1e-200); // 0 is opaque
}

void AddMaterial(vtkVolumeProperty* property, Scene& scene)
{
  pmb_ray_request& request = scene.Request;
  const int c = scene.Component;
  request.shade = property->GetShade(c);
  request.ambient = request.shade ? static_cast<float>(property->GetAmbient(c)) : 1;
  request.diffuse = request.shade ? static_cast<float>(property->GetDiffuse(c)) : 0;
  request.specular = request.shade ? static_cast<float>(property->GetSpecular(c)) : 0;
  request.specular_power = static_cast<float>(property->GetSpecularPower(c));
}

// The cropping box is in the volume's own space, the clipping planes are in the world's.
void AddPlanes(const double* box, vtkPlaneCollection* clipping, vtkVolume* volume, Scene& scene)
{
  for (int i = 0; box && i < 6; ++i)
  {
    double normal[3] = { 0, 0, 0 }, origin[3] = { 0, 0, 0 };
    normal[i / 2] = i % 2 ? -1 : 1;
    origin[i / 2] = box[i];
    AddPlane(normal, origin, nullptr, scene.Planes);
  }
  for (int i = 0; clipping && i < clipping->GetNumberOfItems(); ++i)
  {
    vtkPlane* plane = clipping->GetItem(i);
    AddPlane(plane->GetNormal(), plane->GetOrigin(), volume->GetMatrix(), scene.Planes);
  }
  scene.Request.planes = scene.Planes.data();
  scene.Request.plane_count = static_cast<int>(scene.Planes.size() / 4);
}
}

struct vtkPMBVolumeMapper::Internals
{
  vtkPMBRayCaster Rays;
  Scene Kept;
  vtkNew<vtkPolyDataMapper> Mesh; // that render passes take opaque surfaces for
  std::string LastDevice;
  vtkPMB::Once Told; // why vtkSmartVolumeMapper drew, or an array gave no colors
};

vtkStandardNewMacro(vtkPMBVolumeMapper);

vtkPMBVolumeMapper::vtkPMBVolumeMapper()
  : Own(new Internals)
  , Device(vtkPMBContourFilter::AUTOMATIC)
{
}

vtkPMBVolumeMapper::~vtkPMBVolumeMapper() = default;

std::string vtkPMBVolumeMapper::GetLastDevice() const
{
  return this->Own->LastDevice;
}

bool vtkPMBVolumeMapper::GetStayedOnGPU() const
{
  return !this->Own->LastDevice.empty() && this->Own->Rays.IsInOpenGL;
}

void vtkPMBVolumeMapper::ReleaseGraphicsResources(vtkWindow* window)
{
  this->Own->Kept.Picture.Release(window);
  this->Other->ReleaseGraphicsResources(window);
  this->Superclass::ReleaseGraphicsResources(window);
}

// Returns why this mapper cannot draw, or an empty text.
std::string vtkPMBVolumeMapper::FindObstacle(vtkVolumeProperty* property, vtkDataArray* array, int isOfCells)
{
  const int component = isOfCells ? -1 : FindComponent(property, array);
  const int planes = (this->ClippingPlanes ? this->ClippingPlanes->GetNumberOfItems() : 0) + (this->Cropping ? 6 : 0);
  const std::pair<bool, const char*> obstacles[] = { { isOfCells != 0, "the array belongs to cells" },
    { component < 0, "the array has several components" },
    { property->GetInterpolationType() != VTK_LINEAR_INTERPOLATION, "the interpolation is not linear" },
    { property->GetTransferFunctionMode() == vtkVolumeProperty::TF_2D, "the transfer function is two-dimensional" },
    { this->BlendMode == ISOSURFACE_BLEND && component >= 0 && HasGradientOpacity(property, component),
      "the opacity of isosurfaces depends on the gradient" },
    { this->BlendMode == ADDITIVE_BLEND || this->BlendMode == SLICE_BLEND, "the blend mode is additive or slice" },
    { this->Cropping && this->CroppingRegionFlags != VTK_CROP_SUBVOLUME, "the cropping keeps more than one box" },
    { planes > PMB_RAY_PLANES, "there are more than 8 cutting planes, including the 6 of a cropping box" } };
  const auto found =
    std::find_if(std::begin(obstacles), std::end(obstacles), [](const auto& each) { return each.first; });
  return found == std::end(obstacles) ? "" : found->second;
}

// Returns null if the isovalues give the colors.
vtkDataArray* vtkPMBVolumeMapper::FindColors(vtkImageData* image)
{
  if (this->ColorArrayName.empty() || this->BlendMode != ISOSURFACE_BLEND)
  {
    return nullptr;
  }
  vtkDataArray* array = image->GetPointData()->GetArray(this->ColorArrayName.c_str());
  std::ostringstream obstacle;
  if (!array)
  {
    obstacle << "there is no numeric point array '" << this->ColorArrayName << "' to color by";
  }
  else if (array->GetNumberOfComponents() != 1)
  {
    obstacle << "the array '" << this->ColorArrayName << "' to color by has " << array->GetNumberOfComponents()
             << " components; use one of them";
  }
  else if (array->GetNumberOfTuples() != image->GetNumberOfPoints())
  {
    obstacle << "the array '" << this->ColorArrayName << "' to color by has " << array->GetNumberOfTuples()
             << " values for " << image->GetNumberOfPoints() << " samples";
  }
  else
  {
    return array;
  }
  if (this->Own->Told(obstacle.str()))
  {
    vtkWarningMacro(
      "Isosurfaces have the colors of their isovalues, because " << obstacle.str() << ". This warning appears once.");
  }
  return nullptr;
}

void vtkPMBVolumeMapper::SuggestIsovalues(
  vtkImageData* image, vtkDataArray* array, vtkDoubleArray* isovalues, vtkDoubleArray* curve)
{
  this->Own->Rays.Device = this->Device;
  this->Own->Rays.NumberOfThreads = this->NumberOfThreads;
  const std::string error = this->Own->Rays.Explore(image, array, isovalues, curve);
  if (!this->Own->Rays.Warning.empty())
  {
    vtkWarningMacro(<< this->Own->Rays.Warning);
  }
  if (!error.empty())
  {
    vtkErrorMacro(<< error);
  }
}

void vtkPMBVolumeMapper::RenderWithOther(vtkRenderer* renderer, vtkVolume* volume, const std::string& why)
{
  if (this->Own->Told(why))
  {
    vtkWarningMacro("vtkSmartVolumeMapper draws this volume, because " << why << ". This warning appears once.");
  }
  this->Own->LastDevice.clear();
  this->Other->SetInputDataObject(this->GetDataObjectInput());
  this->Other->SetBlendMode(this->BlendMode);
  this->Other->SetScalarMode(this->ScalarMode);
  this->Other->SetArrayAccessMode(this->ArrayAccessMode);
  if (this->ArrayAccessMode == VTK_GET_ARRAY_BY_NAME)
  {
    this->Other->SelectScalarArray(this->ArrayName);
  }
  else
  {
    this->Other->SelectScalarArray(this->ArrayId);
  }
  this->Other->SetTransfer2DYAxisArray(
    this->Transfer2DYAxisArray.empty() ? nullptr : this->Transfer2DYAxisArray.c_str());
  this->Other->SetCropping(this->Cropping);
  this->Other->SetCroppingRegionFlags(this->CroppingRegionFlags);
  this->Other->SetCroppingRegionPlanes(this->CroppingRegionPlanes);
  this->Other->SetClippingPlanes(this->ClippingPlanes);
  this->Other->SetSampleDistance(this->SampleDistance > 0 ? static_cast<float>(this->SampleDistance) : 1);
  this->Other->SetUseJittering(this->UseJittering);
  this->Other->SetAutoAdjustSampleDistances(this->SampleDistance <= 0);
  this->Other->Render(renderer, volume);
}

bool vtkPMBVolumeMapper::IsOpaque(vtkVolumeProperty* property)
{
  auto* image = vtkImageData::SafeDownCast(this->GetDataObjectInput());
  int isOfCells = 0;
  vtkDataArray* array = image
    ? this->GetScalars(image, this->ScalarMode, this->ArrayAccessMode, this->ArrayId, this->ArrayName, isOfCells)
    : nullptr;
  if (!array || this->BlendMode != ISOSURFACE_BLEND || !this->FindObstacle(property, array, isOfCells).empty())
  {
    return false;
  }
  vtkPiecewiseFunction* opacity = property->GetScalarOpacity(FindComponent(property, array));
  vtkContourValues* isovalues = property->GetIsoSurfaceValues();
  bool isOpaque = true;
  for (int i = 0; i < isovalues->GetNumberOfContours() && i < PMB_RAY_ISOVALUES; ++i)
  {
    isOpaque = isOpaque && opacity->GetValue(isovalues->GetValue(i)) >= 1;
  }
  return isOpaque;
}

void vtkPMBVolumeMapper::Render(vtkRenderer* renderer, vtkVolume* volume)
{
  auto* image = vtkImageData::SafeDownCast(this->GetDataObjectInput());
  auto* window = vtkOpenGLRenderWindow::SafeDownCast(renderer->GetRenderWindow());
  int isOfCells = 0;
  vtkDataArray* array = image
    ? this->GetScalars(image, this->ScalarMode, this->ArrayAccessMode, this->ArrayId, this->ArrayName, isOfCells)
    : nullptr;
  vtkHardwareSelector* selector = renderer->GetSelector(); // isosurfaces alone can be selected
  if (!array || !window || array->GetNumberOfTuples() == 0 || (selector && this->BlendMode != ISOSURFACE_BLEND))
  {
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  const std::string obstacle = this->FindObstacle(volume->GetProperty(), array, isOfCells);
  if (obstacle.empty())
  {
    this->Own->Kept.Window = window;
    this->RenderRays(renderer, volume, image, array);
  }
  else if (!selector)
  {
    this->RenderWithOther(renderer, volume, obstacle);
  }
  this->TimeToDraw = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Describes the picture to the core. Returns false if it has no pixels.
bool vtkPMBVolumeMapper::Describe(vtkRenderer* renderer, vtkVolume* volume, vtkImageData* image, vtkDataArray* array)
{
  Scene& scene = this->Own->Kept;
  vtkVolumeProperty* property = volume->GetProperty();
  scene.Clear();
  scene.Request.step = this->SampleDistance;
  scene.Request.jitter = this->UseJittering;
  scene.Request.preintegrate = this->UsePreIntegration;
  scene.Component = FindComponent(property, array);
  const double* spacing = image->GetSpacing();
  scene.AverageSpacing = (std::abs(spacing[0]) + std::abs(spacing[1]) + std::abs(spacing[2])) / 3;
  scene.ColorBy = this->FindColors(image);
  const int type = (scene.ColorBy ? scene.ColorBy : array)->GetDataType();
  scene.HasCategories = type != VTK_FLOAT && type != VTK_DOUBLE && property->GetColorChannels(scene.Component) == 3 &&
    property->GetRGBTransferFunction(scene.Component)->GetIndexedLookup();
  AddCamera(renderer, volume, scene);
  AddColors(property, this->BlendMode, scene);
  AddMaterial(property, scene);
  AddPlanes(this->Cropping ? this->CroppingRegionPlanes : nullptr, this->ClippingPlanes, volume, scene);
  const int lights = AddLights(renderer, scene);
  if (lights > PMB_RAY_LIGHTS && this->Own->Told("lights"))
  {
    vtkWarningMacro("The first " << PMB_RAY_LIGHTS << " lights of " << lights
                                 << " light this volume. Switch off others. This warning appears once.");
  }
  return scene.Request.width > 0 && scene.Request.height > 0;
}

void vtkPMBVolumeMapper::RenderRays(
  vtkRenderer* renderer, vtkVolume* volume, vtkImageData* image, vtkDataArray* array)
{
  Scene& scene = this->Own->Kept;
  vtkPMBVolumePicture& picture = scene.Picture;
  pmb_ray_request& request = scene.Request;
  this->Own->LastDevice.clear();
  if (!this->Describe(renderer, volume, image, array))
  {
    return;
  }
  vtkHardwareSelector* selector = renderer->GetSelector();
  const bool isOpaque = this->IsOpaque(volume->GetProperty());
  int samples = 0; // of a pixel, where OpenGL draws now; 0: one
  glGetIntegerv(GL_SAMPLES, &samples);
  request.pixel_samples = selector ? 0 : std::min(samples, static_cast<int>(PMB_RAY_PIXEL_SAMPLES));
  picture.JoinPasses(volume, this, false);
  if (isOpaque && !picture.IsPeeled())
  {
    picture.JoinPasses(volume, this->Own->Mesh, request.pixel_samples > 1);
  }
  scene.IsSelection = selector;
  scene.IsLimited = selector || picture.IsPeeled() || !(IsAlone(renderer) || isOpaque);
  scene.Look.Hides = isOpaque || selector;
  scene.Look.Replaces = selector;
  if (!picture.Resize(scene.Window, scene.Origin, request.width, request.height))
  {
    vtkErrorMacro("OpenGL has no memory for a picture of " << request.width << " x " << request.height
                                                           << " pixels. Make the window smaller.");
    return;
  }
  for (int i = 0; i < (picture.IsPeeled() ? 2 : 1); ++i)
  {
    if (picture.IsPeeled() && !picture.FindIntervals(i))
    {
      continue;
    }
    if (!this->Cast(image, array))
    {
      return; // VTK keeps the picture before
    }
    if (selector)
    {
      vtkPMBPaintSelection(selector, image, request);
    }
    if (!this->Own->Rays.IsInOpenGL)
    {
      picture.Upload(scene.Colors, scene.Depth);
    }
    picture.Draw(scene.Look);
  }
}

// Returns false if there is no picture.
bool vtkPMBVolumeMapper::Cast(vtkImageData* image, vtkDataArray* array)
{
  Scene& scene = this->Own->Kept;
  vtkPMBRayCaster& rays = this->Own->Rays;
  rays.Device = this->Device;
  rays.NumberOfThreads = this->NumberOfThreads;
  rays.ColorBy = scene.ColorBy;
  const std::string error = rays.Cast(image, array, scene.Component, scene.Request, scene);
  if (!rays.Warning.empty())
  {
    vtkWarningMacro(<< rays.Warning);
  }
  if (!error.empty())
  {
    vtkErrorMacro(<< error);
  }
  const bool isDone = error.empty() && !rays.WasStopped;
  this->Own->LastDevice = isDone ? rays.Where : "";
  return isDone;
}

void vtkPMBVolumeMapper::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "SampleDistance: " << this->SampleDistance << "\n";
  os << indent << "UseJittering: " << this->UseJittering << "\n";
  os << indent << "UsePreIntegration: " << this->UsePreIntegration << "\n";
  os << indent << "Device: " << this->Device << "\n";
  os << indent << "NumberOfThreads: " << this->NumberOfThreads << "\n";
  os << indent << "ColorArrayName: " << this->ColorArrayName << "\n";
  os << indent << "LastDevice: " << this->GetLastDevice() << "\n";
}
VTK_ABI_NAMESPACE_END
