#include "widgets/training/step_timeline.h"

#include "methods/system/training/training_program.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace orrery::ui {

namespace {

constexpr double picosecond = 1e-12;

QString workName(std::int32_t work) {
    switch (work) {
        case SpanForward:
            return StepTimeline::tr("forward pass of a micro-batch");
        case SpanBackward:
            return StepTimeline::tr("backward pass of a micro-batch");
        case SpanUpdate:
            return StepTimeline::tr("optimizer");
        case SpanExchange:
            return StepTimeline::tr("gradients or parameters exchanged");
        default:
            return StepTimeline::tr("other work");
    }
}

}  // namespace

int stageOfRow(const std::string& row) {
    constexpr std::string_view word = "stage ";
    if (!row.starts_with(word)) return -1;
    int stage = -1;
    std::from_chars(row.data() + word.size(), row.data() + row.size(), stage);
    return stage;
}

std::vector<KeptCurve> keptCurves(const Timeline& timeline, const Plan& plan, std::int64_t microbatches) {
    std::vector<std::vector<const TimelineSpan*>> turns;
    for (const TimelineSpan& span : timeline.spans) {
        if (span.op != SpanForward && span.op != SpanBackward) continue;
        const int stage = stageOfRow(timeline.rows[static_cast<std::size_t>(span.row)]);
        if (stage < 0) continue;
        if (static_cast<std::size_t>(stage) >= turns.size()) turns.resize(static_cast<std::size_t>(stage) + 1);
        turns[static_cast<std::size_t>(stage)].push_back(&span);
    }
    std::vector<KeptCurve> curves;
    for (std::size_t s = 0; s < turns.size(); ++s) {
        std::ranges::stable_sort(turns[s], {}, &TimelineSpan::startPs);
        const auto steps = scheduleOf(plan, static_cast<std::int64_t>(s), microbatches);
        const bool known =
            steps && (steps->size() == turns[s].size() || (timeline.truncated && steps->size() > turns[s].size()));
        std::vector<std::pair<std::int64_t, std::int32_t>> changes;
        for (std::size_t k = 0; k < turns[s].size(); ++k) {
            const int by = known ? (*steps)[k].kept() : turns[s][k]->op == SpanForward ? 1 : -1;
            if (by != 0) changes.emplace_back(turns[s][k]->endPs, by);
        }
        // What is freed at the moment at which something is kept is not held beside it.
        std::ranges::sort(changes);
        KeptCurve curve;
        std::int32_t kept = 0;
        for (const auto& [at, by] : changes) {
            kept = std::max(0, kept + by);
            if (!curve.steps.empty() && curve.steps.back().first == at)
                curve.steps.back().second = kept;
            else
                curve.steps.emplace_back(at, kept);
            curve.most = std::max(curve.most, kept);
        }
        curves.push_back(std::move(curve));
    }
    return curves;
}

StepTimeline::StepTimeline(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("training.timeline"));
    setAccessibleName(tr("The step, stage by stage"));
    setToolTip(tr("Each stage over the step, and its memory; Ctrl and the wheel zoom"));
    setMouseTracking(true);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        layOut();
        update();
    });
}

void StepTimeline::setData(StepTimelineData data) {
    const bool same = data.estimate && data_.estimate && data.estimate->timeline.rows == data_.estimate->timeline.rows;
    data_ = std::move(data);
    model_ = data_.estimate ? TimelineModel(data_.estimate->timeline) : TimelineModel();
    lanes_.clear();
    kept_.clear();
    if (!model_.empty()) {
        const Timeline& timeline = data_.estimate->timeline;
        for (std::size_t row = 0; row < timeline.rows.size(); ++row) {
            const int stage = stageOfRow(timeline.rows[row]);
            if (stage < 0) continue;
            if (static_cast<std::size_t>(stage) >= lanes_.size()) lanes_.resize(static_cast<std::size_t>(stage) + 1);
            lanes_[static_cast<std::size_t>(stage)].rows.push_back(row);
        }
        kept_ = keptCurves(timeline, data_.plan, data_.microbatches);
        kept_.resize(lanes_.size());
    }
    setAccessibleDescription(tr("%n stage(s)", nullptr, stages()));
    if (!same) {
        whole_ = true;
        scroll_ = 0;
    }
    layOut();
    update();
}

void StepTimeline::fit() {
    whole_ = true;
    layOut();
    update();
}

QRectF StepTimeline::lanesArea() const {
    const double scale = Theme::instance().scale();
    const double top = 28 * scale, bottom = memoryArea().top() - 14 * scale;
    return QRectF(QPointF(70 * scale, top), QPointF(width() - 12, std::max(top + 10, bottom)));
}

QRectF StepTimeline::memoryArea() const {
    const double scale = Theme::instance().scale();
    const double bottom = height() - 22 * scale, high = std::max(48.0, (height() - 50 * scale) * 0.34);
    return QRectF(QPointF(70 * scale, bottom - high), QPointF(width() - 12, bottom));
}

double StepTimeline::laneHeight() const {
    const double fair = lanesArea().height() / std::max(1, stages());
    return std::clamp(fair, 12.0 * Theme::instance().scale(), 60.0 * Theme::instance().scale());
}

QRectF StepTimeline::laneOf(int stage) const {
    const QRectF area = lanesArea();
    return {area.left(), area.top() + laneHeight() * stage - scroll_, area.width(), laneHeight()};
}

void StepTimeline::layOut() {
    const QRectF area = lanesArea();
    map_.left = area.left();
    map_.width = std::max(1.0, area.width());
    const double most = std::max(0.0, laneHeight() * stages() - area.height());
    scroll_ = std::clamp(scroll_, 0.0, most);
    if (!whole_) return;
    map_.from = 0;
    map_.to = model_.empty() ? 1 : static_cast<double>(std::max<std::int64_t>(1, model_.end()));
}

double StepTimeline::amount(int stage, std::int32_t chunks) const {
    const auto at = static_cast<std::size_t>(stage);
    if (!inBytes()) return chunks;
    const double each = data_.chunk[std::min(at, data_.chunk.size() - 1)];
    const double held = data_.held.empty() ? 0 : data_.held[std::min(at, data_.held.size() - 1)];
    return held + each * chunks;
}

double StepTimeline::top() const {
    double most = 1e-9;
    for (int s = 0; s < stages(); ++s) most = std::max(most, amount(s, kept_[static_cast<std::size_t>(s)].most));
    if (inBytes() && !data_.held.empty() && data_.capacity > 0 && data_.capacity < 3 * most)
        most = std::max(most, data_.capacity);
    return most * 1.1;
}

std::int32_t StepTimeline::keptAt(int stage, double time) const {
    const auto& steps = kept_[static_cast<std::size_t>(stage)].steps;
    const auto after = std::ranges::upper_bound(steps, static_cast<std::int64_t>(time), {},
                                                &std::pair<std::int64_t, std::int32_t>::first);
    return after == steps.begin() ? 0 : (after - 1)->second;
}

QString StepTimeline::textAt(const QPointF& place) const {
    if (model_.empty()) return {};
    const double time = map_.time(place.x());
    if (place.x() < map_.left || place.x() > map_.left + map_.width) return {};
    const QString when = tr("at %1").arg(text(time * picosecond, Dimension::Time, 4));
    for (int s = 0; s < stages() && lanesArea().contains(place); ++s) {
        const QRectF lane = laneOf(s);
        if (!lane.contains(place)) continue;
        const bool strip = place.y() > lane.top() + laneHeight() * 0.68;
        QString said = tr("stage %1 %2").arg(s).arg(when);
        bool any = false;
        for (const std::size_t row : lanes_[static_cast<std::size_t>(s)].rows) {
            const std::int64_t at = model_.rows()[row].spanAt(static_cast<std::int64_t>(time));
            if (at < 0) continue;
            const TimelineSpan& span = data_.estimate->timeline.spans[static_cast<std::size_t>(at)];
            if (strip != (span.op == SpanExchange)) continue;
            any = true;
            said += QStringLiteral("\n%1, %2")
                        .arg(workName(span.op),
                             text(static_cast<double>(span.endPs - span.startPs) * picosecond, Dimension::Time));
        }
        if (!any) said += QLatin1Char('\n') + (strip ? tr("no exchange of gradients") : tr("waits"));
        return said;
    }
    if (!memoryArea().contains(place)) return {};
    QStringList said{when};
    for (int s = 0; s < std::min(stages(), 16); ++s) {
        const std::int32_t chunks = keptAt(s, time);
        said << (inBytes() ? tr("stage %1: %2, %3 chunks kept")
                                 .arg(s)
                                 .arg(text(amount(s, chunks), Dimension::Data))
                                 .arg(chunks)
                           : tr("stage %1: %2 chunks kept").arg(s).arg(chunks));
    }
    return said.join(QLatin1Char('\n'));
}

void StepTimeline::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    layOut();
}

void StepTimeline::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || model_.empty()) return event->ignore();
    panning_ = true;
    pressed_ = event->position();
    pressedMap_ = map_;
    pressedScroll_ = scroll_;
}

void StepTimeline::mouseMoveEvent(QMouseEvent* event) {
    if (panning_) {
        const QPointF by = event->position() - pressed_;
        if (by.manhattanLength() > 3) {
            map_ = pressedMap_;
            map_.pan(-by.x() * map_.perPixel(), 0, static_cast<double>(model_.end()));
            whole_ = false;
            scroll_ = pressedScroll_ - by.y();
            layOut();
        }
    }
    cursor_ = event->position().x();
    update();
}

void StepTimeline::mouseReleaseEvent(QMouseEvent*) {
    panning_ = false;
}

void StepTimeline::mouseDoubleClickEvent(QMouseEvent*) {
    fit();
}

void StepTimeline::wheelEvent(QWheelEvent* event) {
    if (model_.empty()) return event->ignore();
    const double notches = event->angleDelta().y() / 120.0;
    if (event->modifiers() & Qt::ControlModifier) {
        map_.zoom(std::pow(1.25, notches), event->position().x(), 0, static_cast<double>(model_.end()));
        whole_ = false;
    } else {
        scroll_ -= notches * 2 * laneHeight();
    }
    layOut();
    update();
    event->accept();
}

void StepTimeline::leaveEvent(QEvent* event) {
    QWidget::leaveEvent(event);
    cursor_ = -1;
    update();
}

bool StepTimeline::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString said = textAt(help->pos());
    if (said.isEmpty()) return QWidget::event(event);
    QToolTip::showText(help->globalPos(), said, this);
    return true;
}

}  // namespace orrery::ui
