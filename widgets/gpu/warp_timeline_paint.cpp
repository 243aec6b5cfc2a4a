#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"
#include "widgets/gpu/warp_colours.h"
#include "widgets/gpu/warp_timeline.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

using gpusim::WarpSpan;
using gpusim::WarpState;

void WarpTimeline::paintEvent(QPaintEvent*) {
    layRows();
    QPainter painter(this);
    paint(painter, rect());
    if (hasFocus()) {
        painter.setPen(Theme::instance().colours().accent);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void WarpTimeline::paint(QPainter& painter, const QRect& all) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter.fillRect(all, colours.surface);
    if (!recording_) return paintEmptyPlot(painter, all, empty_);
    paintPlotTitle(painter, title_, all.width());
    painter.setFont(theme.font(FontRole::Small));
    paintLegend(painter, all);
    const QRectF box = area();
    painter.setPen(colours.mutedText);
    const auto schedulers = static_cast<std::size_t>(std::max(1, recording_->schedulers));
    for (std::size_t s = 0; s < schedulers; ++s) {
        double top = -1, bottom = 0;
        for (const Row& row : rows_) {
            if (row.warp % schedulers != s) continue;
            if (top < 0) top = row.top;
            bottom = row.top + rowHeight_;
        }
        if (top < 0) continue;
        painter.setPen(colours.mutedText);
        painter.drawText(QRectF(4, top, box.left() - 10, bottom - top), Qt::AlignVCenter | Qt::AlignLeft,
                         tr("scheduler %1").arg(s));
        painter.fillRect(QRectF(box.left() - 4, top, 2, bottom - top), colours.line);
    }
    painter.save();
    painter.setClipRect(box);
    for (const Row& row : rows_) paintRow(painter, row);
    // The cycle under the cursor, not only its beginning.
    const double at = xOf(static_cast<double>(cursor_)), wide = box.width() / length_;
    painter.setPen(QPen(colours.text, 1.5));
    painter.setBrush(Qt::NoBrush);
    if (wide > 6)
        painter.drawRect(QRectF(at, box.top(), wide, box.height()).adjusted(0.5, 0.5, -0.5, -0.5));
    else
        painter.drawLine(QPointF(at + wide / 2, box.top()), QPointF(at + wide / 2, box.bottom()));
    painter.restore();
    paintAxis(painter);
}

void WarpTimeline::paintRow(QPainter& painter, const Row& row) const {
    const QRectF box = area();
    const auto& spans = recording_->warps[row.warp];
    const double pad = rowHeight_ > 5 ? 1 : 0;
    const auto colourOf = [&](const WarpSpan& span) {
        QColor colour = warpColour(span.state);
        if (highlighted_ >= 0 && static_cast<int>(span.instruction) != highlighted_) colour.setAlphaF(0.12F);
        return colour;
    };
    const auto endOf = [&](std::size_t i) {
        return i + 1 < spans.size() ? double(spans[i + 1].begin) : static_cast<double>(recording_->recorded);
    };
    const auto first = std::ranges::upper_bound(spans, from_, {}, [](const WarpSpan& s) { return double(s.begin); });
    std::size_t i = first == spans.begin() ? 0 : static_cast<std::size_t>(first - spans.begin()) - 1;
    const double perPixel = length_ / box.width(), to = from_ + length_;
    if (perPixel < 1) {
        for (; i < spans.size() && spans[i].begin < to; ++i) {
            if (spans[i].state == WarpState::Absent) continue;
            const double left = xOf(spans[i].begin), right = xOf(endOf(i));
            const QRectF cell(left, row.top, right - left, rowHeight_ - pad);
            const QColor fill = colourOf(spans[i]);
            painter.fillRect(cell, fill);
            if (spans[i].state != WarpState::Issue || rowHeight_ < 11 || cell.width() < 24) continue;
            const QString text = qs(recording_->instructions[spans[i].instruction].text.text);
            const QString name = text.section(QLatin1Char(' '), 0, 0).section(QLatin1Char('.'), 0, 0);
            painter.setPen(Theme::instance().inkOn(fill));
            if (painter.fontMetrics().horizontalAdvance(name) + 2 < cell.width())
                painter.drawText(cell, Qt::AlignCenter, name);
        }
        return;
    }
    // Many cycles in one pixel: the state that holds longest in it, runs of the same as one.
    QColor run;
    double runFrom = box.left();
    const auto flush = [&](double x, const QColor& next) {
        if (next == run) return;
        if (run.isValid()) painter.fillRect(QRectF(runFrom, row.top, x - runFrom, rowHeight_ - pad), run);
        run = next, runFrom = x;
    };
    for (double x = box.left(); x < box.right(); x += 1) {
        const double a = from_ + (x - box.left()) * perPixel, b = a + perPixel;
        std::array<double, gpusim::warpStateCount> held{};
        double chosen = 0;
        while (i < spans.size() && endOf(i) <= a) ++i;
        for (std::size_t k = i; k < spans.size() && spans[k].begin < b; ++k) {
            const double cycles = std::min(b, endOf(k)) - std::max(a, double(spans[k].begin));
            held[static_cast<std::size_t>(spans[k].state)] += cycles;
            if (static_cast<int>(spans[k].instruction) == highlighted_) chosen += cycles;
        }
        const auto most = static_cast<std::size_t>(std::ranges::max_element(held) - held.begin());
        QColor colour;
        if (held[most] > 0 && most != 0) {
            colour = warpColour(static_cast<WarpState>(most));
            if (highlighted_ >= 0 && chosen < perPixel / 4) colour.setAlphaF(0.12F);
        }
        flush(x, colour);
    }
    flush(box.right(), QColor());
}

void WarpTimeline::paintAxis(QPainter& painter) const {
    const Palette& colours = Theme::instance().colours();
    const QRectF box = area();
    PlotAxis axis{from_, from_ + length_, box.left(), box.right(), false};
    painter.setFont(Theme::instance().font(FontRole::Small));
    for (const double tick : axis.ticks(110)) {
        if (tick < from_ || tick > from_ + length_) continue;
        const double x = xOf(tick);
        painter.setPen(colours.line);
        painter.drawLine(QPointF(x, box.bottom()), QPointF(x, box.bottom() + 4));
        painter.setPen(colours.mutedText);
        paintTickLabel(painter, x, static_cast<int>(box.bottom()) + 4, countText(tick), width());
    }
    painter.setPen(colours.mutedText);
    painter.drawText(QRectF(4, box.bottom() + 4, box.left() - 10, painter.fontMetrics().height()), Qt::AlignLeft,
                     tr("cycle"));
    if (recording_->recorded < recording_->cycles && from_ + length_ >= static_cast<double>(recording_->recorded)) {
        painter.setPen(colours.mutedText);
        painter.drawText(
            QRectF(box.left(), box.bottom() - painter.fontMetrics().height(), box.width() - 4, 20),
            Qt::AlignRight | Qt::AlignTop,
            tr("recorded until here; the kernel ends at %1").arg(countText(static_cast<double>(recording_->cycles))));
    }
}

// What was most common first; what has no room left is told on hover.
void WarpTimeline::paintLegend(QPainter& painter, const QRect& all) const {
    const Palette& colours = Theme::instance().colours();
    const QFontMetrics metrics = painter.fontMetrics();
    std::vector<std::size_t> order;
    double sum = 0;
    for (std::size_t s = 1; s < gpusim::warpStateCount; ++s) {
        if (recording_->warpCycles[s] == 0) continue;
        order.push_back(s);
        sum += static_cast<double>(recording_->warpCycles[s]);
    }
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return recording_->warpCycles[a] > recording_->warpCycles[b]; });
    int x = static_cast<int>(area().left());
    for (const std::size_t s : order) {
        const QString text = QStringLiteral("%1 %2").arg(
            warpText(static_cast<WarpState>(s)), percentText(static_cast<double>(recording_->warpCycles[s]) / sum));
        const int wide = metrics.horizontalAdvance(text) + 24;
        if (x + wide > all.width()) break;
        painter.fillRect(QRect(x, plotTitleHeight + 3, 9, 9), warpColour(static_cast<WarpState>(s)));
        painter.setPen(colours.text);
        painter.drawText(QRect(x + 13, plotTitleHeight - 1, wide, metrics.height() + 2), Qt::AlignVCenter, text);
        x += wide;
    }
}

}  // namespace orrery::ui
