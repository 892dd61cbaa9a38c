// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class pqPMBIsovalueWidget
 * @brief the suggested isovalues as buttons below a small histogram of the volume; a click there is a new isovalue
 *
 * It replaces the list of isovalues, as if it were typed there, and waits for Apply. While Live is ticked, the surface follows
 * at once. A representation's isovalue changes at once, too. Its widget asks for suggestions when it is shown and after each
 * update; the filter's proxy does so itself.
 */
#ifndef pqPMBIsovalueWidget_h
#define pqPMBIsovalueWidget_h

#include "pqPropertyWidget.h"

#include "vtkNew.h"

#include <QList>
#include <QVariant>
#include <QVector>

class pqPMBHistogram;
class QHBoxLayout;
class QLabel;
class QPushButton;
class vtkCallbackCommand;

class pqPMBIsovalueWidget : public pqPropertyWidget
{
  Q_OBJECT
  Q_PROPERTY(QList<QVariant> isovalues READ isovalues WRITE setIsovalues NOTIFY isovaluesChanged)

public:
  pqPMBIsovalueWidget(vtkSMProxy* proxy, QWidget* parent);
  ~pqPMBIsovalueWidget() override;

  QList<QVariant> isovalues() const { return this->Isovalues; }
  void setIsovalues(const QList<QVariant>& isovalues);

Q_SIGNALS:
  void isovaluesChanged();

protected:
  void changeEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;

private:
  bool IsOfFilter() const;
  void Ask();
  void Refresh();
  void Choose(double isovalue);

  QLabel* Text;
  pqPMBHistogram* Histogram;
  QVector<QPushButton*> Buttons;
  QVector<double> Suggestions;
  QList<QVariant> Isovalues;
  vtkNew<vtkCallbackCommand> Observer, Asker;
};

#endif
