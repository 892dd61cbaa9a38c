// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class pqPMBHistogram
 * @brief draws a small histogram with isovalues and suggestions in it; a click or a drag chooses a value
 */
#ifndef pqPMBHistogram_h
#define pqPMBHistogram_h

#include <QVector>
#include <QWidget>

class pqPMBHistogram : public QWidget
{
  Q_OBJECT

public:
  explicit pqPMBHistogram(QWidget* parent);

  /// The first and the last value of the range, then the height of each bin; less than three numbers: nothing is drawn.
  void SetCurve(const QVector<double>& curve, const QVector<double>& suggestions);
  void SetIsovalues(const QVector<double>& isovalues);

  QSize sizeHint() const override;

Q_SIGNALS:
  void chosen(double isovalue);

protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

private:
  int PlaceOf(double value) const;
  double ValueAt(int place) const;
  void DrawLines(class QPainter& painter, const QVector<double>& values) const;

  QVector<double> Curve, Isovalues, Suggestions;
};

#endif
