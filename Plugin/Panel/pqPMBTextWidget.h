// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class pqPMBTextWidget
 * @brief shows a text that the filter gives: wrapped, and nothing to type into or to click on
 */
#ifndef pqPMBTextWidget_h
#define pqPMBTextWidget_h

#include "pqPropertyWidget.h"

class QLabel;

class pqPMBTextWidget : public pqPropertyWidget
{
  Q_OBJECT
  Q_PROPERTY(QString text READ text WRITE setText NOTIFY textChanged)

public:
  pqPMBTextWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent);

  QString text() const { return this->Text; }
  void setText(const QString& text);

Q_SIGNALS:
  void textChanged();

protected:
  void changeEvent(QEvent* event) override;

private:
  QLabel* Label;
  QString Text;
};

#endif
