// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class pqPMBSliderWidget
 * @brief the live slider: as wide as the panel, in steps of 1/1000 of the range, or of 1 where samples are integers
 */
#ifndef pqPMBSliderWidget_h
#define pqPMBSliderWidget_h

#include "pqPropertyWidget.h"

#include "vtkNew.h"
#include "vtkWeakPointer.h"

class QLineEdit;
class QSlider;
class vtkCallbackCommand;
class vtkSMDoubleRangeDomain;

class pqPMBSliderWidget : public pqPropertyWidget
{
  Q_OBJECT
  Q_PROPERTY(double value READ value WRITE setValue NOTIFY valueChanged)

public:
  pqPMBSliderWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent);
  ~pqPMBSliderWidget() override;

  double value() const { return this->Value; }
  void setValue(double value);

Q_SIGNALS:
  void valueChanged();

private:
  void UpdateRange();
  void ShowValue();
  void Choose(double value);

  QSlider* Slider;
  QLineEdit* Line;
  double Value = 0.0;
  double Minimum = 0.0;
  double Step = 0.0; // of the slider; 0: there is no range
  vtkWeakPointer<vtkSMDoubleRangeDomain> Range;
  vtkNew<vtkCallbackCommand> Observer;
};

#endif
