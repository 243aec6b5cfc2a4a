#include "widgets/gpu/cycle_stack_view.h"

#include "widgets/common/picture_file.h"
#include "widgets/common/plot_axis.h"
#include "widgets/common/table_file.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"
#include "widgets/gpu/warp_colours.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <numeric>

namespace orrery::ui {

using gpusim::WarpState;

namespace {

constexpr double barHigh = 34, boundHigh = 16, gap = 6, nameHigh = 20, legendHigh = 20;

double sumOf(const CycleStackBar& bar) {
    return std::accumulate(bar.stack.begin(), bar.stack.end(), 0.0);
}

}  // namespace

CycleStackView::CycleStackView(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("gpu.stack"));
    setAccessibleName(tr("Cycles by cause"));
    setToolTip(tr("Where the cycles go, above the least that the roofline allows for the same work"));
    empty_ = tr("With a kernel on a GPU, this shows its cycles by cause, beside the roofline.");
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void CycleStackView::setBars(std::vector<CycleStackBar> bars) {
    bars_ = std::move(bars);
    QStringList said;
    for (const CycleStackBar& bar : bars_)
        said << tr("%1: %2 cycles, %3 per instruction").arg(bar.name, countText(bar.cycles)).arg(sumOf(bar), 0, 'f', 2);
    setAccessibleDescription(said.join(QStringLiteral("; ")));
    update();
}

void CycleStackView::clear(const QString& why) {
    bars_.clear();
    empty_ = why;
    setAccessibleDescription(why);
    update();
}

double CycleStackView::longest() const {
    double out = 1;
    for (const CycleStackBar& bar : bars_) out = std::max({out, bar.cycles, bar.compute, bar.memory()});
    return out;
}

double CycleStackView::barTop(std::size_t bar) const {
    return plotTitleHeight + 8 +
           static_cast<double>(bar) * (nameHigh + barHigh + 2 * (boundHigh + gap) + legendHigh + 3 * gap) *
               Theme::instance().scale() +
           nameHigh;
}

QRectF CycleStackView::partRect(std::size_t bar, WarpState state) const {
    if (bar >= bars_.size()) return {};
    const CycleStackBar& one = bars_[bar];
    const double all = sumOf(one), wide = (width() - 16) * one.cycles / longest();
    if (all <= 0) return {};
    double left = 8;
    for (std::size_t s = 1; s <= gpusim::warpStateCount; ++s) {
        // The idle rest comes last.
        const std::size_t at = s % gpusim::warpStateCount;
        const double part = wide * one.stack[at] / all;
        if (at == static_cast<std::size_t>(state)) return {left, barTop(bar), part, barHigh};
        left += part;
    }
    return {};
}

QString CycleStackView::memoryText(const CycleStackBar& bar) {
    const bool l2 = bar.l2 > bar.dram;
    const QString text = tr("roofline, memory, %1: %2 cycles").arg(l2 ? tr("L2") : tr("DRAM"), countText(bar.memory()));
    const double other = l2 ? bar.dram : bar.l2;
    return other > 0 ? tr("%1 (%2: %3)").arg(text, l2 ? tr("DRAM") : tr("L2"), countText(other)) : text;
}

void CycleStackView::paintBound(QPainter& painter, double top, double cycles, const QString& text,
                                const QColor& fill) const {
    if (cycles <= 0) return;
    const double wide = (width() - 16) * cycles / longest();
    painter.fillRect(QRectF(8, top, wide, boundHigh), fill);
    const double needed = painter.fontMetrics().horizontalAdvance(text) + 8;
    const bool inside = wide > needed;
    painter.setPen(inside ? Theme::instance().inkOn(fill) : Theme::instance().colours().text);
    painter.drawText(QRectF(inside ? 12 : 12 + wide, top, std::max(needed, width() - 24.0 - wide), boundHigh),
                     Qt::AlignVCenter | Qt::AlignLeft, text);
}

void CycleStackView::paint(QPainter& painter, const QRect& all) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter.fillRect(all, colours.surface);
    if (bars_.empty()) return paintEmptyPlot(painter, all, empty_);
    paintPlotTitle(painter, tr("Cycles by cause, and the roofline of the same work"), all.width());
    painter.setFont(theme.font(FontRole::Small));
    for (std::size_t b = 0; b < bars_.size(); ++b) {
        const CycleStackBar& bar = bars_[b];
        const double top = barTop(b);
        painter.setPen(colours.text);
        QString name = tr("%1: %2 cycles, %3 per instruction of a scheduler")
                           .arg(bar.name, countText(bar.cycles))
                           .arg(sumOf(bar), 0, 'f', 2);
        if (b > 0 && bars_[0].cycles > 0) name += tr(" (%1)").arg(signedPercentText(bar.cycles / bars_[0].cycles - 1));
        painter.drawText(QRectF(8, top - nameHigh, width() - 16, nameHigh), Qt::AlignVCenter | Qt::AlignLeft,
                         painter.fontMetrics().elidedText(name, Qt::ElideRight, width() - 16));
        double legend = 8;
        for (std::size_t s = 0; s < gpusim::warpStateCount; ++s) {
            const auto state = static_cast<WarpState>(s);
            const QRectF box = partRect(b, state);
            if (box.width() <= 0) continue;
            const QColor fill = state == WarpState::Absent ? colours.raised : warpColour(state);
            painter.fillRect(box.adjusted(0, 0, box.width() > 3 ? -1 : 0, 0), fill);
            const QString text =
                QStringLiteral("%1 %2").arg(warpText(state), percentText(bar.stack[s] / std::max(sumOf(bar), 1e-12)));
            const double needed = painter.fontMetrics().horizontalAdvance(text) + 8.0;
            if (needed > box.width()) {
                // What has no room in its part stands below, while there is room.
                const double line = top + barHigh + 2 * (gap + boundHigh) + gap / 2;
                if (legend + needed + 20 > width()) continue;
                painter.fillRect(QRectF(legend, line + (legendHigh - 9) / 2, 9, 9), fill);
                painter.setPen(colours.text);
                painter.drawText(QRectF(legend + 13, line, needed, legendHigh), Qt::AlignVCenter | Qt::AlignLeft, text);
                legend += needed + 20;
                continue;
            }
            painter.setPen(theme.inkOn(fill));
            painter.drawText(box, Qt::AlignCenter, text);
        }
        paintBound(painter, top + barHigh + gap, bar.compute,
                   tr("roofline, compute: %1 cycles").arg(countText(bar.compute)),
                   theme.boundColour({BoundKind::Compute, -1}));
        paintBound(painter, top + barHigh + 2 * gap + boundHigh, bar.memory(), memoryText(bar),
                   theme.boundColour({BoundKind::Memory, 0}));
    }
}

void CycleStackView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter, rect());
}

QString CycleStackView::textAt(const QPointF& place) const {
    for (std::size_t b = 0; b < bars_.size(); ++b) {
        for (std::size_t s = 0; s < gpusim::warpStateCount; ++s) {
            const auto state = static_cast<WarpState>(s);
            if (!partRect(b, state).contains(place)) continue;
            const double share = bars_[b].stack[s] / std::max(sumOf(bars_[b]), 1e-12);
            return tr("%1: %2 cycles per instruction, %3 of all; the warps of the scheduler: %4")
                .arg(warpText(state))
                .arg(bars_[b].stack[s], 0, 'f', 3)
                .arg(percentText(share), warpMeaning(state));
        }
    }
    return {};
}

bool CycleStackView::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const QString text = textAt(help->pos()); !text.isEmpty()) {
            QToolTip::showText(help->globalPos(), text, this);
            return true;
        }
    }
    return QWidget::event(event);
}

QString CycleStackView::exportTo(const QString& file) const {
    if (bars_.empty()) return tr("There is nothing to write yet");
    if (isTableFile(file)) {
        QByteArray rows = "design,cause,cycles_per_instruction,cycles\n";
        for (const CycleStackBar& bar : bars_) {
            const double all = std::max(sumOf(bar), 1e-12);
            for (std::size_t s = 0; s < gpusim::warpStateCount; ++s)
                rows += QStringLiteral("\"%1\",%2,%3,%4\n")
                            .arg(bar.name, warpText(static_cast<WarpState>(s)))
                            .arg(bar.stack[s])
                            .arg(bar.stack[s] / all * bar.cycles)
                            .toUtf8();
            rows += QStringLiteral("\"%1\",roofline compute,,%2\n\"%1\",roofline DRAM,,%3\n\"%1\",roofline L2,,%4\n")
                        .arg(bar.name)
                        .arg(bar.compute)
                        .arg(bar.dram)
                        .arg(bar.l2)
                        .toUtf8();
        }
        return writeTable(file, rows.toStdString());
    }
    return writePicture(file, size(), tr("Cycles by cause"),
                        [this](QPainter& painter, const QRect& all) { paint(painter, all); });
}

}  // namespace orrery::ui
