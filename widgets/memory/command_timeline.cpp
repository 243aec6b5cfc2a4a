#include "widgets/memory/command_timeline.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"

#include <QMouseEvent>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

constexpr double widestCommand = 40;  ///< pixels

bool isColumn(const RuledIssued& one) {
    return isRead(one.command) || isWrite(one.command);
}

}  // namespace

QString commandName(RuledCommand command) {
    switch (command) {
        case RuledCommand::Activate:
            return QStringLiteral("ACT");
        case RuledCommand::ActivateSecond:
            return QStringLiteral("ACT2");
        case RuledCommand::Precharge:
            return QStringLiteral("PRE");
        case RuledCommand::PrechargeAll:
            return QStringLiteral("PREA");
        case RuledCommand::Read:
            return QStringLiteral("RD");
        case RuledCommand::Write:
            return QStringLiteral("WR");
        case RuledCommand::RefreshAll:
            return QStringLiteral("REFab");
        case RuledCommand::RefreshBank:
            return QStringLiteral("REFpb");
        case RuledCommand::SyncRead:
            return QStringLiteral("CAS_RD");
        case RuledCommand::SyncWrite:
            return QStringLiteral("CAS_WR");
        case RuledCommand::ReadPrecharge:
            return QStringLiteral("RDA");
        case RuledCommand::WritePrecharge:
            return QStringLiteral("WRA");
    }
    return {};
}

std::vector<std::vector<OpenSpan>> openSpans(const CommandPicture& picture, std::int64_t end) {
    std::vector<std::vector<OpenSpan>> spans(picture.banks.size());
    std::vector<std::int64_t> opened(picture.banks.size(), -1);
    for (const RuledIssued& one : picture.issued) {
        const bool opens = one.command == RuledCommand::Activate;
        const bool itself = one.command == RuledCommand::ReadPrecharge || one.command == RuledCommand::WritePrecharge;
        const bool closes =
            itself || one.command == RuledCommand::Precharge || one.command == RuledCommand::PrechargeAll;
        if (!opens && !closes) continue;
        const std::int64_t at = one.cycle + (itself ? 1 : 0);
        const int reach = opens ? 1 : std::max(1, one.reach);
        for (int b = one.bank; b < one.bank + reach && b < static_cast<int>(spans.size()); ++b) {
            const auto bank = static_cast<std::size_t>(b);
            if (opened[bank] >= 0) spans[bank].push_back({opened[bank], at});
            opened[bank] = opens ? one.cycle : -1;
        }
    }
    for (std::size_t b = 0; b < spans.size(); ++b)
        if (opened[b] >= 0) spans[b].push_back({opened[b], end});
    return spans;
}

CommandTimeline::CommandTimeline(QWidget* parent)
    : FigureView(QStringLiteral("core.memory.timeline"), tr("Commands of every bank"),
                 tr("Banks over cycles; Ctrl and the wheel zoom, a drag moves, a double click shows all"),
                 tr("Choose a memory and its requests at the left. This then shows every command of every bank over "
                    "the cycles, with the data bus and what it waits for."),
                 parent) {}

void CommandTimeline::setPicture(CommandPicture picture) {
    picture_ = std::move(picture);
    holderNumber_.clear();
    end_ = 1;
    std::int64_t busy = 0;
    std::map<QString, std::int64_t> cycles;
    for (const RuledIssued& one : picture_.issued) {
        end_ = std::max(end_, one.cycle + 1);
        if (!isColumn(one)) continue;
        busy += picture_.burst;
        end_ = std::max(end_, dataFrom(one) + picture_.burst);
        if (one.heldBy >= 0 && one.heldBy < static_cast<int>(picture_.holders.size()))
            cycles[picture_.holders[static_cast<std::size_t>(one.heldBy)]] += one.held;
    }
    std::vector<std::pair<std::int64_t, QString>> order;
    for (const auto& [name, sum] : cycles) order.emplace_back(-sum, name);
    std::ranges::sort(order);
    for (const auto& [sum, name] : order) holderNumber_.emplace(name, static_cast<int>(holderNumber_.size()));
    busShare_ = static_cast<double>(busy) / static_cast<double>(end_ * std::max(picture_.buses, 1));
    spans_ = openSpans(picture_, end_);
    setAccessibleDescription(tr("%n command(s)", nullptr, static_cast<int>(picture_.issued.size())));
    fit();
}

std::int64_t CommandTimeline::dataFrom(const RuledIssued& one) const {
    return one.cycle + (isWrite(one.command) ? picture_.writeLag : picture_.readLag);
}

double CommandTimeline::openShare(int bank) const {
    std::int64_t open = 0;
    for (const OpenSpan& span : spans_[static_cast<std::size_t>(bank)]) open += span.to - span.from;
    return static_cast<double>(open) / static_cast<double>(end_);
}

int CommandTimeline::busOf(int bank) const {
    const int each = std::max(1, static_cast<int>(picture_.banks.size()) / std::max(picture_.buses, 1));
    return std::min(bank / each, std::max(picture_.buses, 1) - 1);
}

QRectF CommandTimeline::busArea() const {
    const double scale = Theme::instance().scale();
    const double high = 20 * scale * std::max(picture_.buses, 1);
    return {QPointF(116 * scale, height() - high - 6), QPointF(width() - 10, height() - 6)};
}

QRectF CommandTimeline::lanesArea() const {
    const double scale = Theme::instance().scale();
    return {QPointF(116 * scale, 62 * scale), QPointF(width() - 10, busArea().top() - 10)};
}

QRectF CommandTimeline::laneOf(int bank) const {
    const QRectF area = lanesArea();
    const double high = area.height() / static_cast<double>(std::max<std::size_t>(picture_.banks.size(), 1));
    return {area.left(), area.top() + bank * high, area.width(), high};
}

double CommandTimeline::x(double cycle) const {
    return lanesArea().left() + (cycle - from_) * cycleWidth_;
}

void CommandTimeline::fit() {
    whole_ = true;
    from_ = 0;
    cycleWidth_ = std::max(1.0, lanesArea().width()) / static_cast<double>(end_);
    update();
}

void CommandTimeline::keepInside() {
    const double area = std::max(1.0, lanesArea().width());
    const double least = area / static_cast<double>(end_);
    cycleWidth_ = std::clamp(cycleWidth_, least, std::max(least, widestCommand));
    from_ = std::clamp(from_, 0.0, std::max(0.0, static_cast<double>(end_) - area / cycleWidth_));
}

void CommandTimeline::zoomBy(double factor) {
    zoomAt(factor, lanesArea().center().x());
}

void CommandTimeline::zoomAt(double factor, double pixel) {
    if (isEmpty()) return;
    const double left = lanesArea().left(), cycle = from_ + (pixel - left) / cycleWidth_;
    cycleWidth_ *= factor;
    whole_ = false;
    keepInside();
    from_ = cycle - (pixel - left) / cycleWidth_;
    keepInside();
    update();
}

void CommandTimeline::resizeEvent(QResizeEvent* event) {
    FigureView::resizeEvent(event);
    if (isEmpty()) return;
    whole_ ? fit() : keepInside();
}

void CommandTimeline::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || isEmpty()) return event->ignore();
    held_ = true;
    pressed_ = event->position().x();
    pressedFrom_ = from_;
}

void CommandTimeline::mouseMoveEvent(QMouseEvent* event) {
    if (!held_) return;
    from_ = pressedFrom_ - (event->position().x() - pressed_) / cycleWidth_;
    keepInside();
    update();
}

void CommandTimeline::mouseReleaseEvent(QMouseEvent*) {
    held_ = false;
}

void CommandTimeline::mouseDoubleClickEvent(QMouseEvent*) {
    fit();
}

void CommandTimeline::wheelEvent(QWheelEvent* event) {
    if (isEmpty()) return event->ignore();
    const double notches = (event->angleDelta().y() + event->angleDelta().x()) / 120.0;
    if (event->modifiers() & Qt::ControlModifier) {
        zoomAt(std::pow(1.3, notches), event->position().x());
    } else {
        from_ -= notches * 60 / cycleWidth_;
        keepInside();
        update();
    }
    event->accept();
}

QString CommandTimeline::textAt(const QPointF& place) const {
    const QRectF lanes = lanesArea();
    if (place.x() < lanes.left()) {
        for (int b = 0; b < static_cast<int>(picture_.banks.size()); ++b) {
            const QRectF lane = laneOf(b);
            if (place.y() >= lane.top() && place.y() < lane.bottom())
                return tr("%1: a row was open for %2 of the time")
                    .arg(picture_.banks[static_cast<std::size_t>(b)], percentText(openShare(b)));
        }
        return {};
    }
    const double cycle = from_ + (place.x() - lanes.left()) / cycleWidth_;
    const double reach = std::max(1.0, 3 / cycleWidth_);
    const bool bus = busArea().contains(place);
    const RuledIssued* nearest = nullptr;
    double distance = reach;
    for (const RuledIssued& one : picture_.issued) {
        if (bus ? !isColumn(one) : false) continue;
        if (!bus) {
            const QRectF first = laneOf(one.bank), last = laneOf(one.bank + std::max(1, one.reach) - 1);
            if (place.y() < first.top() || place.y() >= last.bottom()) continue;
        }
        const double at = static_cast<double>(bus ? dataFrom(one) : one.cycle);
        const double span = bus ? static_cast<double>(picture_.burst) : 1;
        const double away = cycle < at ? at - cycle : cycle > at + span ? cycle - at - span : 0;
        if (away < distance) distance = away, nearest = &one;
    }
    const QString when = tr("cycle %1").arg(countText(std::floor(cycle)));
    if (!nearest) return when;
    QString said = tr("%1 to %2 in cycle %3")
                       .arg(commandName(nearest->command), picture_.banks[static_cast<std::size_t>(nearest->bank)],
                            countText(static_cast<double>(nearest->cycle)));
    if (nearest->heldBy >= 0 && nearest->heldBy < static_cast<int>(picture_.holders.size()))
        said += QLatin1Char('\n') + tr("the data bus waited %1 cycles before it for %2")
                                        .arg(nearest->held)
                                        .arg(picture_.holders[static_cast<std::size_t>(nearest->heldBy)]);
    return said;
}

QByteArray CommandTimeline::csv() const {
    QByteArray out = "cycle,command,bank,banks,held by,held cycles\n";
    for (const RuledIssued& one : picture_.issued) {
        addCell(out, QString::number(one.cycle));
        addCell(out, commandName(one.command));
        addCell(out, picture_.banks[static_cast<std::size_t>(one.bank)]);
        addCell(out, QString::number(one.reach));
        addCell(out, one.heldBy >= 0 && one.heldBy < static_cast<int>(picture_.holders.size())
                         ? picture_.holders[static_cast<std::size_t>(one.heldBy)]
                         : QString());
        addCell(out, QString::number(one.held), true);
    }
    return out;
}

}  // namespace orrery::ui
