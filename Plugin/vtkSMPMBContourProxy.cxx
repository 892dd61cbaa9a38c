// SPDX-License-Identifier: BSD-3-Clause
#include "vtkSMPMBContourProxy.h"

#include "vtkClientServerInterpreter.h"
#include "vtkClientServerInterpreterInitializer.h"
#include "vtkObjectFactory.h"
#include "vtkSMProperty.h"

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
