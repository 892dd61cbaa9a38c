// SPDX-License-Identifier: BSD-3-Clause
#include "pqPMBPanel.h"

#include "pqApplicationCore.h"
#include "pqInterfaceTracker.h"
#include "pqPMBIsovalueWidget.h"
#include "pqPMBSliderWidget.h"
#include "pqPMBTextWidget.h"
#include "vtkSMProperty.h"
#include "vtkVersion.h"

#include <QCoreApplication>
#include <QTimer>

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
  auto* core = pqApplicationCore::instance();
  if (!core)
  {
    return;
  }
#if QT_VERSION >= QT_VERSION_CHECK(6, 0, 0) && VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 4, 0)
  // ParaView before 6.0 leaves its help read-only, as Qt 6 makes it: no plugin could add pages.
  core->helpEngine();
  for (QObject* child : core->children())
  {
    if (child->inherits("QHelpEngine"))
    {
      child->setProperty("readOnly", false);
    }
  }
#endif
  core->interfaceTracker()->addInterface(new pqPMBPanel(core));
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
