// SPDX-License-Identifier: BSD-3-Clause
#include "pqPMBPanel.h"

#include "pqApplicationCore.h"
#include "pqInterfaceTracker.h"
#include "pqPMBIsovalueWidget.h"
#include "pqPMBSliderWidget.h"
#include "pqPMBTextWidget.h"
#include "vtkSMProperty.h"

#include <QCoreApplication>
#include <QTimer>

pqPMBPanel::pqPMBPanel(QObject* parent)
  : QObject(parent)
{
}

pqPropertyWidget* pqPMBPanel::createWidgetForProperty(
  vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parentWidget)
{
  const QString name = property->GetPanelWidget();
  if (name == "pmb_isovalues")
  {
    return new pqPMBIsovalueWidget(proxy, parentWidget);
  }
  if (name == "pmb_slider")
  {
    return new pqPMBSliderWidget(proxy, property, parentWidget);
  }
  return name == "pmb_text" ? new pqPMBTextWidget(proxy, property, parentWidget) : nullptr;
}

static void Add()
{
  if (auto* core = pqApplicationCore::instance())
  {
    core->interfaceTracker()->addInterface(new pqPMBPanel(core));
  }
}

// Called by the plugin, once. A plugin may be loaded before ParaView's own objects are there.
extern "C" Q_DECL_EXPORT void PMBRegisterPanel()
{
  if (pqApplicationCore::instance() && pqApplicationCore::instance()->interfaceTracker())
  {
    Add();
  }
  else if (QCoreApplication::instance())
  {
    QTimer::singleShot(0, QCoreApplication::instance(), Add);
  }
}
