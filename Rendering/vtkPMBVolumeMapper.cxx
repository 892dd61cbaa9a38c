// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBVolumeMapper.h"

#include "vtk_glew.h"

#include "vtkCamera.h"
#include "vtkColorTransferFunction.h"
#include "vtkContourValues.h"
#include "vtkDataArray.h"
#include "vtkHardwareSelector.h"
#include "vtkImageData.h"
#include "vtkLight.h"
#include "vtkLightCollection.h"
#include "vtkMatrix4x4.h"
#include "vtkObjectFactory.h"
#include "vtkOpenGLQuadHelper.h"
#include "vtkOpenGLRenderWindow.h"
#include "vtkOpenGLShaderCache.h"
#include "vtkOpenGLState.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBRayCaster.h"
#include "vtkPMBVolumeSelection.h"
#include "vtkPiecewiseFunction.h"
#include "vtkPlane.h"
#include "vtkPlaneCollection.h"
#include "vtkRenderer.h"
#include "vtkShaderProgram.h"
#include "vtkSmartVolumeMapper.h"
#include "vtkTextureObject.h"
#include "vtkVolume.h"
#include "vtkVolumeProperty.h"
#include "vtkWeakPointer.h"

#include "rays/pmb_rays.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace
{
const int TableSize = 1024;

// What a request points to. It is kept: a picture of the same size allocates nothing.
struct Scene
{
  // Forgets the picture before.
  void Clear()
  {
    this->Request = {};
    this->Request.struct_size = sizeof(this->Request);
    this->Isovalues.clear();
    this->Lights.clear();
    this->Planes.clear();
  }

  pmb_ray_request Request = {};
  std::vector<pmb_ray_isovalue> Isovalues;
  std::vector<pmb_ray_light> Lights;
  std::vector<float> Table, Limits, Colors, Depth;
  std::vector<double> Planes;
  int Origin[2];
  bool IsSelection; // rays end behind what is drawn, see vtkPMBReachDrawnSurface()
};

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

void AddCamera(vtkRenderer* renderer, vtkVolume* volume, Scene& scene)
{
  vtkMatrix4x4* toClip =
    renderer->GetActiveCamera()->GetCompositeProjectionTransformMatrix(renderer->GetTiledAspectRatio(), -1, 1);
  vtkMatrix4x4::Multiply4x4(toClip->GetData(), volume->GetMatrix()->GetData(), scene.Request.world_to_clip);
  renderer->GetTiledSizeAndOrigin(&scene.Request.width, &scene.Request.height, &scene.Origin[0], &scene.Origin[1]);
}

// Lights in the volume's own space. A headlight alone needs no entry.
void AddLights(vtkRenderer* renderer, vtkVolume* volume, Scene& scene)
{
  vtkNew<vtkMatrix4x4> inverse;
  vtkMatrix4x4::Invert(volume->GetMatrix(), inverse);
  vtkLightCollection* lights = renderer->GetLights();
  vtkCollectionSimpleIterator i;
  lights->InitTraversal(i);
  for (vtkLight* light = lights->GetNextLight(i); light; light = lights->GetNextLight(i))
  {
    if (!light->GetSwitch() || scene.Lights.size() == PMB_RAY_LIGHTS)
    {
      continue;
    }
    double position[4] = { 0, 0, 0, 1 }, focus[4] = { 0, 0, 0, 1 }, from[4], to[4];
    light->GetTransformedPosition(position);
    light->GetTransformedFocalPoint(focus);
    inverse->MultiplyPoint(position, from);
    inverse->MultiplyPoint(focus, to);
    const double* color = light->GetDiffuseColor();
    const auto intensity = static_cast<float>(light->GetIntensity());
    pmb_ray_light added = { { from[0], from[1], from[2], 1 },
      { static_cast<float>(color[0]) * intensity, static_cast<float>(color[1]) * intensity,
        static_cast<float>(color[2]) * intensity } };
    for (int a = 0; a < 4 && !light->GetPositional(); ++a)
    {
      added.position[a] = a < 3 ? from[a] - to[a] : 0;
    }
    scene.Lights.push_back(added);
  }
  scene.Request.lights = scene.Lights.data();
  scene.Request.light_count = static_cast<int>(scene.Lights.size());
}

void FillColor(vtkVolumeProperty* property, double value, float color[4])
{
  double rgb[3];
  if (property->GetColorChannels() == 1)
  {
    rgb[0] = rgb[1] = rgb[2] = property->GetGrayTransferFunction()->GetValue(value);
  }
  else
  {
    property->GetRGBTransferFunction()->GetColor(value, rgb);
  }
  const double rgba[4] = { rgb[0], rgb[1], rgb[2], property->GetScalarOpacity()->GetValue(value) };
  std::transform(rgba, rgba + 4, color, [](double c) { return static_cast<float>(std::min(std::max(c, 0.0), 1.0)); });
}

void AddColors(vtkVolumeProperty* property, vtkDataArray* array, int mode, Scene& scene)
{
  pmb_ray_request& request = scene.Request;
  double range[2];
  array->GetFiniteRange(range, 0);
  request.mode = mode == vtkVolumeMapper::ISOSURFACE_BLEND ? PMB_RAY_ISOSURFACE
    : mode == vtkVolumeMapper::MAXIMUM_INTENSITY_BLEND     ? PMB_RAY_MAXIMUM
    : mode == vtkVolumeMapper::MINIMUM_INTENSITY_BLEND     ? PMB_RAY_MINIMUM
    : mode == vtkVolumeMapper::AVERAGE_INTENSITY_BLEND     ? PMB_RAY_AVERAGE
                                                           : PMB_RAY_COMPOSITE;
  vtkContourValues* isovalues = property->GetIsoSurfaceValues();
  for (int i = 0; i < isovalues->GetNumberOfContours() && i < PMB_RAY_ISOVALUES; ++i)
  {
    pmb_ray_isovalue isovalue = { isovalues->GetValue(i), {} };
    FillColor(property, isovalue.value, isovalue.color);
    scene.Isovalues.push_back(isovalue);
  }
  request.isovalues = scene.Isovalues.data();
  request.isovalue_count = static_cast<int>(scene.Isovalues.size());
  const bool isRange = range[0] <= range[1]; // else no sample is finite
  request.table_low = isRange ? range[0] : 0;
  request.table_high =
    isRange && range[1] > range[0] ? range[1] : request.table_low + 1 + std::abs(request.table_low);
  scene.Table.resize(4 * TableSize);
  for (int i = 0; i < TableSize; ++i)
  {
    const double share = static_cast<double>(i) / (TableSize - 1);
    FillColor(property, request.table_low * (1 - share) + request.table_high * share, &scene.Table[4 * i]);
  }
  request.table = scene.Table.data();
  request.table_size = TableSize;
  request.table_unit = property->GetScalarOpacityUnitDistance();
}

void AddMaterial(vtkVolumeProperty* property, Scene& scene)
{
  pmb_ray_request& request = scene.Request;
  request.shade = property->GetShade();
  request.ambient = request.shade ? static_cast<float>(property->GetAmbient()) : 1;
  request.diffuse = request.shade ? static_cast<float>(property->GetDiffuse()) : 0;
  request.specular = request.shade ? static_cast<float>(property->GetSpecular()) : 0;
  request.specular_power = static_cast<float>(property->GetSpecularPower());
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

// Rays end at what is drawn already.
void AddDepth(vtkOpenGLRenderWindow* window, Scene& scene)
{
  pmb_ray_request& request = scene.Request;
  const int* origin = scene.Origin;
  const size_t pixels = static_cast<size_t>(request.width) * static_cast<size_t>(request.height);
  scene.Limits.resize(pixels);
  scene.Colors.resize(4 * pixels);
  scene.Depth.resize(pixels);
  window->GetZbufferData(
    origin[0], origin[1], origin[0] + request.width - 1, origin[1] + request.height - 1, scene.Limits.data());
  request.depth_limit = scene.Limits.data();
  request.colors = scene.Colors.data();
  request.depth = scene.Depth.data();
}
}

struct vtkPMBVolumeMapper::Internals
{
  vtkPMBRayCaster Rays;
  Scene Kept;
  std::string LastDevice;
  std::set<std::string> Told;                   // why vtkSmartVolumeMapper drew
  vtkWeakPointer<vtkOpenGLRenderWindow> Window; // of the next three
  std::unique_ptr<vtkOpenGLQuadHelper> Quad;
  vtkNew<vtkTextureObject> Colors, Depth;

  // Puts the picture over what the renderer has drawn.
  void Draw(vtkOpenGLRenderWindow* window, Scene& scene);
  void Release(vtkWindow* window);
};

void vtkPMBVolumeMapper::Internals::Draw(vtkOpenGLRenderWindow* window, Scene& scene)
{
  const auto width = static_cast<unsigned int>(scene.Request.width);
  const auto height = static_cast<unsigned int>(scene.Request.height);
  if (this->Window != window)
  {
    this->Release(this->Window);
    this->Window = window;
  }
  for (vtkTextureObject* texture : { this->Colors.Get(), this->Depth.Get() })
  {
    texture->SetContext(window);
    texture->SetMinificationFilter(vtkTextureObject::Nearest);
    texture->SetMagnificationFilter(vtkTextureObject::Nearest);
  }
  this->Colors->Create2DFromRaw(width, height, 4, VTK_FLOAT, scene.Colors.data());
  this->Depth->Create2DFromRaw(width, height, 1, VTK_FLOAT, scene.Depth.data());
  if (!this->Quad)
  {
    this->Quad.reset(new vtkOpenGLQuadHelper(window, nullptr,
      "//VTK::System::Dec\n"
      "//VTK::Output::Dec\n"
      "in vec2 texCoord;\n"
      "uniform sampler2D colors;\n"
      "uniform sampler2D depth;\n"
      "void main()\n"
      "{\n"
      "  vec4 color = texture2D(colors, texCoord);\n"
      "  if (color.a == 0.0) { discard; }\n"
      "  gl_FragData[0] = color;\n"
      "  gl_FragDepth = texture2D(depth, texCoord).r;\n"
      "}\n",
      ""));
  }
  else
  {
    window->GetShaderCache()->ReadyShaderProgram(this->Quad->Program);
  }
  if (!this->Quad->Program || !this->Quad->Program->GetCompiled())
  {
    return;
  }
  vtkOpenGLState* state = window->GetState();
  const vtkOpenGLState::ScopedglBlendFuncSeparate blending(state);
  const vtkOpenGLState::ScopedglDepthFunc comparing(state);
  const vtkOpenGLState::ScopedglDepthMask writing(state);
  const vtkOpenGLState::ScopedglEnableDisable testing(state, GL_DEPTH_TEST), blend(state, GL_BLEND);
  state->vtkglEnable(GL_BLEND);
  state->vtkglBlendFuncSeparate(GL_ONE, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  state->vtkglEnable(GL_DEPTH_TEST);
  state->vtkglDepthFunc(scene.IsSelection ? GL_ALWAYS : GL_LEQUAL);
  state->vtkglDepthMask(scene.Request.mode == PMB_RAY_ISOSURFACE ? GL_TRUE : GL_FALSE);
  if (scene.Request.mode != PMB_RAY_ISOSURFACE)
  {
    state->vtkglDisable(GL_DEPTH_TEST); // the rays know what is in front of them
  }
  this->Colors->Activate();
  this->Depth->Activate();
  this->Quad->Program->SetUniformi("colors", this->Colors->GetTextureUnit());
  this->Quad->Program->SetUniformi("depth", this->Depth->GetTextureUnit());
  this->Quad->Render();
  this->Depth->Deactivate();
  this->Colors->Deactivate();
}

void vtkPMBVolumeMapper::Internals::Release(vtkWindow* window)
{
  this->Colors->ReleaseGraphicsResources(window);
  this->Depth->ReleaseGraphicsResources(window);
  if (this->Quad)
  {
    this->Quad->ReleaseGraphicsResources(window);
    this->Quad.reset();
  }
}

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

void vtkPMBVolumeMapper::ReleaseGraphicsResources(vtkWindow* window)
{
  this->Own->Release(window);
  this->Other->ReleaseGraphicsResources(window);
  this->Superclass::ReleaseGraphicsResources(window);
}

// What this mapper cannot draw; empty: nothing.
std::string vtkPMBVolumeMapper::FindObstacle(vtkVolumeProperty* property, vtkDataArray* array, int isOfCells)
{
  if (isOfCells)
  {
    return "the array belongs to cells";
  }
  if (array->GetNumberOfComponents() != 1)
  {
    return "the array has several components";
  }
  if (property->GetInterpolationType() != VTK_LINEAR_INTERPOLATION)
  {
    return "the interpolation is not linear";
  }
  if (property->HasGradientOpacity() && !property->GetDisableGradientOpacity())
  {
    return "the opacity depends on the gradient";
  }
  if (this->BlendMode == ADDITIVE_BLEND || this->BlendMode == SLICE_BLEND)
  {
    return "the blend mode is additive or slice";
  }
  if (this->Cropping && this->CroppingRegionFlags != VTK_CROP_SUBVOLUME)
  {
    return "the cropping keeps more than one box";
  }
  const int planes = (this->ClippingPlanes ? this->ClippingPlanes->GetNumberOfItems() : 0) + (this->Cropping ? 6 : 0);
  return planes > PMB_RAY_PLANES ? "there are more than 8 planes that cut, the 6 of a cropping box included" : "";
}

void vtkPMBVolumeMapper::RenderWithOther(vtkRenderer* renderer, vtkVolume* volume, const std::string& why)
{
  if (this->Own->Told.insert(why).second)
  {
    vtkWarningMacro("vtkSmartVolumeMapper draws this volume, because " << why << ". This is said once.");
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
  this->Other->SetCropping(this->Cropping);
  this->Other->SetCroppingRegionFlags(this->CroppingRegionFlags);
  this->Other->SetCroppingRegionPlanes(this->CroppingRegionPlanes);
  this->Other->SetClippingPlanes(this->ClippingPlanes);
  this->Other->SetSampleDistance(this->SampleDistance > 0 ? static_cast<float>(this->SampleDistance) : 1);
  this->Other->SetAutoAdjustSampleDistances(this->SampleDistance <= 0);
  this->Other->Render(renderer, volume);
}

void vtkPMBVolumeMapper::Render(vtkRenderer* renderer, vtkVolume* volume)
{
  auto* image = vtkImageData::SafeDownCast(this->GetDataObjectInput());
  auto* window = vtkOpenGLRenderWindow::SafeDownCast(renderer->GetRenderWindow());
  int isOfCells = 0;
  vtkDataArray* array = image
    ? this->GetScalars(image, this->ScalarMode, this->ArrayAccessMode, this->ArrayId, this->ArrayName, isOfCells)
    : nullptr;
  vtkVolumeProperty* property = volume->GetProperty();
  vtkHardwareSelector* selector = renderer->GetSelector(); // isosurfaces alone can be selected
  if (!array || !window || array->GetNumberOfTuples() == 0 || (selector && this->BlendMode != ISOSURFACE_BLEND))
  {
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  const std::string obstacle = this->FindObstacle(property, array, isOfCells);
  if (!obstacle.empty() && !selector)
  {
    this->RenderWithOther(renderer, volume, obstacle);
  }
  if (!obstacle.empty())
  {
    return;
  }
  Scene& scene = this->Own->Kept;
  scene.Clear();
  scene.Request.step = this->SampleDistance;
  AddCamera(renderer, volume, scene);
  if (scene.Request.width < 1 || scene.Request.height < 1)
  {
    return;
  }
  AddLights(renderer, volume, scene);
  AddColors(property, array, this->BlendMode, scene);
  AddMaterial(property, scene);
  AddPlanes(this->Cropping ? this->CroppingRegionPlanes : nullptr, this->ClippingPlanes, volume, scene);
  AddDepth(window, scene);
  scene.IsSelection = selector;
  if (selector)
  {
    vtkPMBReachDrawnSurface(scene.Limits);
  }
  this->Own->Rays.Device = this->Device;
  this->Own->Rays.NumberOfThreads = this->NumberOfThreads;
  const std::string error = this->Own->Rays.Cast(image, array, 0, scene.Request);
  if (!this->Own->Rays.Warning.empty())
  {
    vtkWarningMacro(<< this->Own->Rays.Warning);
  }
  if (!error.empty())
  {
    vtkErrorMacro(<< error);
    return;
  }
  this->Own->LastDevice = this->Own->Rays.Where;
  if (selector)
  {
    vtkPMBPaintSelection(selector, image, scene.Request);
  }
  this->Own->Draw(window, scene);
  this->TimeToDraw = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void vtkPMBVolumeMapper::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "SampleDistance: " << this->SampleDistance << "\n";
  os << indent << "Device: " << this->Device << "\n";
  os << indent << "NumberOfThreads: " << this->NumberOfThreads << "\n";
  os << indent << "LastDevice: " << this->GetLastDevice() << "\n";
}
VTK_ABI_NAMESPACE_END
