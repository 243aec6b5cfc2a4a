#include "widgets/evidence/plot_frame.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

QString tickText(double value, TickText how, int digits) {
    switch (how) {
        case TickText::Seconds:
            return value == 0 ? QStringLiteral("0") : text(value, Dimension::Time, digits);
        case TickText::Percent:
            return QString::number(value * 100, 'g', std::abs(value) < 10 ? digits + 1 : digits + 4)
                       .replace(QLatin1Char('-'), QChar(0x2212)) +
                   QStringLiteral(" %");
        case TickText::Number:
            return value >= 1e3 || (value < 1e-2 && value > 0) ? text(value, Dimension::Number, digits)
                                                               : QString::number(value, 'g', digits + 1);
    }
    return {};
}

QStringList tickTexts(const std::vector<double>& ticks, TickText how) {
    constexpr int most = 4;  // the margin has room for no more
    QStringList texts;
    for (int digits = 2; digits <= most; ++digits) {
        texts.clear();
        for (const double tick : ticks) texts << tickText(tick, how, digits);
        if (std::ranges::adjacent_find(texts) == texts.end()) break;
    }
    return texts;
}

void paintTimeTicks(QPainter& painter, PlotAxis axis, int y, int width) {
    axis.time = true;
    const std::vector<double> ticks = axis.ticks(90);
    const QStringList texts = tickTexts(ticks, TickText::Seconds);
    for (std::size_t i = 0; i < ticks.size(); ++i)
        paintTickLabel(painter, axis.position(ticks[i]), y, texts[static_cast<qsizetype>(i)], width);
}

QRectF PlotFrame::areaIn(const QSize& size) {
    const double scale = Theme::instance().scale();
    return QRectF(QPointF(56 * scale, (plotTitleHeight + 8) * scale),
                  QPointF(size.width() - 16, size.height() - 40 * scale));
}

void PlotFrame::paint(QPainter& painter, const PlotAxis& x, const PlotAxis& y, int width) const {
    const Palette& colours = Theme::instance().colours();
    paintPlotTitle(painter, title, width);
    painter.setFont(Theme::instance().font(FontRole::Small));
    const int line = painter.fontMetrics().height();
    PlotAxis across = x;
    across.time = xTicks == TickText::Seconds;
    const std::vector<double> xs = across.ticks(76), ys = y.ticks(34);
    const QStringList xTexts = tickTexts(xs, xTicks), yTexts = tickTexts(ys, yTicks);
    for (std::size_t i = 0; i < xs.size(); ++i) {
        const double at = x.position(xs[i]);
        painter.setPen(colours.faintLine);
        painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()));
        painter.setPen(colours.mutedText);
        paintTickLabel(painter, at, static_cast<int>(area.bottom()), xTexts[static_cast<qsizetype>(i)], width);
    }
    for (std::size_t i = 0; i < ys.size(); ++i) {
        const double at = y.position(ys[i]);
        painter.setPen(colours.faintLine);
        painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at));
        painter.setPen(colours.mutedText);
        painter.drawText(QRectF(0, at - line / 2.0, area.left() - 6, line), Qt::AlignRight | Qt::AlignVCenter,
                         yTexts[static_cast<qsizetype>(i)]);
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
