// The painting of PipelineView: rows, ports, axis, legend.

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/core/pipeline_view.h"

#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery::ui {

namespace {

QColor colourOf(PipelineStage stage) {
    const Theme& theme = Theme::instance();
    switch (stage) {
        case PipelineStage::FrontEnd:
            return theme.methodColour(0);
        case PipelineStage::Waits:
            return theme.methodColour(4);
        case PipelineStage::Executes:
            return theme.methodColour(2);
        case PipelineStage::Done: {
            QColor faint = theme.colours().mutedText;
            faint.setAlphaF(0.35F);
            return faint;
        }
        default:
            return theme.colours().surface;
    }
}

}  // namespace

void PipelineView::paintFigure(QPainter& painter) const {
    paintLegend(painter);
    paintAxis(painter);
    paintRows(painter);
    paintPorts(painter);
}

void PipelineView::paintRows(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    const QRectF area = rowsArea();
    const double rows = static_cast<double>(picture_.rows.size());
    const bool named = rowHeight_ >= 9;
    QFont font = theme.font(FontRole::Mono);
    if (rowHeight_ < 15) font.setPixelSize(std::max(7, static_cast<int>(rowHeight_) - 1));
    painter.setFont(font);
    painter.save();
    painter.setClipRect(QRectF(0, area.top(), width(), area.height()));
    // Where many rows share a pixel, one of them stands for all.
    const double step = std::max(1.0, std::floor(0.6 / rowHeight_));
    for (double r = std::floor(std::max(0.0, top_) / step) * step; r < rows; r += step) {
        const double top = y(r);
        if (top > area.bottom()) break;
        const PipelineRow& row = picture_.rows[static_cast<std::size_t>(r)];
        const pipeline::Passage& at = row.passage;
        const double high = std::max(1.0, rowHeight_ * step - (rowHeight_ > 4 ? 1 : 0));
        const auto part = [&](std::uint64_t from, std::uint64_t to, PipelineStage stage) {
            const double left = std::max(area.left(), x(static_cast<double>(from)));
            const double right = std::min(area.right(), x(static_cast<double>(to)));
            if (right > left) painter.fillRect(QRectF(left, top, right - left, high), colourOf(stage));
        };
        part(at.fetch, at.dispatch, PipelineStage::FrontEnd);
        part(at.dispatch, at.issue, PipelineStage::Waits);
        part(at.issue, at.complete, PipelineStage::Executes);
        part(at.complete, at.retire, PipelineStage::Done);
        if (!named) continue;
        painter.setPen(stageAt(at, cycle_) == PipelineStage::Before || stageAt(at, cycle_) == PipelineStage::Retired
                           ? colours.mutedText
                           : colours.text);
        painter.drawText(
            QRectF(8, top, area.left() - 14, rowHeight_), Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(row.text, Qt::ElideRight, static_cast<int>(area.left() - 14)));
        if (at.port >= 0 && cycleWidth_ * static_cast<double>(at.complete - at.issue) > 16 &&
            at.port < static_cast<int>(picture_.portNames.size())) {
            const QRectF box = boxOf(static_cast<int>(r));
            painter.setPen(theme.inkOn(colourOf(PipelineStage::Executes)));
            painter.drawText(box.intersected(area), Qt::AlignCenter,
                             picture_.portNames[static_cast<std::size_t>(at.port)]);
        }
    }
    painter.restore();
    if (named) return;
    painter.setFont(theme.font(FontRole::Small));
    painter.setPen(colours.mutedText);
    const double shown = std::min(rows, top_ + area.height() / rowHeight_);
    const auto number = [&](double row) { return countText(static_cast<double>(picture_.first) + row); };
    painter.drawText(QRectF(0, area.top(), area.left() - 6, 16), Qt::AlignRight, number(std::floor(top_)));
    painter.drawText(QRectF(0, area.bottom() - 16, area.left() - 6, 16), Qt::AlignRight | Qt::AlignBottom,
                     number(std::floor(shown - 1)));
}

void PipelineView::paintPorts(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    const QRectF rows = rowsArea(), area = portsArea();
    const auto count = static_cast<int>(picture_.portNames.size());
    if (count == 0) return;
    const double high = area.height() / count;
    QFont font = theme.font(FontRole::Small);
    font.setPixelSize(std::clamp(static_cast<int>(high) - 1, 6, font.pixelSize() > 0 ? font.pixelSize() : 11));
    painter.setFont(font);
    painter.setPen(colours.mutedText);
    for (int p = 0; p < count; ++p) {
        const double top = area.top() + p * high;
        painter.fillRect(QRectF(rows.left(), top, rows.width(), high - 1), colours.raised);
        painter.drawText(QRectF(0, top, rows.left() - 6, high), Qt::AlignRight | Qt::AlignVCenter,
                         picture_.portNames[static_cast<std::size_t>(p)]);
    }
    painter.save();
    painter.setClipRect(QRectF(rows.left(), area.top(), rows.width(), area.height()));
    const QColor busy = colourOf(PipelineStage::Executes);
    for (const PipelineRow& row : picture_.rows) {
        if (row.passage.port < 0 || row.passage.port >= count) continue;
        const double left = x(static_cast<double>(row.passage.issue));
        const double wide = cycleWidth_ * std::max(1, row.occupancy);
        if (left + wide < rows.left() || left > rows.right()) continue;
        const QRectF cell = portCell(row.passage.port, row.passage.issue);
        const double gap = cycleWidth_ > 4 ? 1 : 0;
        painter.fillRect(QRectF(left, cell.top(), std::max(0.6, wide - gap), high - 1), busy);
    }
    painter.restore();
    // The marked cycle, over both.
    const double at = x(static_cast<double>(cycle_));
    if (at < rows.left() - 1 || at > rows.right()) return;
    QColor band = colours.accent;
    band.setAlphaF(0.22F);
    painter.fillRect(QRectF(at, rows.top(), std::max(1.0, cycleWidth_), area.bottom() - rows.top()), band);
    painter.setPen(colours.accent);
    painter.drawLine(QPointF(at, rows.top()), QPointF(at, area.bottom()));
}

void PipelineView::paintAxis(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const QRectF area = rowsArea();
    painter.setFont(theme.font(FontRole::Small));
    const QFontMetricsF metrics(painter.font());
    const double least = metrics.horizontalAdvance(countText(static_cast<double>(lastCycle_))) + 24;
    double step = 1;
    for (int k = 0; step * cycleWidth_ < least; ++k) step = (k % 3 == 1 ? 2.5 : 2) * step;
    for (double cycle = std::ceil(from_ / step) * step; x(cycle) < area.right(); cycle += step) {
        painter.setPen(theme.colours().faintLine);
        painter.drawLine(QPointF(x(cycle), area.top() - 4), QPointF(x(cycle), area.bottom()));
        painter.setPen(theme.colours().mutedText);
        painter.drawText(QRectF(x(cycle) - least / 2, area.top() - 18, least, 14), Qt::AlignCenter, countText(cycle));
    }
    painter.drawText(QRectF(8, area.top() - 18, area.left() - least / 2 - 14, 14), Qt::AlignRight | Qt::AlignVCenter, tr("cycle"));
}

void PipelineView::paintLegend(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    painter.setFont(theme.font(FontRole::Small));
    const QFontMetricsF metrics(painter.font());
    const std::array<std::pair<PipelineStage, QString>, 4> stages{
        {{PipelineStage::FrontEnd, tr("front end")},
         {PipelineStage::Waits, tr("waits for sources or a port")},
         {PipelineStage::Executes, tr("executes")},
         {PipelineStage::Done, tr("done, waits to retire in order")}}};
    double at = 8;
    const double high = 20 * theme.scale();
    for (const auto& [stage, name] : stages) {
        const double wide = metrics.horizontalAdvance(name);
        if (at + wide + 16 > width()) return;
        painter.setPen(theme.colours().line);
        painter.setBrush(colourOf(stage));
        painter.drawRect(QRectF(at, high / 2 - 4, 9, 9));
        painter.setPen(theme.colours().text);
        painter.drawText(QRectF(at + 14, 0, wide + 2, high), Qt::AlignLeft | Qt::AlignVCenter, name);
        at += wide + 30;
    }
}

}  // namespace orrery::ui
