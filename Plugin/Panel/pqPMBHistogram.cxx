// SPDX-License-Identifier: BSD-3-Clause
#include "pqPMBHistogram.h"

#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace
{
const int Rows = 4; // lines of text that the histogram is high
const QColor SuggestionColor(0x2e, 0xa0, 0x43);
const QColor IsovalueColor(0xd0, 0x40, 0x20);
}

pqPMBHistogram::pqPMBHistogram(QWidget* parent)
  : QWidget(parent)
{
  this->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  this->setCursor(Qt::CrossCursor);
  this->setMouseTracking(true);
}

QSize pqPMBHistogram::sizeHint() const
{
  return QSize(120, (Rows + 1) * this->fontMetrics().height());
}

void pqPMBHistogram::SetCurve(const QVector<double>& curve, const QVector<double>& suggestions)
{
  this->Curve = curve;
  this->Suggestions = suggestions;
  this->update();
}

void pqPMBHistogram::SetIsovalues(const QVector<double>& isovalues)
{
  this->Isovalues = isovalues;
  this->update();
}

int pqPMBHistogram::PlaceOf(double value) const
{
  const double fraction = (value - this->Curve[0]) / (this->Curve[1] - this->Curve[0]);
  return static_cast<int>(std::round(fraction * (this->width() - 1)));
}

double pqPMBHistogram::ValueAt(int place) const
{
  const double fraction = std::min(std::max(place / std::max(1.0, this->width() - 1.0), 0.0), 1.0);
  const double value = this->Curve[0] + fraction * (this->Curve[1] - this->Curve[0]);
  // No more digits than a pixel is wide.
  const double unit = std::pow(10.0, std::floor(std::log10((this->Curve[1] - this->Curve[0]) / this->width())));
  return std::min(std::max(std::round(value / unit) * unit, this->Curve[0]), this->Curve[1]);
}

void pqPMBHistogram::DrawLines(QPainter& painter, const QVector<double>& values) const
{
  for (double value : values)
  {
    if (value >= this->Curve[0] && value <= this->Curve[1])
    {
      const int place = this->PlaceOf(value);
      painter.drawLine(place, 0, place, this->height() - this->fontMetrics().height() - 1);
    }
  }
}

// Draws square roots of the heights: bins of air are often a hundred times higher than those of the objects.
void pqPMBHistogram::paintEvent(QPaintEvent*)
{
  if (this->Curve.size() < 3)
  {
    return;
  }
  QPainter painter(this);
  const int bottom = this->height() - this->fontMetrics().height();
  painter.fillRect(0, 0, this->width(), bottom, this->palette().base());
  const double highest = *std::max_element(this->Curve.begin() + 2, this->Curve.end());
  const int bins = this->Curve.size() - 2;
  for (int i = 0; i < bins && highest > 0.0; ++i)
  {
    const int left = i * this->width() / bins, right = (i + 1) * this->width() / bins;
    const int height = static_cast<int>(std::sqrt(this->Curve[i + 2] / highest) * (bottom - 2));
    painter.fillRect(left, bottom - height, right - left, height, this->palette().mid());
  }
  painter.setPen(QPen(SuggestionColor, 1, Qt::DashLine));
  this->DrawLines(painter, this->Suggestions);
  painter.setPen(QPen(IsovalueColor, 2));
  this->DrawLines(painter, this->Isovalues);
  painter.setPen(this->palette().color(QPalette::WindowText));
  painter.drawText(this->rect(), Qt::AlignLeft | Qt::AlignBottom, QString::number(this->Curve[0], 'g', 5));
  painter.drawText(this->rect(), Qt::AlignRight | Qt::AlignBottom, QString::number(this->Curve[1], 'g', 5));
}

void pqPMBHistogram::mousePressEvent(QMouseEvent* event)
{
  if (event->button() == Qt::LeftButton && this->Curve.size() >= 3)
  {
    Q_EMIT this->chosen(this->ValueAt(event->pos().x()));
  }
}

void pqPMBHistogram::mouseMoveEvent(QMouseEvent* event)
{
  if (this->Curve.size() >= 3)
  {
    const double value = this->ValueAt(event->pos().x());
    QToolTip::showText(this->mapToGlobal(event->pos()), QString::number(value, 'g', 6), this);
    if (event->buttons() & Qt::LeftButton)
    {
      Q_EMIT this->chosen(value);
    }
  }
}
