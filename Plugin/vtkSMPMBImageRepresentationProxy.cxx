// SPDX-License-Identifier: BSD-3-Clause
#include "vtkSMPMBImageRepresentationProxy.h"

#include "vtkCommand.h"
#include "vtkDataObject.h"
#include "vtkObjectFactory.h"
#include "vtkPMBPluginLoading.h"
#include "vtkPMBPrivateMembers.h"
#include "vtkSMArrayListDomain.h"
#include "vtkSMArrayRangeDomain.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMViewProxy.h"
#include "vtkStdString.h"

vtkStandardNewMacro(vtkSMPMBImageRepresentationProxy);

int vtkSMPMBImageRepresentationProxy::ReadXMLAttributes(vtkSMSessionProxyManager* manager, vtkPVXMLElement* element)
{
  const int result = this->Superclass::ReadXMLAttributes(manager, element);
  for (const char* name : { "Representation", "ContourBy" })
  {
    if (vtkSMProperty* property = this->GetProperty(name))
    {
      property->AddObserver(vtkCommand::ModifiedEvent, this, &vtkSMPMBImageRepresentationProxy::ChooseRange);
    }
  }
  vtkSMProperty* suggested = this->GetProperty("SuggestedIsovalues");
  if (suggested && !vtkPMBPluginLoading::HasPanel())
  {
    suggested->SetPanelVisibility("never"); // ParaView's own widget would be a list without a title
  }
  this->AddObserver(vtkCommand::UpdateDataEvent, this, &vtkSMPMBImageRepresentationProxy::StartAtSuggestion);
  this->Slider->Begin(this, "IsosurfaceValues");
  return result;
}

void vtkSMPMBImageRepresentationProxy::ChooseRange()
{
  vtkSMProperty* isovalues = this->GetProperty("IsosurfaceValues");
  auto* range = isovalues ? isovalues->FindDomain<vtkSMArrayRangeDomain>() : nullptr;
  vtkSMProperty* contoured = this->GetProperty("ContourBy");
  vtkSMProperty* colors = this->GetProperty("ColorArrayName");
  if (range && contoured && colors)
  {
    const bool isOther = vtkStdString(vtkSMPropertyHelper(this, "Representation").GetAsString()) == "Isosurface" &&
      *vtkSMPropertyHelper(contoured).GetAsString(4);
    const char* function = "ArraySelection";
    vtkSMProperty* array = isOther ? contoured : colors;
    if (range->GetRequiredProperty(function) != array && vtkPMBPrivateMembers::Has("domains"))
    {
      vtkPMBPrivateMembers::Domains<vtkSMDomain>::Follow(range, function, array);
    }
  }
}

bool vtkSMPMBImageRepresentationProxy::SetRepresentationType(const char* type)
{
  vtkSMProperty* property = this->GetProperty("ColorArrayName");
  if (type && vtkStdString(type) == "PMB Volume" && property && !this->GetUsingScalarColoring())
  {
    auto* arrays = property->FindDomain<vtkSMArrayListDomain>();
    const unsigned int count = arrays ? arrays->GetNumberOfStrings() : 0;
    unsigned int chosen = 0; // the first of points, else of cells
    while (chosen < count && arrays->GetFieldAssociation(chosen) != vtkDataObject::POINT)
    {
      ++chosen;
    }
    chosen = chosen < count ? chosen : 0;
    if (count > 0 && this->SetScalarColoring(arrays->GetString(chosen), arrays->GetFieldAssociation(chosen)))
    {
      this->RescaleTransferFunctionToDataRange(true);
    }
  }
  const bool done = this->Superclass::SetRepresentationType(type);
  this->IsToStart = done && vtkStdString(type) == "Isosurface" && this->HasMiddleIsovalue();
  if (vtkSMViewProxy* view = this->IsToStart ? vtkSMViewProxy::FindView(this) : nullptr)
  {
    view->Update(); // a caller who sets this isovalue next must find another one: no change would be no event
  }
  return done;
}

// Whether the isovalue is ParaView's own first one: the middle of the range.
bool vtkSMPMBImageRepresentationProxy::HasMiddleIsovalue()
{
  const vtkSMPropertyHelper isovalues(this, "IsosurfaceValues", true);
  auto* range = this->GetProperty("IsosurfaceValues")->FindDomain<vtkSMArrayRangeDomain>();
  int known[2] = { 0, 0 };
  return range && isovalues.GetNumberOfElements() == 1 &&
    isovalues.GetAsDouble() == (range->GetMinimum(0, known[0]) + range->GetMaximum(0, known[1])) / 2.0 && known[0] &&
    known[1];
}

// After an update, which brings the data.
void vtkSMPMBImageRepresentationProxy::StartAtSuggestion()
{
  if (!this->IsToStart)
  {
    return;
  }
  this->IsToStart = false;
  this->UpdatePropertyInformation(this->GetProperty("SuggestedIsovalues"));
  const vtkSMPropertyHelper suggested(this, "SuggestedIsovalues");
  if (suggested.GetNumberOfElements() > 0 && this->HasMiddleIsovalue())
  {
    const double first = suggested.GetAsDouble();
    vtkSMPropertyHelper(this, "IsosurfaceValues").Set(&first, 1);
    this->UpdateVTKObjects();
  }
}
