#include "widgets/serving/replica_lanes.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

constexpr double usual_iterations = 400;  ///< in sight at first

}  // namespace

ReplicaLanes::ReplicaLanes(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("serving.replicas.lanes"));
    setAccessibleName(tr("Iterations of the replicas"));
    setToolTip(
        tr("A bar per iteration; its height is the use of the KV cache (100 % is the fullest moment). Ctrl and wheel "
           "zoom, the wheel moves, a click moves the replay"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void ReplicaLanes::setRun(ServingRunPtr run) {
    run_ = std::move(run);
    batches_.clear();
    from_ = 0;
    to_ = 1;
    if (run_) {
        const BatchLog& log = run_->result.batches;
        batches_.resize(run_->fleet->replicas.size());
        for (std::uint32_t b = 0; b < log.size(); ++b) {
            const auto replica = static_cast<std::size_t>(log.replica[b]);
            if (replica >= batches_.size()) batches_.resize(replica + 1);
            batches_[replica].push_back(b);
        }
        for (auto& list : batches_) std::ranges::sort(list, {}, [&](std::uint32_t b) { return log.begin[b]; });
        const QFontMetricsF metrics(Theme::instance().font(FontRole::Small));
        names_ = 0;
        for (std::size_t r = 0; r < batches_.size() && r < 64; ++r)
            names_ = std::max(names_, metrics.horizontalAdvance(replicaName(*run_->fleet, r)));
        fullest_ = 1;
        for (const std::int64_t used : log.usedBlocks) fullest_ = std::max(fullest_, static_cast<double>(used));
        const double length = std::max(toSeconds(run_->result.end), 1e-9);
        const double each = length * static_cast<double>(std::max<std::size_t>(1, batches_.size())) /
                            static_cast<double>(std::max<std::size_t>(1, log.size()));
        to_ = std::min(length, each * usual_iterations);
        setAccessibleDescription(tr("%n iteration(s)", nullptr, static_cast<int>(log.size())));
    }
    update();
}

void ReplicaLanes::setTime(SimTime time) {
    time_ = time;
    const double at = toSeconds(time);
    const double wide = span();
    if (run_ && (at < from_ || at > to_ - 0.1 * wide)) {
        from_ = std::max(0.0, at - 0.3 * wide);
        to_ = from_ + wide;
    }
    update();
}

QRectF ReplicaLanes::lanes() const {
    const double scale = Theme::instance().scale();
    return QRectF(QPointF(std::clamp(names_ + 14, 96 * scale, 180 * scale), 4),
                  QPointF(width() - 12, height() - 20 * scale));
}

QString ReplicaLanes::nameBeside(std::size_t replica) const {
    // Widths are no whole numbers: a name that its own width is the room for is not shortened.
    const QFontMetricsF metrics(Theme::instance().font(FontRole::Small));
    return metrics.elidedText(replicaName(*run_->fleet, replica), Qt::ElideMiddle, lanes().left() - 13);
}

double ReplicaLanes::laneHeight() const {
    return lanes().height() / static_cast<double>(std::max<std::size_t>(1, batches_.size()));
}

SimTime ReplicaLanes::timeAt(double x) const {
    const QRectF area = lanes();
    const double share = std::clamp((x - area.left()) / area.width(), 0.0, 1.0);
    return std::min(toTicks(from_ + share * span()), run_ ? run_->result.end : SimTime{0});
}

int ReplicaLanes::batchAt(const QPointF& place) const {
    const QRectF area = lanes();
    if (!run_ || !area.contains(place)) return -1;
    const auto replica = static_cast<std::size_t>((place.y() - area.top()) / laneHeight());
    if (replica >= batches_.size()) return -1;
    const BatchLog& log = run_->result.batches;
    const SimTime time = timeAt(place.x());
    const auto& list = batches_[replica];
    auto next = std::ranges::upper_bound(list, time, {}, [&](std::uint32_t b) { return log.begin[b]; });
    if (next == list.begin()) return -1;
    const std::uint32_t b = *--next;
    return log.end[b] > time ? static_cast<int>(b) : -1;
}

void ReplicaLanes::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter.fillRect(rect(), colours.surface);
    if (!run_ || run_->result.batches.size() == 0)
        return paintEmptyPlot(painter, rect(), tr("Every iteration of every replica will appear here."));
    const QRectF area = lanes();
    const BatchLog& log = run_->result.batches;
    painter.setFont(theme.font(FontRole::Small));
    const double tall = laneHeight();
    const auto x = [&](SimTime time) { return area.left() + (toSeconds(time) - from_) / span() * area.width(); };
    const QColor prompt = theme.methodColour(1), decode = theme.methodColour(0);
    for (std::size_t r = 0; r < batches_.size(); ++r) {
        const QRectF lane(area.left(), area.top() + tall * static_cast<double>(r) + 1, area.width(),
                          std::max(1.0, tall - 3));
        if (tall >= painter.fontMetrics().height()) {
            painter.setPen(colours.text);
            painter.drawText(QRectF(8, lane.top(), area.left() - 14, lane.height()),
                             Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip, nameBeside(r));
        }
        painter.setPen(colours.faintLine);
        painter.drawLine(lane.bottomLeft(), lane.bottomRight());
        const auto& list = batches_[r];
        auto it = std::ranges::lower_bound(list, toTicks(from_), {}, [&](std::uint32_t b) { return log.end[b]; });
        double drawn = -1;  // bars narrower than half a pixel are left to their neighbour
        for (; it != list.end() && toSeconds(log.begin[*it]) < to_; ++it) {
            const double left = std::max(area.left(), x(log.begin[*it])),
                         right = std::min(area.right(), x(log.end[*it]));
            if (right <= drawn + 0.5) continue;
            const double share = static_cast<double>(log.usedBlocks[*it]) / fullest_;
            const double high = std::max(2.0, lane.height() * std::clamp(share, 0.04, 1.0));
            const QColor& colour = log.promptTokens[*it] > log.decodeTokens[*it] ? prompt : decode;
            painter.fillRect(
                QRectF(left, lane.bottom() - high, std::max(0.6, right - left - (right - left > 4 ? 1 : 0)), high),
                colour);
            if (log.preempted[*it] > 0)
                painter.fillRect(QRectF(left, lane.top(), std::max(1.5, right - left), 3), colours.bad);
            drawn = right;
        }
    }
    PlotAxis axis;
    axis.low = from_;
    axis.high = to_;
    axis.from = area.left();
    axis.to = area.right();
    axis.log = false;
    painter.setPen(colours.mutedText);
    paintTimeTicks(painter, axis, static_cast<int>(area.bottom()) - 2, width());
    const double at = x(time_);
    if (at >= area.left() && at <= area.right()) {
        painter.setPen(QPen(colours.accent, 1.5));
        painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()));
    }
}

void ReplicaLanes::mousePressEvent(QMouseEvent* event) {
    if (run_ && lanes().contains(event->position())) emit timeChosen(timeAt(event->position().x()));
}

void ReplicaLanes::wheelEvent(QWheelEvent* event) {
    if (!run_) return;
    const double length = std::max(toSeconds(run_->result.end), 1e-9);
    const double notches = event->angleDelta().y() / 120.0;
    if (event->modifiers() & Qt::ControlModifier) {
        const QRectF area = lanes();
        const double under = std::clamp((event->position().x() - area.left()) / area.width(), 0.0, 1.0);
        const double middle = from_ + under * span();
        const double wide = std::clamp(span() * std::pow(0.8, notches), length * 1e-6, length);
        from_ = std::clamp(middle - under * wide, 0.0, length - wide);
        to_ = from_ + wide;
    } else {
        const double wide = span();
        from_ = std::clamp(from_ - 0.15 * notches * wide, 0.0, std::max(0.0, length - wide));
        to_ = from_ + wide;
    }
    event->accept();
    update();
}

bool ReplicaLanes::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const int batch = batchAt(help->pos()); batch >= 0) {
            const BatchLog& log = run_->result.batches;
            const auto b = static_cast<std::size_t>(batch);
            QToolTip::showText(help->globalPos(),
                               tr("%1 at %2: %n sequence(s), %3 prompt and %4 decode tokens", nullptr, log.sequences[b])
                                   .arg(text(toSeconds(log.end[b] - log.begin[b]), Dimension::Time),
                                        text(toSeconds(log.begin[b]), Dimension::Time, 5))
                                   .arg(log.promptTokens[b])
                                   .arg(log.decodeTokens[b]),
                               this);
            return true;
        }
    }
    return QWidget::event(event);
}

}  // namespace orrery::ui
