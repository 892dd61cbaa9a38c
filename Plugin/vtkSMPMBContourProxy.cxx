// SPDX-License-Identifier: BSD-3-Clause
#include "vtkSMPMBContourProxy.h"

#include "vtkObjectFactory.h"
#include "vtkPVXMLElement.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkStdString.h"

vtkStandardNewMacro(vtkSMPMBContourProxy);

int vtkSMPMBContourProxy::ReadXMLAttributes(vtkSMSessionProxyManager* manager, vtkPVXMLElement* element)
{
  const int result = this->Superclass::ReadXMLAttributes(manager, element);
  this->Slider->Begin(this, "ContourValues");
  return result;
}

void vtkSMPMBContourProxy::PostUpdateData(bool using_cache)
{
  // The superclass clears NeedsUpdate. Geometry from an animation's cache comes without a run.
  const bool updated = this->NeedsUpdate && !using_cache;
  this->Superclass::PostUpdateData(using_cache);
  if (!updated)
  {
    return;
  }
  // Each reads a text or a few numbers from the server; none updates anything.
  this->UpdatePropertyInformation(this->GetProperty("LastRunSummary"));
  if (!this->Slider->IsFollowing()) // a move of the slider changes nothing of these
  {
    for (const char* name : { "IsovalueCurve", "SuggestionSummary", "SuggestedIsovalues" })
    {
      this->UpdatePropertyInformation(this->GetProperty(name));
    }
    const vtkSMPropertyHelper suggested(this, "SuggestedIsovalues");
    if (vtkSMPropertyHelper(this, "UseSuggestedIsovalue").GetAsInt() && suggested.GetNumberOfElements() > 0)
    {
      this->Slider->MoveSlider(suggested.GetAsDouble(0));
    }
  }
}

int vtkSMPMBContourProxy::LoadXMLState(vtkPVXMLElement* element, vtkSMProxyLocator* locator)
{
  vtkStdString unknown;
  // Properties pasted from another kind of filter, such as Contour, may have other names.
  const char* type = element->GetAttribute("type");
  const bool isOfThis = !type || vtkStdString(type) == this->GetXMLName();
  for (unsigned int i = 0; isOfThis && i < element->GetNumberOfNestedElements(); ++i)
  {
    vtkPVXMLElement* property = element->GetNestedElement(i);
    const char* name = property->GetName() ? property->GetAttribute("name") : nullptr;
    if (name && vtkStdString(property->GetName()) == "Property" && !this->GetProperty(name))
    {
      unknown += vtkStdString(unknown.empty() ? "" : ", ") + name;
    }
  }
  if (!unknown.empty())
  {
    vtkWarningMacro("This version of PMB Contour ignores properties of the state file that it does not know: "
      << unknown << ". A newer version of the plugin may have saved it.");
  }
  return this->Superclass::LoadXMLState(element, locator);
}
