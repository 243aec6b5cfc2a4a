#pragma once

// Numbers of one unit as bars under each other, each with its name and what it is in words; one may be marked as the
// one that decides.

#include "widgets/plots/figure_view.h"

#include <QColor>

#include <vector>

namespace orrery::ui {

struct Bar {
    QString name;
    double value = 0;
    QString text;              ///< of the value
    QString words;             ///< behind the bar where there is room, and on hover
    QColor colour;             ///< invalid: the accent of marked ones, muted of others
    bool marked = false;       ///< its name stands out
    double low = 0, high = 0;  ///< an interval over the bar; none where equal
};

class BarList : public FigureView {
    Q_OBJECT
public:
    using FigureView::FigureView;
    /// `full`: what a bar of the whole width is; 0: the largest.
    void setBars(const QString& title, std::vector<Bar> bars, double full = 0);
    void clear() { setBars({}, {}); }
    const std::vector<Bar>& bars() const { return bars_; }
    int barAt(const QPointF& place) const;  ///< -1: none
    QRectF rowOf(int bar) const;

    bool isEmpty() const override { return bars_.empty(); }
    QString textAt(const QPointF& place) const override;
    QByteArray csv() const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintFigure(QPainter& painter) const override;

private:
    double rowHeight() const;
    double top() const;

    QString title_;
    std::vector<Bar> bars_;
    double full_ = 0;
};

}  // namespace orrery::ui
