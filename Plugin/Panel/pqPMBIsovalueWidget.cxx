// SPDX-License-Identifier: BSD-3-Clause
#include "pqPMBIsovalueWidget.h"

#include "pqPMBHistogram.h"
#include "vtkCallbackCommand.h"
#include "vtkCommand.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"
#include "vtkSMUncheckedPropertyHelper.h"

#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QTimer>

namespace
{
const int MostButtons = 3;

// What the proxy has of them tells what is new.
QVector<vtkSMProperty*> SourcesOf(vtkSMProxy* proxy)
{
  QVector<vtkSMProperty*> sources;
  for (const char* name : { "IsovalueCurve", "SuggestedIsovalues", "SuggestionSummary" })
  {
    if (vtkSMProperty* source = proxy->GetProperty(name))
    {
      sources.append(source);
    }
  }
  return sources;
}

QVector<double> NumbersOf(vtkSMProxy* proxy, const char* name)
{
  const vtkSMPropertyHelper helper(proxy, name);
  QVector<double> numbers;
  for (unsigned int i = 0; i < helper.GetNumberOfElements(); ++i)
  {
    numbers.append(helper.GetAsDouble(i));
  }
  return numbers;
}
}

pqPMBIsovalueWidget::pqPMBIsovalueWidget(vtkSMProxy* proxy, QWidget* parent)
  : pqPropertyWidget(proxy, parent)
  , Text(new QLabel(this))
  , Histogram(new pqPMBHistogram(this))
{
  this->setShowLabel(false);
  this->Text->setWordWrap(true);
  this->Text->setMinimumWidth(1); // a long word must not make the panel wider
  auto* layout = new QGridLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(this->Histogram, 0, 0, 1, MostButtons + 1);
  layout->addWidget(this->Text, 1, 0);
  for (int i = 0; i < MostButtons; ++i)
  {
    auto* button = new QPushButton(this);
    button->setObjectName(QString("Suggestion%1").arg(i));
    button->setToolTip(i == 0 ? "The best isovalue to start with" : "The next best isovalue to start with");
    QObject::connect(button, &QPushButton::clicked, this, [this, i] { this->Choose(this->Suggestions[i]); });
    layout->addWidget(button, 1, i + 1);
    this->Buttons.append(button);
  }
  layout->setColumnStretch(0, 1);
  QObject::connect(this->Histogram, &pqPMBHistogram::chosen, this, &pqPMBIsovalueWidget::Choose);

  this->Observer->SetClientData(this);
  this->Observer->SetCallback(
    [](vtkObject*, unsigned long, void* self, void*) { static_cast<pqPMBIsovalueWidget*>(self)->Refresh(); });
  for (vtkSMProperty* source : SourcesOf(proxy))
  {
    source->AddObserver(vtkCommand::ModifiedEvent, this->Observer);
  }
  this->Asker->SetClientData(this);
  this->Asker->SetCallback(
    [](vtkObject*, unsigned long, void* self, void*)
    {
      auto* widget = static_cast<pqPMBIsovalueWidget*>(self); // when the update is over
      QTimer::singleShot(0, widget, [widget] { widget->Ask(); });
    });
  proxy->AddObserver(vtkCommand::UpdateDataEvent, this->Asker);
  if (vtkSMProperty* contoured = proxy->GetProperty("ContourBy"))
  {
    contoured->AddObserver(vtkCommand::ModifiedEvent, this->Asker);
  }
  this->addPropertyLink(this, "isovalues", SIGNAL(isovaluesChanged()),
    proxy->GetProperty(this->IsOfFilter() ? "ContourValues" : "IsosurfaceValues"));
  this->Refresh();
}

pqPMBIsovalueWidget::~pqPMBIsovalueWidget()
{
  this->proxy()->RemoveObserver(this->Asker);
  if (vtkSMProperty* contoured = this->proxy()->GetProperty("ContourBy"))
  {
    contoured->RemoveObserver(this->Asker);
  }
  for (vtkSMProperty* source : SourcesOf(this->proxy()))
  {
    source->RemoveObserver(this->Observer);
  }
}

// ParaView disables the widgets of properties that are for information; this one has buttons.
void pqPMBIsovalueWidget::changeEvent(QEvent* event)
{
  this->pqPropertyWidget::changeEvent(event);
  if (event->type() == QEvent::EnabledChange && !this->isEnabled())
  {
    this->setEnabled(true);
  }
}

void pqPMBIsovalueWidget::showEvent(QShowEvent* event)
{
  this->pqPropertyWidget::showEvent(event);
  this->Ask();
}

bool pqPMBIsovalueWidget::IsOfFilter() const
{
  return this->proxy()->GetProperty("Live") != nullptr;
}

void pqPMBIsovalueWidget::Ask()
{
  if (this->isVisible() && !this->IsOfFilter())
  {
    for (vtkSMProperty* source : SourcesOf(this->proxy()))
    {
      this->proxy()->UpdatePropertyInformation(source);
    }
  }
}

void pqPMBIsovalueWidget::setIsovalues(const QList<QVariant>& isovalues)
{
  this->Isovalues = isovalues;
  QVector<double> numbers;
  for (const QVariant& isovalue : isovalues)
  {
    numbers.append(isovalue.toDouble());
  }
  this->Histogram->SetIsovalues(numbers);
}

// What the last execution has found.
void pqPMBIsovalueWidget::Refresh()
{
  const QVector<double> curve = NumbersOf(this->proxy(), "IsovalueCurve");
  this->Suggestions = NumbersOf(this->proxy(), "SuggestedIsovalues");
  this->Histogram->SetCurve(curve, this->Suggestions);
  this->Histogram->setVisible(!curve.isEmpty());
  for (int i = 0; i < MostButtons; ++i)
  {
    const bool is = i < this->Suggestions.size();
    this->Buttons[i]->setVisible(is);
    this->Buttons[i]->setText(is ? QString::number(this->Suggestions[i], 'g', 4) : QString());
  }
  const vtkSMPropertyHelper run(this->proxy(), "LastRunSummary", true);
  const QString summary = run.GetNumberOfElements() > 0 ? run.GetAsString() : "";
  if (!this->Suggestions.isEmpty())
  {
    this->Text->setText("Suggested:");
  }
  else
  {
    const bool isToRun = this->IsOfFilter() && (summary.isEmpty() || summary == "Not run yet");
    this->Text->setText(
      isToRun ? "Press Apply to see suggested isovalues." : "There is no suggestion for this input.");
  }
}

// By the user.
void pqPMBIsovalueWidget::Choose(double isovalue)
{
  if (!this->IsOfFilter() || vtkSMUncheckedPropertyHelper(this->proxy(), "Live").GetAsInt())
  {
    vtkSMUncheckedPropertyHelper(this->proxy(), "LiveIsovalue").Set(isovalue); // the proxy does the rest
    return;
  }
  vtkSMUncheckedPropertyHelper(this->proxy(), "UseSuggestedIsovalue").Set(0);
  this->setIsovalues({ isovalue });
  Q_EMIT this->isovaluesChanged();
}
