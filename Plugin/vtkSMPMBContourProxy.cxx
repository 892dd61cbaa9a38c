// SPDX-License-Identifier: BSD-3-Clause
#include "vtkSMPMBContourProxy.h"

#include "vtkClientServerInterpreter.h"
#include "vtkClientServerInterpreterInitializer.h"
#include "vtkCommand.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPVXMLElement.h"
#include "vtkSIPMBLastRunProperty.h"
#include "vtkSMDoubleRangeDomain.h"
#include "vtkSMPMBArrayListDomain.h"
#include "vtkSMPMBHistogramProxy.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxyIterator.h"
#include "vtkSMProxyManager.h"
#include "vtkSMUncheckedPropertyHelper.h"
#include "vtkSMUndoStackBuilder.h"
#include "vtkSMViewProxy.h"
#include "vtkStdString.h"

vtkStandardNewMacro(vtkSMPMBContourProxy);

vtkSMPMBContourProxy::vtkSMPMBContourProxy() = default;
vtkSMPMBContourProxy::~vtkSMPMBContourProxy() = default;

int vtkSMPMBContourProxy::ReadXMLAttributes(vtkSMSessionProxyManager* manager, vtkPVXMLElement* element)
{
  const int result = this->Superclass::ReadXMLAttributes(manager, element);
  vtkSMProperty* slider = this->GetProperty("LiveIsovalue");
  vtkSMProperty* isovalues = this->GetProperty("ContourValues");
  if (result && slider && isovalues)
  {
    slider->AddObserver(vtkCommand::UncheckedPropertyModifiedEvent, this, &vtkSMPMBContourProxy::OnSliderMoved);
    isovalues->AddObserver(vtkCommand::ModifiedEvent, this, &vtkSMPMBContourProxy::OnIsovaluesChanged);
  }
  return result;
}

// In the panel a tick at Live takes effect at once, as the slider does. Other changes still wait for Apply.
void vtkSMPMBContourProxy::OnSliderMoved()
{
  if (this->Following || !this->ObjectsCreated || !vtkSMUncheckedPropertyHelper(this, "Live").GetAsInt())
  {
    return;
  }
  const double isovalue = vtkSMUncheckedPropertyHelper(this, "LiveIsovalue").GetAsDouble();
  const double current = vtkSMPropertyHelper(this, "LiveIsovalue").GetAsDouble();
  if (isovalue == current || !this->IsInRange(isovalue))
  {
    return;
  }
  vtkSMUndoStackBuilder* undo = vtkSMProxyManager::GetProxyManager()->GetUndoStackBuilder();
  const bool ignored = undo && undo->GetIgnoreAllChanges();
  if (undo)
  {
    undo->SetIgnoreAllChanges(ignored || this->CanUndo);
  }
  this->Following = true;
  vtkSMPropertyHelper(this, "UseSuggestedIsovalue").Set(0);
  vtkSMPropertyHelper(this, "ContourValues").Set(&isovalue, 1);
  this->MoveSlider(isovalue);
  this->UpdateVTKObjects();
  this->DrawViews();
  this->Following = false;
  this->CanUndo = true;
  if (undo)
  {
    undo->SetIgnoreAllChanges(ignored);
  }
}

// Moves the slider to the first isovalue.
void vtkSMPMBContourProxy::OnIsovaluesChanged()
{
  if (this->Following)
  {
    return;
  }
  this->CanUndo = false;
  const vtkSMPropertyHelper isovalues(this, "ContourValues");
  if (isovalues.GetNumberOfElements() > 0)
  {
    this->MoveSlider(isovalues.GetAsDouble(0));
  }
}

// The slider's range. The field beside it sends its text after each key: the 1 of 101 may lie outside.
bool vtkSMPMBContourProxy::IsInRange(double isovalue)
{
  auto* range = vtkSMDoubleRangeDomain::SafeDownCast(this->GetProperty("LiveIsovalue")->GetDomain("scalar_range"));
  int hasMinimum = 0, hasMaximum = 0;
  const double minimum = range ? range->GetMinimum(0, hasMinimum) : 0.0;
  const double maximum = range ? range->GetMaximum(0, hasMaximum) : 0.0;
  return (!hasMinimum || isovalue >= minimum) && (!hasMaximum || isovalue <= maximum); // not so for NaN
}

void vtkSMPMBContourProxy::MoveSlider(double isovalue)
{
  vtkSMPropertyHelper(this, "LiveIsovalue").Set(isovalue);
}

// Views that show the surface or results of other filters on it. Drawing updates the filters.
void vtkSMPMBContourProxy::DrawViews()
{
  vtkNew<vtkSMProxyIterator> views;
  views->SetSession(this->GetSession());
  views->SetModeToOneGroup();
  for (views->Begin("views"); !views->IsAtEnd(); views->Next())
  {
    auto* view = vtkSMViewProxy::SafeDownCast(views->GetProxy());
    if (view && view->GetNeedsUpdate())
    {
      view->StillRender();
    }
  }
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
  if (!this->Following) // a move of the slider changes nothing of these
  {
    for (const char* name : { "IsovalueCurve", "SuggestionSummary", "SuggestedIsovalues" })
    {
      this->UpdatePropertyInformation(this->GetProperty(name));
    }
    const vtkSMPropertyHelper suggested(this, "SuggestedIsovalues");
    if (vtkSMPropertyHelper(this, "UseSuggestedIsovalue").GetAsInt() && suggested.GetNumberOfElements() > 0)
    {
      this->MoveSlider(suggested.GetAsDouble(0));
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
    vtkWarningMacro(
      "The state file has properties that this version of PMB Contour does not know, and they are left out: "
      << unknown << ". A newer version of the plugin may have saved it.");
  }
  return this->Superclass::LoadXMLState(element, locator);
}

template <typename T>
static vtkObjectBase* NewInstance(void*)
{
  return T::New();
}

static void AddToInterpreter(vtkClientServerInterpreter* interpreter)
{
  interpreter->AddNewInstanceFunction("vtkSMPMBContourProxy", NewInstance<vtkSMPMBContourProxy>);
  interpreter->AddNewInstanceFunction("vtkSMPMBArrayListDomain", NewInstance<vtkSMPMBArrayListDomain>);
  interpreter->AddNewInstanceFunction("vtkSMPMBHistogramProxy", NewInstance<vtkSMPMBHistogramProxy>);
  interpreter->AddNewInstanceFunction("vtkSIPMBLastRunProperty", NewInstance<vtkSIPMBLastRunProperty>);
}

void vtkSMPMBContourProxy::Register()
{
  vtkClientServerInterpreterInitializer::GetInitializer()->RegisterCallback(AddToInterpreter);
  vtkSMPMBHistogramProxy::HideColumns();
}
