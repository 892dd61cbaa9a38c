// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class pqPMBPanel
 * @brief makes the widgets that PMB Contour's XML names by panel_widget
 *
 * pmb_isovalues: pqPMBIsovalueWidget; pmb_slider: pqPMBSliderWidget; pmb_text: pqPMBTextWidget.
 */
#ifndef pqPMBPanel_h
#define pqPMBPanel_h

#include "pqPropertyWidgetInterface.h"

#include <QObject>

class pqPMBPanel
  : public QObject
  , public pqPropertyWidgetInterface
{
  Q_OBJECT
  Q_INTERFACES(pqPropertyWidgetInterface)

public:
  using QObject::QObject;
  pqPropertyWidget* createWidgetForProperty(
    vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parentWidget) override;
};

#endif
