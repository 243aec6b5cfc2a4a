// The painting of CommandTimeline: lanes, data bus, axis, legend.

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/memory/command_timeline.h"

#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery::ui {

namespace {

constexpr int mostHolders = 4;  ///< that have a colour of their own

QColor colourOf(RuledCommand command) {
    const Theme& theme = Theme::instance();
    switch (command) {
        case RuledCommand::Activate:
        case RuledCommand::ActivateSecond:
            return theme.methodColour(4);
        case RuledCommand::Precharge:
        case RuledCommand::PrechargeAll:
            return theme.colours().mutedText;
        case RuledCommand::Write:
        case RuledCommand::WritePrecharge:
        case RuledCommand::SyncWrite:
            return theme.methodColour(1);
        case RuledCommand::RefreshAll:
        case RuledCommand::RefreshBank:
            return theme.methodColour(3);
        default:
            return theme.methodColour(0);
    }
}

}  // namespace

// The first few by what they cost have a hue each; the rest share a grey.
QColor CommandTimeline::holderColour(int holder) const {
    static constexpr std::array<int, mostHolders> hues{6, 3, 2, 5};
    if (holder < 0 || holder >= static_cast<int>(picture_.holders.size())) return Theme::instance().colours().raised;
    const auto at = holderNumber_.find(picture_.holders[static_cast<std::size_t>(holder)]);
    const int number = at == holderNumber_.end() ? mostHolders : at->second;
    QColor colour = number < mostHolders ? Theme::instance().methodColour(hues[static_cast<std::size_t>(number)])
                                         : Theme::instance().colours().line;
    colour.setAlphaF(0.55F);
    return colour;
}

void CommandTimeline::paintFigure(QPainter& painter) const {
    paintLegend(painter);
    paintAxis(painter);
    paintLanes(painter);
    paintBus(painter);
}

void CommandTimeline::paintLanes(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    const QRectF area = lanesArea();
    const auto count = static_cast<int>(picture_.banks.size());
    painter.setFont(theme.font(FontRole::Small));
    const double line = painter.fontMetrics().height();
    const int every = std::max(1, static_cast<int>(std::ceil(line / (area.height() / std::max(count, 1)))));
    QColor open = colours.accent;
    open.setAlphaF(0.18F);
    for (int b = 0; b < count; ++b) {
        const QRectF lane = laneOf(b).adjusted(0, 0.5, 0, -0.5);
        painter.fillRect(lane, colours.raised);
        for (const OpenSpan& span : spans_[static_cast<std::size_t>(b)]) {
            const double left = std::max(area.left(), x(static_cast<double>(span.from)));
            const double right = std::min(area.right(), x(static_cast<double>(span.to)));
            if (right > left) painter.fillRect(QRectF(left, lane.top(), right - left, lane.height()), open);
        }
        if (b % every != 0) continue;
        painter.setPen(colours.mutedText);
        painter.drawText(
            QRectF(0, lane.center().y() - line / 2, area.left() - 8, line), Qt::AlignRight | Qt::AlignVCenter,
            picture_.banks[static_cast<std::size_t>(b)] + QStringLiteral("  ") + percentText(openShare(b)));
    }
    painter.save();
    painter.setClipRect(area);
    const double wide = std::max(1.0, cycleWidth_ - (cycleWidth_ > 5 ? 1 : 0));
    for (const RuledIssued& one : picture_.issued) {
        const double left = x(static_cast<double>(one.cycle));
        if (left + wide < area.left()) continue;
        if (left > area.right()) break;
        const QRectF first = laneOf(one.bank);
        const QRectF box(left, first.top() + 0.5, wide, first.height() * std::max(1, one.reach) - 1);
        painter.fillRect(box, colourOf(one.command));
        if (cycleWidth_ < 30 || first.height() < line) continue;
        painter.setPen(theme.inkOn(colourOf(one.command)));
        painter.drawText(box, Qt::AlignCenter, commandName(one.command));
    }
    painter.restore();
}

void CommandTimeline::paintBus(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    const QRectF area = busArea();
    const int buses = std::max(picture_.buses, 1);
    const double high = area.height() / buses;
    painter.setFont(theme.font(FontRole::Small));
    for (int bus = 0; bus < buses; ++bus) {
        const QRectF strip(area.left(), area.top() + bus * high, area.width(), high - 2);
        painter.fillRect(strip, colours.raised);
        painter.setPen(colours.text);
        painter.drawText(QRectF(0, strip.top(), area.left() - 8, strip.height()), Qt::AlignRight | Qt::AlignVCenter,
                         buses > 1 ? tr("data bus %1").arg(bus) : tr("data bus  %1").arg(percentText(busShare_)));
    }
    painter.save();
    painter.setClipRect(area);
    for (const RuledIssued& one : picture_.issued) {
        if (!isRead(one.command) && !isWrite(one.command)) continue;
        const double left = x(static_cast<double>(dataFrom(one)));
        const double right = left + std::max(0.8, cycleWidth_ * static_cast<double>(picture_.burst));
        if (right < area.left()) continue;
        const QRectF strip(area.left(), area.top() + busOf(one.bank) * high, area.width(), high - 2);
        if (one.held > 0) {
            const double from = left - cycleWidth_ * static_cast<double>(one.held);
            painter.fillRect(QRectF(from, strip.top(), left - from, strip.height()), holderColour(one.heldBy));
        }
        if (left > area.right()) continue;
        painter.fillRect(QRectF(left, strip.top(), right - left, strip.height()), colourOf(one.command));
    }
    painter.restore();
}

void CommandTimeline::paintAxis(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const QRectF area = lanesArea();
    painter.setFont(theme.font(FontRole::Small));
    const double least = painter.fontMetrics().horizontalAdvance(countText(static_cast<double>(end_))) + 30;
    double step = 1;
    for (int k = 0; step * cycleWidth_ < least; ++k) step *= k % 3 == 1 ? 2.5 : 2;
    for (double cycle = std::ceil(from_ / step) * step; x(cycle) < area.right(); cycle += step) {
        painter.setPen(theme.colours().line);
        painter.drawLine(QPointF(x(cycle), area.top() - 4), QPointF(x(cycle), area.top()));
        painter.setPen(theme.colours().mutedText);
        painter.drawText(QRectF(x(cycle) - least / 2, area.top() - 20, least, 14), Qt::AlignCenter, countText(cycle));
    }
    painter.drawText(QRectF(0, area.top() - 20, area.left() - 34, 14), Qt::AlignRight | Qt::AlignVCenter,
                     tr("bank, row open"));
}

void CommandTimeline::paintLegend(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    painter.setFont(theme.font(FontRole::Small));
    const QFontMetricsF metrics(painter.font());
    const double high = 18 * theme.scale();
    double at = 8, top = 2;
    const auto entry = [&](const QColor& fill, const QString& name) {
        const double wide = metrics.horizontalAdvance(name);
        if (at + wide + 16 > width()) return;
        painter.setPen(theme.colours().line);
        painter.setBrush(fill);
        painter.drawRect(QRectF(at, top + high / 2 - 4, 9, 9));
        painter.setPen(theme.colours().text);
        painter.drawText(QRectF(at + 14, top, wide + 2, high), Qt::AlignLeft | Qt::AlignVCenter, name);
        at += wide + 28;
    };
    QColor open = theme.colours().accent;
    open.setAlphaF(0.18F);
    entry(open, tr("row open"));
    entry(colourOf(RuledCommand::Activate), tr("activate"));
    entry(colourOf(RuledCommand::Precharge), tr("precharge"));
    entry(colourOf(RuledCommand::Read), tr("read"));
    entry(colourOf(RuledCommand::Write), tr("write"));
    entry(colourOf(RuledCommand::RefreshAll), tr("refresh"));
    at = 8, top += high;
    std::vector<std::pair<int, QString>> holders;
    for (const auto& [name, number] : holderNumber_) holders.emplace_back(number, name);
    std::ranges::sort(holders);
    if (!holders.empty()) {
        painter.setPen(theme.colours().mutedText);
        const QString head = tr("the data bus waits for:");
        painter.drawText(QRectF(at, top, metrics.horizontalAdvance(head) + 4, high), Qt::AlignLeft | Qt::AlignVCenter,
                         head);
        at += metrics.horizontalAdvance(head) + 12;
    }
    for (const auto& [number, name] : holders) {
        if (number >= mostHolders) break;
        const auto first = std::ranges::find(picture_.holders, name);
        entry(holderColour(static_cast<int>(first - picture_.holders.begin())), name);
    }
}

}  // namespace orrery::ui
