// SPDX-License-Identifier: BSD-3-Clause
#include "vtkSMPMBContourProxy.h"

#include "vtkClientServerInterpreter.h"
#include "vtkClientServerInterpreterInitializer.h"
#include "vtkObjectFactory.h"
#include "vtkPVXMLElement.h"
#include "vtkSMProperty.h"
#include "vtkStdString.h"

vtkStandardNewMacro(vtkSMPMBContourProxy);

vtkSMPMBContourProxy::vtkSMPMBContourProxy() = default;
vtkSMPMBContourProxy::~vtkSMPMBContourProxy() = default;

void vtkSMPMBContourProxy::PostUpdateData(bool using_cache)
{
  // The superclass clears NeedsUpdate. Geometry from an animation's cache comes without a run.
  const bool updated = this->NeedsUpdate && !using_cache;
  this->Superclass::PostUpdateData(using_cache);
  if (updated)
  {
    // Reads one string from the server; updates nothing.
    this->UpdatePropertyInformation(this->GetProperty("LastRunSummary"));
  }
}

int vtkSMPMBContourProxy::LoadXMLState(vtkPVXMLElement* element, vtkSMProxyLocator* locator)
{
  vtkStdString unknown;
  for (unsigned int i = 0; i < element->GetNumberOfNestedElements(); ++i)
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

static vtkObjectBase* NewProxy(void*)
{
  return vtkSMPMBContourProxy::New();
}

static void AddToInterpreter(vtkClientServerInterpreter* interpreter)
{
  interpreter->AddNewInstanceFunction("vtkSMPMBContourProxy", NewProxy);
}

void vtkSMPMBContourProxy::Register()
{
  vtkClientServerInterpreterInitializer::GetInitializer()->RegisterCallback(AddToInterpreter);
}
