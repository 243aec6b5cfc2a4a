#include "widgets/comparison/break_even_plot.h"

#include "widgets/common/theme.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

BreakEvenPlot::BreakEvenPlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("compare.curve"));
    setAccessibleName(tr("Break-even"));
    setToolTip(tr("The number over the attribute, its interval as a band; the line across is the target"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void BreakEvenPlot::setCurve(BreakEvenCurve curve) {
    curve_ = std::move(curve);
    setAccessibleDescription(tr("%n break-even(s)", nullptr, static_cast<int>(curve_.crossings.size())));
    update();
}

void BreakEvenPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Palette& colours = Theme::instance().colours();
    painter.fillRect(rect(), colours.surface);
    if (curve_.x.size() < 2) return paintEmptyPlot(painter, rect(), emptySentence_);
    PlotFrame frame;
    frame.title = curve_.title;
    frame.xName = curve_.xName;
    frame.yName = curve_.yName;
    frame.xTicks = curve_.xTicks;
    frame.yTicks = curve_.yTicks;
    frame.area = PlotFrame::areaIn(size());
    std::vector<double> ys{curve_.goal};
    for (const std::vector<double>* column : {&curve_.value, &curve_.low, &curve_.high})
        for (const double value : *column)
            if (value > 0 && std::isfinite(value)) ys.push_back(value);
    const QRectF area = frame.area.adjusted(8, 8, -8, -8);
    const PlotAxis x = PlotAxis::covering(curve_.x, area.left(), area.right());
    const PlotAxis y = PlotAxis::covering(ys, area.bottom(), area.top());
    frame.paint(painter, x, y, width());
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setClipRect(frame.area);
    // What it is to reach, with its interval.
    const QColor still = colours.mutedText, mover = colours.accent;
    const auto band = [](QColor colour) {
        colour.setAlphaF(0.16F);
        return colour;
    };
    if (curve_.goalLow > 0 && curve_.goalHigh > curve_.goalLow) {
        painter.fillRect(QRectF(QPointF(frame.area.left(), y.position(curve_.goalHigh)),
                                QPointF(frame.area.right(), y.position(curve_.goalLow))),
                         band(still));
    }
    painter.setPen(QPen(still, 1.5, Qt::DashLine));
    painter.drawLine(QPointF(frame.area.left(), y.position(curve_.goal)),
                     QPointF(frame.area.right(), y.position(curve_.goal)));
    QPolygonF line, above, below;
    for (std::size_t i = 0; i < curve_.x.size(); ++i) {
        if (!(curve_.value[i] > 0) || !std::isfinite(curve_.value[i])) continue;
        const double at = x.position(curve_.x[i]);
        line << QPointF(at, y.position(curve_.value[i]));
        above << QPointF(at, y.position(std::isfinite(curve_.high[i]) ? curve_.high[i] : y.high));
        below << QPointF(at, y.position(curve_.low[i] > 0 ? curve_.low[i] : y.low));
    }
    std::reverse(below.begin(), below.end());
    painter.setPen(Qt::NoPen);
    painter.setBrush(band(mover));
    painter.drawPolygon(above + below);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(mover, 2));
    painter.drawPolyline(line);
    if (curve_.drawn) {
        painter.setPen(QPen(colours.line, 1, Qt::DotLine));
        const double at = x.position(*curve_.drawn);
        painter.drawLine(QPointF(at, frame.area.top()), QPointF(at, frame.area.bottom()));
    }
    painter.setPen(QPen(colours.text, 2));
    painter.setBrush(colours.surface);
    const double r = 5 * Theme::instance().scale();
    for (const double at : curve_.crossings)
        painter.drawEllipse(QPointF(x.position(at), y.position(curve_.goal)), r, r);
    painter.setFont(Theme::instance().font(FontRole::Small));
    const int tall = painter.fontMetrics().height();
    painter.setPen(still);
    painter.drawText(QRectF(frame.area.left() + 8, y.position(curve_.goal) - tall - 2, frame.area.width() - 16, tall),
                     Qt::AlignRight, curve_.goalName);
    if (!line.isEmpty()) {
        painter.setPen(mover);
        painter.drawText(QRectF(line.first().x() + 6, line.first().y() - tall - 4, frame.area.width() / 2, tall),
                         Qt::AlignLeft, curve_.curveName);
    }
    if (curve_.drawn) {
        painter.setPen(colours.mutedText);
        const double at = x.position(*curve_.drawn);
        painter.drawText(QRectF(at + 4, frame.area.bottom() - tall - 2, 120, tall), Qt::AlignLeft, tr("as drawn"));
    }
}

}  // namespace orrery::ui
