// SPDX-License-Identifier: BSD-3-Clause
#include "vtkSMPMBHistogramProxy.h"

#include "vtkCallbackCommand.h"
#include "vtkCommand.h"
#include "vtkObjectFactory.h"
#include "vtkSMChartSeriesSelectionDomain.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxyIterator.h"
#include "vtkStdString.h"
#include "vtkVersionMacros.h"

vtkStandardNewMacro(vtkSMPMBHistogramProxy);

vtkSMPMBHistogramProxy::vtkSMPMBHistogramProxy()
{
  this->Watch->SetCallback(&vtkSMPMBHistogramProxy::OnShown);
  this->Watch->SetClientData(this);
}

vtkSMPMBHistogramProxy::~vtkSMPMBHistogramProxy()
{
  this->Watch->SetClientData(nullptr);
}

// From 5.12 on ParaView keeps this among the user's settings, which are left alone: charts draw both columns there.
void vtkSMPMBHistogramProxy::HideColumns()
{
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 3, 0)
  vtkSMChartSeriesSelectionDomain::AddSeriesVisibilityDefault("^Bricks In Range$", false);
#endif
}

// Also called before a chart shows the table, when the view exists without it.
void vtkSMPMBHistogramProxy::PostUpdateData(bool using_cache)
{
  this->Superclass::PostUpdateData(using_cache);
  vtkNew<vtkSMProxyIterator> views;
  views->SetSession(this->GetSession());
  views->SetModeToOneGroup();
  for (views->Begin("views"); !views->IsAtEnd(); views->Next())
  {
    vtkSMProperty* shown = views->GetProxy()->GetProperty("Representations");
    if (shown && vtkStdString("XYChartView") == views->GetProxy()->GetXMLName())
    {
      if (!shown->HasObserver(vtkCommand::ModifiedEvent, this->Watch))
      {
        shown->AddObserver(vtkCommand::ModifiedEvent, this->Watch);
      }
      OnShown(shown, vtkCommand::NoEvent, this, nullptr);
    }
  }
}

void vtkSMPMBHistogramProxy::OnShown(vtkObject* property, unsigned long, void* data, void*)
{
  auto* self = static_cast<vtkSMPMBHistogramProxy*>(data);
  vtkSMProxy* view = static_cast<vtkSMProperty*>(property)->GetParent();
  if (self && view && self->IsShownIn(view))
  {
    self->NameAxes(view);
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
  const vtkStdString start = "Isovalue (";
  const vtkStdString isovalue = start + (array ? array : "") + ")";
  const char* before = vtkSMPropertyHelper(view, "BottomAxisTitle").GetAsString();
  const vtkStdString bottom = before ? before : "";
  const char* left = vtkSMPropertyHelper(view, "LeftAxisTitle").GetAsString();
  if (bottom.empty() || (bottom.compare(0, start.size(), start) == 0 && bottom != isovalue))
  {
    vtkSMPropertyHelper(view, "BottomAxisTitle").Set(isovalue.c_str());
  }
  if (!left || !*left)
  {
    vtkSMPropertyHelper(view, "LeftAxisTitle").Set("Bricks crossed");
  }
  view->UpdateVTKObjects();
}
