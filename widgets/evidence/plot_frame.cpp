#include "widgets/evidence/plot_frame.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"

#include <QPainter>

#include <cmath>

namespace orrery::ui {

QString tickText(double value, TickText how) {
    switch (how) {
        case TickText::Seconds:
            return text(value, Dimension::Time, 2);
        case TickText::Percent:
            return QString::number(value * 100, 'g', std::abs(value) < 10 ? 3 : 6)
                       .replace(QLatin1Char('-'), QChar(0x2212)) +
                   QStringLiteral(" %");
        case TickText::Number:
            return value >= 1e3 || (value < 1e-2 && value > 0) ? text(value, Dimension::Number, 2)
                                                               : QString::number(value, 'g', 3);
    }
    return {};
}

QRectF PlotFrame::areaIn(const QSize& size) {
    const double scale = Theme::instance().scale();
    return QRectF(QPointF(56 * scale, plotTitleHeight + 8), QPointF(size.width() - 16, size.height() - 40 * scale));
}

void PlotFrame::paint(QPainter& painter, const PlotAxis& x, const PlotAxis& y, int width) const {
    const Palette& colours = Theme::instance().colours();
    paintPlotTitle(painter, title, width);
    painter.setFont(Theme::instance().font(FontRole::Small));
    const int line = painter.fontMetrics().height();
    for (const double tick : x.ticks(76)) {
        const double at = x.position(tick);
        painter.setPen(colours.faintLine);
        painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()));
        painter.setPen(colours.mutedText);
        paintTickLabel(painter, at, static_cast<int>(area.bottom()), tickText(tick, xTicks), width);
    }
    for (const double tick : y.ticks(34)) {
        const double at = y.position(tick);
        painter.setPen(colours.faintLine);
        painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at));
        painter.setPen(colours.mutedText);
        painter.drawText(QRectF(0, at - line / 2.0, area.left() - 6, line), Qt::AlignRight | Qt::AlignVCenter,
                         tickText(tick, yTicks));
    }
    painter.setPen(colours.line);
    painter.drawLine(area.bottomLeft(), area.bottomRight());
    painter.setPen(colours.mutedText);
    painter.drawText(QRectF(area.left(), area.bottom() + line + 4, area.width(), line), Qt::AlignRight, xName);
    painter.drawText(QRectF(area.left() + 4, area.top() - line - 2, area.width(), line), Qt::AlignLeft, yName);
}

void paintEmptyPlot(QPainter& painter, const QRect& area, const QString& sentence) {
    painter.setFont(Theme::instance().font(FontRole::Body));
    painter.setPen(Theme::instance().colours().mutedText);
    painter.drawText(area.adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap, sentence);
}

}  // namespace orrery::ui
