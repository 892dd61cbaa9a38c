// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBVolumeRepresentation.h"

#include "vtkColorTransferFunction.h"
#include "vtkContourValues.h"
#include "vtkDataArray.h"
#include "vtkDoubleArray.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMath.h"
#include "vtkMatrix3x3.h"
#include "vtkObjectFactory.h"
#include "vtkPVLODVolume.h"
#include "vtkPVRenderView.h"
#include "vtkPiecewiseFunction.h"
#include "vtkPointData.h"
#include "vtkPolyDataMapper.h"
#include "vtkSMPTools.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkVolumeProperty.h"

#include "rays/pmb_rays.h"

#include <cmath>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <utility>

VTK_ABI_NAMESPACE_BEGIN
namespace
{
// Blend modes that need the whole ray: pictures of pieces cannot be merged.
const std::set<int> WholeRay = { vtkVolumeMapper::MAXIMUM_INTENSITY_BLEND, vtkVolumeMapper::MINIMUM_INTENSITY_BLEND,
  vtkVolumeMapper::AVERAGE_INTENSITY_BLEND };

// The active point array, or else the first one.
std::string FirstArray(vtkImageData* image)
{
  vtkPointData* arrays = image->GetPointData();
  vtkDataArray* array = arrays->GetScalars();
  for (int i = 0; !array && i < arrays->GetNumberOfArrays(); ++i)
  {
    array = arrays->GetArray(i);
  }
  return array && array->GetName() ? array->GetName() : "";
}

// Returns why this class cannot draw an input, or an empty text.
std::string FindObstacle(vtkDataObject* input)
{
  std::ostringstream obstacle;
  auto* image = vtkImageData::SafeDownCast(input);
  if (!image)
  {
    obstacle << "the input is a " << input->GetClassName() << ". Choose Volume or Surface.";
    return obstacle.str();
  }
  int dims[3];
  image->GetDimensions(dims);
  if (*std::min_element(dims, dims + 3) == 1 && *std::max_element(dims, dims + 3) > 1)
  {
    obstacle << "the input is flat (" << dims[0] << " x " << dims[1] << " x " << dims[2]
             << " samples). Choose Surface or Slice.";
  }
  return obstacle.str();
}
}

// Draws opaque isosurfaces with the opaque geometry.
class vtkPMBLODVolume : public vtkPVLODVolume
{
public:
  static vtkPMBLODVolume* New();
  vtkTypeMacro(vtkPMBLODVolume, vtkPVLODVolume);

  int RenderOpaqueGeometry(vtkViewport* viewport) override
  {
    return this->IsOpaque() ? this->Superclass::RenderVolumetricGeometry(viewport)
                            : this->Superclass::RenderOpaqueGeometry(viewport);
  }
  int RenderVolumetricGeometry(vtkViewport* viewport) override
  {
    return this->IsOpaque() ? 0 : this->Superclass::RenderVolumetricGeometry(viewport);
  }

private:
  bool IsOpaque()
  {
    auto* mapper = vtkPMBVolumeMapper::SafeDownCast(this->GetMapper());
    return mapper && mapper->IsOpaque(this->GetProperty());
  }
};
vtkStandardNewMacro(vtkPMBLODVolume);

vtkStandardNewMacro(vtkPMBVolumeRepresentation);

vtkPMBVolumeRepresentation::vtkPMBVolumeRepresentation()
{
  this->Actor = vtkSmartPointer<vtkPMBLODVolume>::New();
  this->Actor->SetProperty(this->Property);
  this->Actor->SetLODMapper(this->OutlineMapper);
  this->VolumeMapper.TakeReference(vtkPMBVolumeMapper::New());
  vtkMath::UninitializeBounds(this->OwnBox);
  vtkMath::UninitializeBounds(this->WholeBox);
  this->SetDiffuseColor(1, 1, 1);
}

void vtkPMBVolumeRepresentation::SetIsosurfaceOpacity(int index, double opacity)
{
  if (index >= 0 && index < static_cast<int>(this->Opacities.size()))
  {
    this->Opacities[index] = std::min(std::max(opacity, 0.0), 1.0);
  }
}

void vtkPMBVolumeRepresentation::SetDiffuseColor(double red, double green, double blue)
{
  this->SolidColor->RemoveAllPoints();
  this->SolidColor->AddRGBPoint(0, red, green, blue);
}

int vtkPMBVolumeRepresentation::RequestUpdateExtent(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  const int done = this->Superclass::RequestUpdateExtent(request, inputVector, outputVector);
  for (int i = 0; i < inputVector[0]->GetNumberOfInformationObjects(); ++i)
  {
    vtkInformation* info = inputVector[0]->GetInformationObject(i);
    if (info->Get(Pipeline::UPDATE_NUMBER_OF_PIECES()) > 1)
    {
      info->Set(Pipeline::UPDATE_NUMBER_OF_GHOST_LEVELS(), 1);
    }
  }
  return done;
}

int vtkPMBVolumeRepresentation::RequestData(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkMath::UninitializeBounds(this->OwnBox);
  this->IsPiece = false;
  auto* input =
    inputVector[0]->GetNumberOfInformationObjects() == 1 ? vtkDataObject::GetData(inputVector[0], 0) : nullptr;
  const std::string obstacle = input ? FindObstacle(input) : "";
  if (!obstacle.empty())
  {
    vtkWarningMacro("Isosurface and PMB Volume draw image data in three dimensions, but " << obstacle);
    vtkMath::UninitializeBounds(this->DataBounds);
    this->DataSize = 0;
    this->Cache = vtkSmartPointer<vtkImageData>::New();
    return vtkPVDataRepresentation::RequestData(request, inputVector, outputVector);
  }
  const int done = this->Superclass::RequestData(request, inputVector, outputVector);
  if (auto* image = vtkImageData::SafeDownCast(input))
  {
    this->KeepGhosts(image);
  }
  return done;
}

// The superclass removes ghosts. Rays that stop at the box without them need the samples there for normals.
void vtkPMBVolumeRepresentation::KeepGhosts(vtkImageData* input)
{
  auto* drawn = vtkImageData::SafeDownCast(this->Cache);
  vtkNew<vtkImageData> whole;
  whole->CopyStructure(input);
  whole->SetExtent(this->WholeExtent);
  whole->GetBounds(this->WholeBox);
  int extent[6], kept[6];
  input->GetExtent(extent);
  drawn->GetExtent(kept);
  this->IsPiece = !std::equal(kept, kept + 6, this->WholeExtent);
  if (input->GetDirectionMatrix()->IsIdentity() && !std::equal(extent, extent + 6, kept))
  {
    drawn->GetBounds(this->OwnBox);
    auto all = vtkSmartPointer<vtkImageData>::Take(input->NewInstance());
    all->ShallowCopy(input);
    this->Cache = all;
  }
}

int vtkPMBVolumeRepresentation::ProcessViewRequest(
  vtkInformationRequestKey* type, vtkInformation* inInfo, vtkInformation* outInfo)
{
  const int done = this->Superclass::ProcessViewRequest(type, inInfo, outInfo);
  if (done && type == vtkPVView::REQUEST_UPDATE() && this->IsOpaque())
  {
    outInfo->Remove(vtkPVRenderView::NEED_ORDERED_COMPOSITING()); // depth is enough
  }
  return done;
}

double vtkPMBVolumeRepresentation::OpacityOf(int index)
{
  return this->Opacity * (index < static_cast<int>(this->Opacities.size()) ? this->Opacities[index] : 1.0);
}

bool vtkPMBVolumeRepresentation::IsOpaque()
{
  bool isOpaque = this->Surfaces;
  for (int i = 0; i < this->Property->GetIsoSurfaceValues()->GetNumberOfContours(); ++i)
  {
    isOpaque = isOpaque && this->OpacityOf(i) >= 1;
  }
  return isOpaque;
}

// Called before each picture.
void vtkPMBVolumeRepresentation::UpdateMapperParameters()
{
  this->VolumeMapper->SetCropping(false); // UpdateCropping() does it
  this->Superclass::UpdateMapperParameters();
  if (auto* image = vtkImageData::SafeDownCast(this->VolumeMapper->GetInputDataObject(0, 0)))
  {
    this->UpdateArrays(image);
    this->UpdateCropping();
  }
  const bool hasSecond = this->UseTransfer2D && !this->UseGradientForTransfer2D && !this->ColorArray2Name.empty();
  this->GetMapper()->SetTransfer2DYAxisArray(hasSecond ? this->ColorArray2Name.c_str() : nullptr);
  this->VolumeMapper->SetBlendMode(
    this->Surfaces ? static_cast<int>(vtkVolumeMapper::ISOSURFACE_BLEND) : this->Blend);
  this->Property->SetInterpolationTypeToLinear();
  this->Actor->SetPickable(this->Pickable && !this->IsPiece); // with ghosts a piece numbers its samples otherwise
  if (this->Surfaces)
  {
    this->UpdateSurfaces();
  }
  else if (this->IsPiece && WholeRay.count(this->Blend) > 0)
  {
    this->Actor->SetVisibility(false);
    if (this->Told("the blend mode"))
    {
      vtkWarningMacro(
        "PMB Volume draws nothing, because the image is distributed over several ranks. Choose the blend "
        "mode Composite or Isosurface.");
    }
  }
  this->Actor->SetProperty(this->Surfaces ? this->SurfaceProperty : this->Property);
}

// Empty: the mapper gets what is to be colored by.
std::string vtkPMBVolumeRepresentation::FindContourArray(vtkImageData* image)
{
  if (!this->Surfaces || !this->ContourArray.empty() || !this->IsSolid)
  {
    return this->Surfaces ? this->ContourArray : "";
  }
  return FirstArray(image);
}

// The array to color by; empty: none.
std::string vtkPMBVolumeRepresentation::FindColorArray()
{
  vtkInformation* info = this->GetInputArrayInformation(0);
  const char* name = info ? info->Get(vtkDataObject::FIELD_NAME()) : nullptr;
  return name ? name : "";
}

// Chooses what is drawn and what colors it.
void vtkPMBVolumeRepresentation::UpdateArrays(vtkImageData* image)
{
  const std::string colors = this->FindColorArray();
  this->IsSolid = colors.empty();
  if (this->Surfaces)
  {
    this->VolumeMapper->SelectScalarArray(colors.c_str()); // without opacities of another array beside them
  }
  else if (!this->Property->GetIndependentComponents())
  {
    return; // colors and opacities, which the mapper leaves to VTK
  }
  const std::string contoured = this->FindContourArray(image);
  this->GetMapper()->SetColorArrayName(contoured.empty() || contoured == colors ? "" : colors.c_str());
  if (!contoured.empty())
  {
    this->VolumeMapper->SelectScalarArray(contoured.c_str());
    this->VolumeMapper->SetScalarMode(VTK_SCALAR_MODE_USE_POINT_FIELD_DATA);
    this->Actor->SetVisibility(true);
  }
  if (this->VolumeMapper->GetScalarMode() == VTK_SCALAR_MODE_USE_FIELD_DATA)
  {
    return;
  }
  const bool ofCells = this->VolumeMapper->GetScalarMode() == VTK_SCALAR_MODE_USE_CELL_FIELD_DATA;
  const int place = ofCells ? vtkDataObject::CELL : vtkDataObject::POINT;
  vtkDataSetAttributes* arrays = image->GetAttributes(place);
  vtkDataArray* drawn = arrays->GetArray(this->VolumeMapper->GetArrayName());
  if (!drawn && !contoured.empty() && image->GetNumberOfPoints() > 0 && this->Told(contoured))
  {
    vtkWarningMacro("Isosurface draws nothing, because there is no numeric point array '"
      << contoured << "' to contour. Choose another array at Contour By.");
  }
  this->UpdateComponents(image, place, { drawn, this->IsSolid ? nullptr : arrays->GetArray(colors.c_str()) });
}

namespace
{
// One component of each tuple, or its magnitude: -1.
vtkSmartPointer<vtkDataArray> MakeComponent(vtkDataArray* array, int component)
{
  auto values = vtkSmartPointer<vtkDataArray>::Take(
    component >= 0 ? vtkDataArray::CreateDataArray(array->GetDataType()) : vtkDoubleArray::New());
  values->SetName(array->GetName());
  values->SetNumberOfTuples(array->GetNumberOfTuples());
  if (component >= 0)
  {
    values->CopyComponent(0, array, component);
    return values;
  }
  double* to = vtkDoubleArray::SafeDownCast(values)->GetPointer(0);
  vtkSMPTools::For(0, array->GetNumberOfTuples(),
    [&](vtkIdType begin, vtkIdType end)
    {
      std::vector<double> tuple(static_cast<size_t>(array->GetNumberOfComponents()));
      for (vtkIdType i = begin; i < end; ++i)
      {
        array->GetTuple(i, tuple.data());
        to[i] = std::sqrt(std::inner_product(tuple.begin(), tuple.end(), tuple.begin(), 0.0));
      }
    });
  return values;
}
}

// Of the array that is colored by, the component that the color map shows; -1: the magnitude.
int vtkPMBVolumeRepresentation::FindComponent(vtkDataArray* array)
{
  vtkColorTransferFunction* colors = this->Property->GetRGBTransferFunction();
  if (!array->GetName() || this->FindColorArray() != array->GetName() ||
    colors->GetVectorMode() != vtkScalarsToColors::COMPONENT)
  {
    return -1;
  }
  return std::min(std::max(colors->GetVectorComponent(), 0), array->GetNumberOfComponents() - 1);
}

// Gives the mapper one component, or the magnitude, of each array that has several.
void vtkPMBVolumeRepresentation::UpdateComponents(
  vtkImageData* image, int place, std::initializer_list<vtkDataArray*> arrays)
{
  const auto kept = std::move(this->Components);
  this->Components.clear();
  bool isSame = true;
  for (vtkDataArray* array : arrays)
  {
    if (array && array->GetNumberOfComponents() > 1)
    {
      const int component = this->FindComponent(array);
      const Samples key(array, std::max(array->GetMTime(), image->GetMTime()), component);
      const auto found = kept.find(key);
      isSame = isSame && found != kept.end();
      this->Components[key] = found != kept.end() ? found->second : MakeComponent(array, component);
    }
  }
  if (this->Components.empty())
  {
    return;
  }
  if (!isSame || kept.size() != this->Components.size())
  {
    this->WithComponents = vtkSmartPointer<vtkImageData>::Take(image->NewInstance());
    this->WithComponents->ShallowCopy(image);
    for (const auto& component : this->Components)
    {
      this->WithComponents->GetAttributes(place)->AddArray(component.second); // in place of the one with its name
    }
  }
  this->VolumeMapper->SetInputData(this->WithComponents);
}

vtkDoubleArray* vtkPMBVolumeRepresentation::GetSuggestedIsovalues()
{
  this->UpdateSuggestions();
  return this->Suggestions;
}

vtkDoubleArray* vtkPMBVolumeRepresentation::GetIsovalueCurve()
{
  this->UpdateSuggestions();
  return this->Curve;
}

void vtkPMBVolumeRepresentation::UpdateSuggestions()
{
  const bool isShown = this->GetVisibility() && this->Surfaces; // hidden where another representation is chosen
  auto* image = isShown && !this->IsPiece ? vtkImageData::SafeDownCast(this->Cache) : nullptr;
  std::string name = this->ContourArray.empty() ? this->FindColorArray() : this->ContourArray;
  name = name.empty() && image ? FirstArray(image) : name;
  vtkDataArray* array = image ? image->GetPointData()->GetArray(name.c_str()) : nullptr;
  const int component = array && array->GetNumberOfComponents() > 1 ? this->FindComponent(array) : 0;
  const Samples samples(array, array ? std::max(array->GetMTime(), image->GetMTime()) : 0, component);
  if (samples != this->Suggested)
  {
    this->Suggested = samples;
    this->Suggestions->SetNumberOfValues(0);
    this->Curve->SetNumberOfValues(0);
    if (array)
    {
      vtkSmartPointer<vtkDataArray> values = array;
      if (array->GetNumberOfComponents() > 1)
      {
        values = MakeComponent(array, component);
      }
      this->GetMapper()->SuggestIsovalues(image, values, this->Suggestions, this->Curve);
    }
  }
}

// Colors and opacities of the isovalues. What stays is not set again: the mapper keeps what it made of it.
void vtkPMBVolumeRepresentation::UpdateSurfaces()
{
  vtkVolumeProperty* shown = this->SurfaceProperty;
  vtkContourValues* isovalues = this->Property->GetIsoSurfaceValues();
  const int count = isovalues->GetNumberOfContours();
  std::vector<double> drawn; // isovalues and opacities in turn
  for (int i = 0; i < count; ++i)
  {
    if (std::isfinite(isovalues->GetValue(i)))
    {
      drawn.insert(drawn.end(), { isovalues->GetValue(i), this->OpacityOf(i) });
    }
  }
  if (drawn != this->Drawn)
  {
    vtkNew<vtkPiecewiseFunction> opacity;
    opacity->AddPoint(0, 1);
    shown->GetIsoSurfaceValues()->SetNumberOfContours(static_cast<int>(drawn.size() / 2));
    for (size_t i = 0; i < drawn.size(); i += 2)
    {
      shown->GetIsoSurfaceValues()->SetValue(static_cast<int>(i / 2), drawn[i]);
      opacity->AddPoint(drawn[i], drawn[i + 1]);
    }
    shown->SetScalarOpacity(opacity);
    this->Drawn = drawn;
    if (count > PMB_RAY_ISOVALUES)
    {
      vtkWarningMacro("Isosurface draws the first " << PMB_RAY_ISOVALUES << " isovalues of " << count << ".");
    }
  }
  shown->SetColor(this->IsSolid ? this->SolidColor : this->Property->GetRGBTransferFunction());
  shown->SetInterpolationTypeToLinear();
  shown->ShadeOn();
  shown->SetAmbient(this->Property->GetAmbient());
  shown->SetDiffuse(this->Property->GetDiffuse());
  shown->SetSpecular(this->Property->GetSpecular());
  shown->SetSpecularPower(this->Property->GetSpecularPower());
}

// To the user's box and to the piece without ghosts.
void vtkPMBVolumeRepresentation::UpdateCropping()
{
  const bool isPiece = vtkMath::AreBoundsInitialized(this->OwnBox);
  double box[6];
  for (int i = 0; i < 6; ++i)
  {
    const double users = this->CroppingOrigin[i / 2] + this->WholeBox[i] * this->CroppingScale[i / 2];
    box[i] = !this->CropsToBox ? this->OwnBox[i]
      : !isPiece               ? users
      : i % 2                  ? std::min(users, this->OwnBox[i])
                               : std::max(users, this->OwnBox[i]);
  }
  this->VolumeMapper->SetCropping(this->CropsToBox || isPiece);
  this->VolumeMapper->SetCroppingRegionPlanes(box);
}
VTK_ABI_NAMESPACE_END
