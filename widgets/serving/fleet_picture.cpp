#include "widgets/serving/fleet_picture.h"

#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

constexpr double gap = 8;
constexpr double roomy = 118;  ///< height of a card with all its lanes
constexpr double compactHeight = 44;  ///< of a card with two bars, before the theme's scale
constexpr double narrowest = 230;     ///< width of one, before the theme's scale

QColor promptColour() {
    return Theme::instance().methodColour(1);
}
QColor decodeColour() {
    return Theme::instance().methodColour(0);
}

}  // namespace

FleetPicture::FleetPicture(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("serving.fleet"));
    setAccessibleName(tr("Replicas at work"));
    setToolTip(tr("Click a sequence to follow its request through all views"));
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

QSize FleetPicture::minimumSizeHint() const {
    const Theme& theme = Theme::instance();
    const int names = replays_.size() > 1 ? QFontMetrics(theme.font(FontRole::Body)).height() + 4 : 0;
    return {320, names + static_cast<int>(roomy * theme.scale() + 2 * gap)};
}

void FleetPicture::setReplays(std::vector<const Replay*> replays) {
    const bool named = replays_.size() > 1;
    replays_ = std::move(replays);
    if (named != (replays_.size() > 1)) updateGeometry();
    update();
}

void FleetPicture::setTime(SimTime time) {
    time_ = time;
    update();
}

void FleetPicture::setCurrent(RequestIndex request) {
    current_ = request;
    update();
}

void FleetPicture::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Palette& colours = Theme::instance().colours();
    painter.fillRect(rect(), colours.surface);
    marks_.clear();
    if (replays_.empty())
        return paintEmptyPlot(
            painter, rect(),
            tr("The replicas appear here, with the waiting requests and the contents of each iteration."));
    painter.setRenderHint(QPainter::Antialiasing);
    const double column =
        (width() - gap * static_cast<double>(replays_.size() + 1)) / static_cast<double>(replays_.size());
    for (std::size_t side = 0; side < replays_.size(); ++side) {
        const Replay& replay = *replays_[side];
        const double left = gap + static_cast<double>(side) * (column + gap);
        double top = gap;
        if (replays_.size() > 1) {
            QFont font = Theme::instance().font(FontRole::Body);
            font.setWeight(QFont::DemiBold);
            painter.setFont(font);
            painter.setPen(Theme::instance().methodColour(replay.run()->colour));
            painter.drawText(QPointF(left, top + painter.fontMetrics().ascent()), replay.run()->name);
            top += painter.fontMetrics().height() + 4;
        }
        // As many columns of cards as keep every card roomy; beyond that, cards become two bars.
        const std::size_t count = std::max<std::size_t>(1, replay.replicaCount());
        const double room = height() - top - gap;
        const double lane = roomy * Theme::instance().scale();
        std::size_t across = 1;
        const auto rowsFor = [&](std::size_t columns) { return (count + columns - 1) / columns; };
        while (across<count&& static_cast<double>(rowsFor(across)) * (lane + gap)> room &&
               column / static_cast<double>(across + 1) > narrowest * Theme::instance().scale())
            ++across;
        const bool compact = static_cast<double>(rowsFor(across)) * (lane * 0.8 + gap) > room;
        if (compact)
            across = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(std::sqrt(
                                                  static_cast<double>(count) * column / std::max(room, 1.0) / 2.5))));
        const double wide = (column - gap * static_cast<double>(across - 1)) / static_cast<double>(across);
        const double tall = std::min(compact ? compactHeight * Theme::instance().scale() : lane * 2.2,
                                     room / static_cast<double>(rowsFor(across)) - gap);
        for (std::size_t r = 0; r < count; ++r) {
            const QRectF card(left + static_cast<double>(r % across) * (wide + gap),
                              top + static_cast<double>(r / across) * (tall + gap), wide, tall);
            if (card.top() > height()) break;
            compact ? paintCompact(painter, card, replay, r) : paintReplica(painter, card, replay, r);
        }
    }
}

void FleetPicture::paintKv(QPainter& painter, const QRectF& bar, const Replay::ReplicaAt& now) const {
    const Palette& colours = Theme::instance().colours();
    const double share =
        now.totalBlocks > 0 ? static_cast<double>(now.usedBlocks) / static_cast<double>(now.totalBlocks) : 0;
    painter.fillRect(bar, colours.faintLine);
    painter.fillRect(QRectF(bar.topLeft(), QSizeF(bar.width() * std::clamp(share, 0.0, 1.0), bar.height())),
                     share > 0.95  ? colours.bad
                     : share > 0.8 ? colours.warning
                                   : colours.good);
}

void FleetPicture::paintCompact(QPainter& painter, const QRectF& card, const Replay& replay, std::size_t replica) {
    const Palette& colours = Theme::instance().colours();
    const Replay::ReplicaAt now = replay.at(replica, time_, 0);
    painter.setPen(colours.faintLine);
    painter.setBrush(now.busy ? colours.raised : colours.surface);
    painter.drawRoundedRect(card, 4, 4);
    painter.setFont(Theme::instance().font(FontRole::Small));
    painter.setPen(colours.text);
    const QString name = replicaName(*replay.run()->fleet, replica);
    const QString waiting = tr("%1 waiting").arg(now.waitingCount);
    const QRectF line = card.adjusted(6, 2, -6, 0);
    const auto& specs = replay.run()->fleet->replicas;
    const ReplicaSpec& spec = specs[std::min(replica, specs.size() - 1)];
    // Many small cards: the number of the replica and what it does, and its name where it fits.
    const QString number = QString::number(replica + 1);
    const double room = line.width() - painter.fontMetrics().horizontalAdvance(waiting) - 8;
    const bool named = painter.fontMetrics().horizontalAdvance(name) <= room;
    painter.drawText(line, Qt::AlignLeft | Qt::AlignTop, named                                ? name
                     : spec.role == ReplicaRole::Whole ? number
                                                       : QStringLiteral("%1 · %2").arg(number, qs(toText(spec.role))));
    painter.setPen(now.waitingCount > 0 ? colours.text : colours.mutedText);
    painter.drawText(line, Qt::AlignRight | Qt::AlignTop, waiting);
    // What runs on a host has no cache.
    if (spec.devices > 0)
        paintKv(painter, QRectF(card.left() + 6, card.bottom() - 10, card.width() - 12, 5), now);
    marks_.push_back({card, no_request, replicaName(*replay.run()->fleet, replica)});
}

void FleetPicture::paintReplica(QPainter& painter, const QRectF& card, const Replay& replay, std::size_t replica) {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    const Replay::ReplicaAt now = replay.at(replica, time_);
    const RequestStream& stream = *replay.run()->stream;
    painter.setPen(colours.faintLine);
    painter.setBrush(colours.window);
    painter.drawRoundedRect(card, 4, 4);

    painter.setFont(theme.font(FontRole::Small));
    const QFontMetrics metrics = painter.fontMetrics();
    const double line = metrics.height();
    double nameWidth = 0;
    for (const QString& name : {tr("Waiting"), tr("Prompts"), tr("Decodes"), tr("KV cache")})
        nameWidth = std::max(nameWidth, metrics.horizontalAdvance(name) + 14.0);
    const double numberWidth = std::max(metrics.horizontalAdvance(tr("%1 tokens").arg(countText(8888))),
                                        metrics.horizontalAdvance(tr("%n sequence(s)", nullptr, 888))) +
                               8.0;
    const QRectF inner = card.adjusted(8, 5, -8, -6);
    painter.setPen(colours.text);
    painter.drawText(QRectF(inner.left(), inner.top(), inner.width(), line), Qt::AlignLeft,
                     metrics.elidedText(replicaName(*replay.run()->fleet, replica), Qt::ElideRight,
                                        static_cast<int>(inner.width() * 0.6)));
    const BatchLog& log = replay.run()->result.batches;
    if (now.busy) {
        painter.setPen(colours.mutedText);
        const auto b = static_cast<std::size_t>(now.batch);
        painter.drawText(QRectF(inner.left(), inner.top(), inner.width(), line), Qt::AlignRight,
                         tr("iteration of %1").arg(ui::text(toSeconds(log.end[b] - log.begin[b]), Dimension::Time)));
    }
    const double lanesTop = inner.top() + line + 4;
    const double pitch = (inner.bottom() - lanesTop) / 4;
    const double thick = std::min(pitch - 3, 20.0 * theme.scale());
    const double left = inner.left() + nameWidth, wide = inner.width() - nameWidth - numberWidth;
    const auto lane = [&](int index, const QString& name, const QString& number) {
        const QRectF area(inner.left(), lanesTop + index * pitch, inner.width(), pitch);
        painter.setPen(colours.mutedText);
        painter.drawText(area, Qt::AlignLeft | Qt::AlignVCenter, name);
        painter.drawText(area, Qt::AlignRight | Qt::AlignVCenter, number);
        return QRectF(left, area.center().y() - thick / 2, wide, thick);
    };
    const auto box = [&](const QRectF& area, RequestIndex request, const QColor& fill, const QString& text) {
        painter.fillRect(area, fill);
        if (request == current_) {
            painter.setPen(QPen(colours.accent, 2));
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(area.adjusted(-1, -1, 1, 1));
        }
        marks_.push_back({area, request, text});
    };

    const auto arriving = static_cast<int>(now.arriving.size());
    const QRectF queue =
        lane(0, tr("Waiting"), arriving ? tr("%n arriving", nullptr, arriving) : QString::number(now.waitingCount));
    double x = queue.left();
    for (const RequestIndex r : now.waiting) {  // as long as their prompts
        const double size = std::clamp(stream.prompt[r] / 64.0, 4.0, 40.0);
        if (x + size > queue.right()) break;
        box(QRectF(x, queue.top(), size, queue.height()), r, colours.line,
            tr("Request %1 waits with %n prompt token(s)", nullptr, stream.prompt[r]).arg(r));
        x += size + 2;
    }
    for (const RequestIndex r : now.arriving) {
        const double size = std::clamp(stream.prompt[r] / 64.0, 4.0, 40.0);
        if (x + size > queue.right()) break;
        box(QRectF(x, queue.top(), size, queue.height()), r, theme.methodColour(4),
            tr("The KV cache of request %1 is being transferred here").arg(r));
        x += size + 2;
    }
    std::int64_t promptTokens = 0;
    int decodes = 0;
    for (const Replay::Member& member : now.members) {
        promptTokens += member.prompt ? member.tokens : 0;
        decodes += member.prompt ? 0 : 1;
    }
    const QRectF prompts = lane(
        1, tr("Prompts"), promptTokens ? tr("%1 tokens").arg(countText(static_cast<double>(promptTokens))) : QString());
    const auto budget = static_cast<double>(std::max<std::int64_t>(
        promptTokens, std::max(1, replay.run()
                                      ->fleet->replicas[std::min(replica, replay.run()->fleet->replicas.size() - 1)]
                                      .scheduler.tokenBudget)));
    const QRectF decoding = lane(2, tr("Decodes"), decodes ? tr("%n sequence(s)", nullptr, decodes) : QString());
    const double side = std::max(3.0, std::min(thick, decoding.width() / std::max(1, decodes) - 1.5));
    double px = prompts.left(), dx = decoding.left();
    for (const Replay::Member& member : now.members) {
        if (member.prompt) {
            const double size = std::max(3.0, prompts.width() * member.tokens / budget - 2);
            if (px + 3 > prompts.right()) continue;
            box(QRectF(px, prompts.top(), std::min(size, prompts.right() - px), prompts.height()), member.request,
                promptColour(),
                tr("Request %1 computes %n prompt token(s)", nullptr, member.tokens).arg(member.request));
            px += size + 2;
        } else if (dx + side <= decoding.right()) {
            box(QRectF(dx, decoding.top() + (thick - std::min(side, thick)) / 2, side, std::min(side, thick)),
                member.request, decodeColour(), tr("Request %1 decodes").arg(member.request));
            dx += side + 1.5;
        }
    }
    const double share =
        now.totalBlocks > 0 ? static_cast<double>(now.usedBlocks) / static_cast<double>(now.totalBlocks) : 0;
    QRectF kv = lane(3, tr("KV cache"), percentText(share));
    kv.adjust(0, kv.height() / 4, 0, -kv.height() / 4);
    paintKv(painter, kv, now);
    if (now.preempted > 0 && now.busy) {
        painter.setPen(colours.bad);
        painter.drawText(QRectF(inner.left(), inner.top(), inner.width(), line), Qt::AlignHCenter,
                         tr("%n preempted", nullptr, now.preempted));
    }
    if (now.busy) {
        painter.fillRect(QRectF(card.left() + 4, card.bottom() - 3, (card.width() - 8) * now.share, 2), colours.accent);
    }
}

RequestIndex FleetPicture::requestAt(const QPointF& place) const {
    for (const Mark& mark : marks_)
        if (mark.area.adjusted(-1, -2, 1, 2).contains(place)) return mark.request;
    return no_request;
}

void FleetPicture::mousePressEvent(QMouseEvent* event) {
    const RequestIndex request = requestAt(event->position());
    if (request == no_request) return QWidget::mousePressEvent(event);
    setCurrent(request);
    emit chosen(request);
}

bool FleetPicture::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        for (const Mark& mark : marks_) {
            if (!mark.area.contains(help->pos())) continue;
            QToolTip::showText(help->globalPos(), mark.text, this);
            return true;
        }
    }
    return QWidget::event(event);
}

}  // namespace orrery::ui
