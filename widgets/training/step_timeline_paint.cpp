// The painting of StepTimeline: lanes, memory, axis, legend.

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"
#include "widgets/plots/span_paint.h"
#include "widgets/training/step_timeline.h"

#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery::ui {

namespace {

QColor stageColour(int stage, int stages) {
    const Theme& theme = Theme::instance();
    return stages <= 8 ? theme.methodColour(stage) : theme.heat(static_cast<double>(stage) / (stages - 1));
}

}  // namespace

void StepTimeline::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::instance().colours().surface);
    if (model_.empty() || lanes_.empty())
        return paintEmptyPlot(painter, rect(), tr("Each stage over the step, its bubbles and its memory appear here."));
    paintLanes(painter);
    paintMemory(painter);
    paintAxis(painter);
    paintLegend(painter);
}

void StepTimeline::paintLanes(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    const QRectF area = lanesArea();
    const Timeline& timeline = data_.estimate->timeline;
    const auto from = static_cast<std::int64_t>(map_.from), to = static_cast<std::int64_t>(std::ceil(map_.to));
    const auto detail = static_cast<std::int64_t>(std::max(1.0, map_.perPixel()));
    painter.setFont(theme.font(FontRole::Small));
    const double high = laneHeight();
    const int every = std::max(1, static_cast<int>(std::ceil(painter.fontMetrics().height() / high)));
    painter.save();
    painter.setClipRect(QRectF(0, area.top(), width(), area.height()));
    for (int s = 0; s < stages(); ++s) {
        const QRectF lane = laneOf(s);
        if (lane.bottom() < area.top() || lane.top() > area.bottom()) continue;
        const QRectF bar(lane.left(), lane.top() + 1, lane.width(), std::max(4.0, high * 0.66 - 1));
        const QRectF strip(lane.left(), bar.bottom() + 1, lane.width(), std::max(2.0, high * 0.22));
        painter.fillRect(bar, colours.raised);
        if (s % every == 0) {
            painter.setPen(colours.mutedText);
            painter.drawText(QRectF(0, lane.top(), area.left() - 8, high), Qt::AlignRight | Qt::AlignVCenter,
                             tr("stage %1").arg(s));
        }
        for (const std::size_t row : lanes_[static_cast<std::size_t>(s)].rows) {
            model_.rows()[row].visit(from, to, detail, [&](const TimelinePiece& piece) {
                const std::int32_t work = piece.op;
                const QRectF& into = work == SpanExchange ? strip : bar;
                const double left = std::max(area.left(), map_.pixel(static_cast<double>(piece.start)));
                const double right = std::min(area.right(), map_.pixel(static_cast<double>(piece.end)));
                if (right < area.left() || left > area.right()) return;
                const double gap = right - left > 4 ? 0.6 : 0;
                painter.fillRect(QRectF(left, into.top(), std::max(0.8, right - left - gap), into.height()),
                                 pieceFill(piece, workColour(work)));
            });
        }
    }
    painter.restore();
    if (timeline.truncated) {
        painter.setPen(colours.warning);
        painter.drawText(QRectF(area.left(), area.bottom() - 2, area.width(), 14), Qt::AlignRight | Qt::AlignVCenter,
                         tr("only the first spans are drawn"));
    }
}

void StepTimeline::paintMemory(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    const QRectF area = memoryArea();
    const double most = top();
    const auto y = [&](double value) { return area.bottom() - area.height() * value / most; };
    PlotAxis axis;
    axis.low = 0;
    axis.high = most;
    axis.from = area.bottom();
    axis.to = area.top();
    axis.log = false;
    painter.setFont(theme.font(FontRole::Small));
    for (const double tick : axis.ticks(34)) {
        painter.setPen(colours.faintLine);
        painter.drawLine(QPointF(area.left(), y(tick)), QPointF(area.right(), y(tick)));
        painter.setPen(colours.mutedText);
        painter.drawText(QRectF(0, y(tick) - 9, area.left() - 6, 18), Qt::AlignRight | Qt::AlignVCenter,
                         tick == 0                  ? QStringLiteral("0")
                         : inBytes()                ? text(tick, Dimension::Data, 3)
                         : tick == std::floor(tick) ? QString::number(tick)
                                                    : QString());
    }
    painter.save();
    painter.setClipRect(area.adjusted(0, -2, 0, 2));
    painter.setRenderHint(QPainter::Antialiasing);
    for (int s = stages() - 1; s >= 0; --s) {
        const KeptCurve& curve = kept_[static_cast<std::size_t>(s)];
        QPolygonF line;
        line << QPointF(area.left(), y(amount(s, keptAt(s, map_.from))));
        double lastX = area.left(), lastY = line.back().y();
        for (const auto& [at, chunks] : curve.steps) {
            if (static_cast<double>(at) < map_.from) continue;
            const double x = map_.pixel(static_cast<double>(at));
            if (x > area.right()) break;
            const double now = y(amount(s, chunks));
            // Steps nearer than a third of a pixel would only fill it.
            if (x - lastX < 0.3 && std::abs(now - lastY) < 0.5) continue;
            line << QPointF(x, lastY) << QPointF(x, now);
            lastX = x;
            lastY = now;
        }
        line << QPointF(area.right(), lastY);
        painter.setPen(QPen(stageColour(s, stages()), 1.4));
        painter.setBrush(Qt::NoBrush);
        painter.drawPolyline(line);
    }
    painter.restore();
    if (inBytes() && !data_.held.empty() && data_.capacity > 0 && data_.capacity < most) {
        painter.setPen(QPen(colours.bad, 1.2, Qt::DashLine));
        painter.drawLine(QPointF(area.left(), y(data_.capacity)), QPointF(area.right(), y(data_.capacity)));
    }
    painter.setPen(colours.text);
    const QString title = inBytes() ? data_.held.empty() ? tr("activations kept by a device of each stage")
                                                         : tr("memory of a device of each stage")
                                    : tr("chunks of micro-batches whose activations a stage keeps");
    painter.drawText(QRectF(area.left(), area.top() - 15 * theme.scale(), area.width(), 14 * theme.scale()),
                     Qt::AlignLeft | Qt::AlignVCenter, title);
    paintStages(painter, area.left() + painter.fontMetrics().horizontalAdvance(title) + 16,
                area.top() - 15 * theme.scale());
    if (cursor_ < area.left() || cursor_ > area.right()) return;
    painter.setPen(QPen(colours.accent, 1));
    painter.drawLine(QPointF(cursor_, lanesArea().top()), QPointF(cursor_, area.bottom()));
}

// Which line is whose.
void StepTimeline::paintStages(QPainter& painter, double x, double y) const {
    const double high = 14 * Theme::instance().scale();
    const auto number = [&](int stage) {
        const QString name = QString::number(stage);
        const double wide = painter.fontMetrics().horizontalAdvance(name);
        painter.drawText(QRectF(x, y, wide + 2, high), Qt::AlignLeft | Qt::AlignVCenter, name);
        x += wide + 10;
    };
    if (stages() < 2) return;
    if (stages() <= 8) {
        for (int s = 0; s < stages(); ++s) {
            painter.fillRect(QRectF(x, y + high / 2 - 1.5, 12, 3), stageColour(s, stages()));
            x += 16;
            number(s);
        }
        return;
    }
    number(0);
    for (int i = 0; i < 32; ++i)
        painter.fillRect(QRectF(x - 4 + 2 * i, y + high / 2 - 1.5, 2, 3), Theme::instance().heat(i / 31.0));
    x += 66;
    number(stages() - 1);
}

void StepTimeline::paintAxis(QPainter& painter) const {
    painter.setFont(Theme::instance().font(FontRole::Small));
    painter.setPen(Theme::instance().colours().mutedText);
    const double y = memoryArea().bottom();
    for (const RulerTick& tick : rulerTicks(map_, 90))
        paintTickLabel(painter, map_.pixel(tick.time), static_cast<int>(y), tick.label, width());
}

void StepTimeline::paintLegend(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    painter.setFont(theme.font(FontRole::Small));
    const QFontMetricsF metrics(painter.font());
    double x = lanesArea().left();
    const std::array<std::pair<QColor, QString>, 5> kinds{{{workColour(SpanForward), tr("forward")},
                                                           {workColour(SpanBackward), tr("backward")},
                                                           {workColour(SpanUpdate), tr("optimizer")},
                                                           {workColour(SpanExchange), tr("gradients, parameters")},
                                                           {theme.colours().raised, tr("waiting")}}};
    for (const auto& [fill, name] : kinds) {
        const double wide = metrics.horizontalAdvance(name);
        if (x + wide + 14 > width()) return;
        painter.setPen(theme.colours().line);
        painter.setBrush(fill);
        painter.drawRect(QRectF(x, 9, 9, 9));
        painter.setPen(theme.colours().text);
        painter.drawText(QRectF(x + 14, 4, wide + 2, 20), Qt::AlignLeft | Qt::AlignVCenter, name);
        x += wide + 28;
    }
    if (x + metrics.horizontalAdvance(data_.source) + 12 > width()) return;
    painter.setPen(theme.colours().mutedText);
    painter.drawText(QRectF(x, 4, width() - x - 12, 20), Qt::AlignRight | Qt::AlignVCenter, data_.source);
}

}  // namespace orrery::ui
