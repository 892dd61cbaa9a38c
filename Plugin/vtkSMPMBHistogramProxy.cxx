// SPDX-License-Identifier: BSD-3-Clause
#include "vtkSMPMBHistogramProxy.h"

#include "vtkCommand.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkSMChartSeriesSelectionDomain.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxyIterator.h"

#include <cstring>
#include <string>

vtkStandardNewMacro(vtkSMPMBHistogramProxy);

vtkSMPMBHistogramProxy::vtkSMPMBHistogramProxy() = default;
vtkSMPMBHistogramProxy::~vtkSMPMBHistogramProxy() = default;

void vtkSMPMBHistogramProxy::HideColumns()
{
  vtkSMChartSeriesSelectionDomain::AddSeriesVisibilityDefault("^Bricks In Range$", false);
}

// Called before a chart shows the table, too: its view is there, but does not have it yet.
void vtkSMPMBHistogramProxy::PostUpdateData(bool using_cache)
{
  this->Superclass::PostUpdateData(using_cache);
  vtkNew<vtkSMProxyIterator> views;
  views->SetSession(this->GetSession());
  views->SetModeToOneGroup();
  for (views->Begin("views"); !views->IsAtEnd(); views->Next())
  {
    vtkSMProxy* view = views->GetProxy();
    if (!std::strcmp(view->GetXMLName(), "XYChartView"))
    {
      vtkSMProperty* shown = view->GetProperty("Representations");
      if (this->Watched.insert(view->GetGlobalID()).second)
      {
        shown->AddObserver(vtkCommand::ModifiedEvent, this, &vtkSMPMBHistogramProxy::OnShown);
      }
      this->OnShown(shown, vtkCommand::NoEvent, nullptr);
    }
  }
}

void vtkSMPMBHistogramProxy::OnShown(vtkObject* property, unsigned long, void*)
{
  vtkSMProxy* view = static_cast<vtkSMProperty*>(property)->GetParent();
  if (view && this->IsShownIn(view))
  {
    this->NameAxes(view);
  }
}

bool vtkSMPMBHistogramProxy::IsShownIn(vtkSMProxy* view)
{
  const vtkSMPropertyHelper shown(view, "Representations");
  for (unsigned int i = 0; i < shown.GetNumberOfElements(); ++i)
  {
    vtkSMProxy* representation = shown.GetAsProxy(i);
    if (representation && representation->GetProperty("Input") &&
      vtkSMPropertyHelper(representation, "Input").GetAsProxy() == this)
    {
      return true;
    }
  }
  return false;
}

void vtkSMPMBHistogramProxy::NameAxes(vtkSMProxy* view)
{
  const char* array = vtkSMPropertyHelper(this, "SelectInputScalars").GetAsString(4);
  const std::string start = "Isovalue (";
  const std::string isovalue = start + (array ? array : "") + ")";
  const char* bottom = vtkSMPropertyHelper(view, "BottomAxisTitle").GetAsString();
  const char* left = vtkSMPropertyHelper(view, "LeftAxisTitle").GetAsString();
  const bool ours = bottom && !std::strncmp(bottom, start.c_str(), start.size());
  if ((!bottom || !*bottom || ours) && (!bottom || isovalue != bottom))
  {
    vtkSMPropertyHelper(view, "BottomAxisTitle").Set(isovalue.c_str());
  }
  if (!left || !*left)
  {
    vtkSMPropertyHelper(view, "LeftAxisTitle").Set("Bricks (32 x 4 x 4 samples) that the surface crosses");
  }
  view->UpdateVTKObjects();
}
