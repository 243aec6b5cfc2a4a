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

QColor workColour(std::int32_t work) {
    const Theme& theme = Theme::instance();
    switch (work) {
        case SpanForward:
            return theme.operatorColour(OperatorKind::MatMul);
        case SpanBackward:
            return theme.operatorColour(OperatorKind::Attention);
        case SpanUpdate:
            return theme.operatorColour(OperatorKind::Elementwise);
        case SpanExchange:
            return theme.boundColour({BoundKind::Network, -1});
        default:
            return theme.boundColour({BoundKind::Overhead, -1});
    }
}

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

QColor stageColour(int stage, int stages) {
    const Theme& theme = Theme::instance();
    return stages <= 8 ? theme.methodColour(stage) : theme.heat(static_cast<double>(stage) / (stages - 1));
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
    setToolTip(tr("What each stage does over the step, and how much it keeps; Ctrl and the wheel zoom"));
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

void StepTimeline::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::instance().colours().surface);
    if (model_.empty() || lanes_.empty())
        return paintEmptyPlot(painter, rect(),
                              tr("What every stage does in the step, its bubbles and its memory will stand here."));
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
                QColor fill = workColour(work);
                const auto length = static_cast<double>(piece.end - piece.start);
                if (piece.count > 1 && length > 0)
                    fill.setAlphaF(static_cast<float>(std::clamp(static_cast<double>(piece.busy) / length, 0.25, 1.0)));
                const double gap = right - left > 4 ? 0.6 : 0;
                painter.fillRect(QRectF(left, into.top(), std::max(0.8, right - left - gap), into.height()), fill);
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
