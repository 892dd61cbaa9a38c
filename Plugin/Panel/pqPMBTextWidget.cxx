// SPDX-License-Identifier: BSD-3-Clause
#include "pqPMBTextWidget.h"

#include "vtkSMProperty.h"

#include <QEvent>
#include <QLabel>
#include <QVBoxLayout>

pqPMBTextWidget::pqPMBTextWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent)
  : pqPropertyWidget(proxy, parent)
  , Label(new QLabel(this))
{
  this->Label->setWordWrap(true);
  this->Label->setMinimumWidth(1); // a long word must not make the panel wider
  this->Label->setTextFormat(Qt::PlainText);
  this->Label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(this->Label);
  this->setText(QString());
  this->addPropertyLink(this, "text", SIGNAL(textChanged()), property);
}

// ParaView disables the widgets of properties that are for information; this text is there to be read and copied.
void pqPMBTextWidget::changeEvent(QEvent* event)
{
  this->pqPropertyWidget::changeEvent(event);
  if (event->type() == QEvent::EnabledChange && !this->isEnabled())
  {
    this->setEnabled(true);
  }
}

void pqPMBTextWidget::setText(const QString& text)
{
  this->Text = text;
  this->Label->setText(text.isEmpty() ? "Not run yet" : text);
}
