// SPDX-License-Identifier: BSD-3-Clause
#include "pqPMBSliderWidget.h"

#include "vtkCallbackCommand.h"
#include "vtkCommand.h"
#include "vtkDataObject.h"
#include "vtkPVArrayInformation.h"
#include "vtkPVDataInformation.h"
#include "vtkSMDoubleRangeDomain.h"
#include "vtkSMProperty.h"
#include "vtkSMSourceProxy.h"
#include "vtkSMUncheckedPropertyHelper.h"
#include "vtkType.h"

#include <QDoubleValidator>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>

#include <algorithm>
#include <cmath>

namespace
{
const double Steps = 1000.0;
const double MostIntegers = 100000.0; // a wider range is not stepped through one by one

bool IsOfIntegers(vtkSMProxy* proxy)
{
  auto* input = vtkSMSourceProxy::SafeDownCast(vtkSMUncheckedPropertyHelper(proxy, "Input").GetAsProxy());
  const char* property =
    proxy->GetProperty("ContourBy") ? "ContourBy" : "SelectInputScalars"; // Isosurface, or the filter
  const char* name = vtkSMUncheckedPropertyHelper(proxy, property).GetAsString(4);
  vtkPVArrayInformation* array =
    input && name ? input->GetDataInformation(0)->GetArrayInformation(name, vtkDataObject::POINT) : nullptr;
  return array && array->GetDataType() != VTK_FLOAT && array->GetDataType() != VTK_DOUBLE;
}
}

pqPMBSliderWidget::pqPMBSliderWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent)
  : pqPropertyWidget(proxy, parent)
  , Slider(new QSlider(Qt::Horizontal, this))
  , Line(new QLineEdit(this))
  , Range(vtkSMDoubleRangeDomain::SafeDownCast(property->GetDomain("scalar_range")))
{
  this->setShowLabel(false); // it is above the slider, which takes the whole width
  this->Line->setMinimumWidth(1);
  this->Line->setValidator(new QDoubleValidator(this->Line));
  auto* layout = new QGridLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(new QLabel(property->GetXMLLabel(), this), 0, 0);
  layout->addWidget(this->Line, 0, 1);
  layout->addWidget(this->Slider, 1, 0, 1, 2);

  QObject::connect(this->Slider, &QSlider::valueChanged, this,
    [this](int place) { this->Choose(this->Minimum + place * this->Step); });
  QObject::connect(
    this->Line, &QLineEdit::editingFinished, this, [this] { this->Choose(this->Line->text().toDouble()); });
  this->Observer->SetClientData(this);
  this->Observer->SetCallback(
    [](vtkObject*, unsigned long, void* self, void*) { static_cast<pqPMBSliderWidget*>(self)->UpdateRange(); });
  if (this->Range)
  {
    this->Range->AddObserver(vtkCommand::DomainModifiedEvent, this->Observer);
  }
  this->UpdateRange();
  this->addPropertyLink(this, "value", SIGNAL(valueChanged()), property, 0);
}

pqPMBSliderWidget::~pqPMBSliderWidget()
{
  if (this->Range)
  {
    this->Range->RemoveObserver(this->Observer);
  }
}

void pqPMBSliderWidget::UpdateRange()
{
  int hasMinimum = 0, hasMaximum = 0;
  this->Minimum = this->Range ? this->Range->GetMinimum(0, hasMinimum) : 0.0;
  const double maximum = this->Range ? this->Range->GetMaximum(0, hasMaximum) : 0.0;
  const double width = maximum - this->Minimum;
  const bool known = hasMinimum && hasMaximum && width > 0.0 && std::isfinite(width);
  const double steps = known && IsOfIntegers(this->proxy()) && width <= MostIntegers ? width : Steps;
  this->Step = known ? width / steps : 0.0;
  {
    const QSignalBlocker blocker(this->Slider);
    this->Slider->setRange(0, static_cast<int>(steps));
    this->Slider->setPageStep(std::max(1, static_cast<int>(steps / 20.0)));
  }
  this->Slider->setEnabled(known);
  this->ShowValue();
}

void pqPMBSliderWidget::ShowValue()
{
  const QSignalBlocker blocker(this->Slider);
  if (this->Step > 0.0)
  {
    const double place = std::round((this->Value - this->Minimum) / this->Step);
    this->Slider->setValue(static_cast<int>(std::min(std::max(place, 0.0), double(this->Slider->maximum()))));
  }
  this->Line->setText(QString::number(this->Value, 'g', 10));
}

void pqPMBSliderWidget::setValue(double value)
{
  this->Value = value;
  this->ShowValue();
}

// By the user.
void pqPMBSliderWidget::Choose(double value)
{
  if (value != this->Value)
  {
    this->setValue(value);
    Q_EMIT this->valueChanged();
  }
}
