// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBLiveIsovalue.h"

#include "vtkCommand.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkSMDoubleRangeDomain.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"
#include "vtkSMProxyIterator.h"
#include "vtkSMProxyManager.h"
#include "vtkSMTrace.h"
#include "vtkSMUncheckedPropertyHelper.h"
#include "vtkSMUndoStackBuilder.h"
#include "vtkSMViewProxy.h"

vtkStandardNewMacro(vtkPMBLiveIsovalue);

void vtkPMBLiveIsovalue::Begin(vtkSMProxy* proxy, const char* isovalues)
{
  vtkSMProperty* slider = proxy->GetProperty("LiveIsovalue");
  vtkSMProperty* list = proxy->GetProperty(isovalues);
  if (slider && list)
  {
    this->Proxy = proxy;
    this->Isovalues = isovalues;
    slider->AddObserver(vtkCommand::UncheckedPropertyModifiedEvent, this, &vtkPMBLiveIsovalue::OnSliderMoved);
    list->AddObserver(vtkCommand::ModifiedEvent, this, &vtkPMBLiveIsovalue::OnIsovaluesChanged);
  }
}

// In the panel a tick at Live takes effect at once, as the slider does. Other changes still wait for Apply.
void vtkPMBLiveIsovalue::OnSliderMoved()
{
  vtkSMProxy* proxy = this->Proxy;
  if (!proxy || this->Following || !proxy->GetObjectsCreated() ||
    (proxy->GetProperty("Live") && !vtkSMUncheckedPropertyHelper(proxy, "Live").GetAsInt()))
  {
    return;
  }
  const double isovalue = vtkSMUncheckedPropertyHelper(proxy, "LiveIsovalue").GetAsDouble();
  const double current = vtkSMPropertyHelper(proxy, "LiveIsovalue").GetAsDouble();
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
  SM_SCOPED_TRACE(PropertiesModified).arg("proxy", proxy); // before ParaView's own, which sees no change any more
  vtkSMPropertyHelper(proxy, "UseSuggestedIsovalue", true).Set(0); // where there is such a property
  vtkSMPropertyHelper(proxy, this->Isovalues).Set(&isovalue, 1);
  this->MoveSlider(isovalue);
  proxy->UpdateVTKObjects();
  this->DrawViews();
  this->Following = false;
  this->CanUndo = true;
  if (undo)
  {
    undo->SetIgnoreAllChanges(ignored);
  }
}

// Moves the slider to the first isovalue.
void vtkPMBLiveIsovalue::OnIsovaluesChanged()
{
  if (this->Following || !this->Proxy)
  {
    return;
  }
  this->CanUndo = false;
  const vtkSMPropertyHelper isovalues(this->Proxy, this->Isovalues);
  if (isovalues.GetNumberOfElements() > 0)
  {
    this->MoveSlider(isovalues.GetAsDouble(0));
  }
}

// The slider's range. The field beside it sends its text after each key: the 1 of 101 may lie outside.
bool vtkPMBLiveIsovalue::IsInRange(double isovalue)
{
  auto* range =
    vtkSMDoubleRangeDomain::SafeDownCast(this->Proxy->GetProperty("LiveIsovalue")->GetDomain("scalar_range"));
  int hasMinimum = 0, hasMaximum = 0;
  const double minimum = range ? range->GetMinimum(0, hasMinimum) : 0.0;
  const double maximum = range ? range->GetMaximum(0, hasMaximum) : 0.0;
  return (!hasMinimum || isovalue >= minimum) && (!hasMaximum || isovalue <= maximum); // not so for NaN
}

void vtkPMBLiveIsovalue::MoveSlider(double isovalue)
{
  vtkSMPropertyHelper(this->Proxy, "LiveIsovalue").Set(isovalue);
}

// Views that show the surface or results of other filters on it. Drawing updates the filters.
void vtkPMBLiveIsovalue::DrawViews()
{
  vtkNew<vtkSMProxyIterator> views;
  views->SetSession(this->Proxy->GetSession());
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
