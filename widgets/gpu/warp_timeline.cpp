#include "widgets/gpu/warp_timeline.h"

#include "simulation/gpu/recording_csv.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/table_file.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/gpu/warp_colours.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

constexpr double firstLook = 400, closest = 8;  // cycles
constexpr double stepZoom = 1.25;

}  // namespace

using gpusim::WarpSpan;
using gpusim::WarpState;

WarpTimeline::WarpTimeline(const QString& objectName, QWidget* parent) : QWidget(parent) {
    setObjectName(objectName);
    setAccessibleName(tr("Warps over time"));
    setToolTip(
        tr("What every warp does in every cycle. The wheel zooms, a drag moves, a click sets the "
           "cursor, Ctrl and a click show one instruction alone"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    empty_ = tr("With a kernel on a GPU, this shows what every warp of one multiprocessor does in every cycle.");
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void WarpTimeline::setRecording(RecordingPtr recording, const QString& title) {
    recording_ = std::move(recording);
    title_ = title;
    highlighted_ = -1;
    issues_.clear();
    if (recording_) {
        for (const auto& spans : recording_->warps) {
            for (const WarpSpan& span : spans)
                if (span.state == WarpState::Issue) issues_.push_back(span.begin);
        }
        std::ranges::sort(issues_);
        issues_.erase(std::ranges::unique(issues_).begin(), issues_.end());
    }
    cursor_ = issues_.empty() ? 0 : issues_.front();
    const double all = recording_ ? std::max<double>(1, static_cast<double>(recording_->recorded)) : 1;
    from_ = 0, length_ = std::min(all, firstLook);
    setAccessibleDescription(recording_ ? cursorText() : empty_);
    update();
}

void WarpTimeline::clear(const QString& why) {
    recording_.reset();
    empty_ = why;
    setAccessibleDescription(why);
    update();
}

void WarpTimeline::layRows() {
    rows_.clear();
    if (!recording_) return;
    const auto schedulers = static_cast<std::size_t>(std::max(1, recording_->schedulers));
    std::size_t shown = 0;
    for (const auto& spans : recording_->warps) shown += !spans.empty();
    const QRectF box = area();
    const double gap = 4;
    rowHeight_ = std::clamp(
        (box.height() - gap * static_cast<double>(schedulers)) / std::max(1.0, static_cast<double>(shown)), 1.0, 22.0);
    double top = box.top();
    for (std::size_t s = 0; s < schedulers; ++s) {
        for (std::size_t w = s; w < recording_->warps.size(); w += schedulers) {
            if (recording_->warps[w].empty()) continue;
            rows_.push_back({w, top});
            top += rowHeight_;
        }
        top += gap;
    }
}

QRectF WarpTimeline::area() const {
    const QFontMetricsF small(Theme::instance().font(FontRole::Small));
    const double left = small.horizontalAdvance(tr("scheduler 0")) + 12, line = small.height();
    return {left, 24 + line + 8, std::max(10.0, width() - left - 8), std::max(10.0, height() - 24 - 2 * line - 18)};
}

double WarpTimeline::xOf(double cycle) const {
    const QRectF box = area();
    return box.left() + (cycle - from_) / length_ * box.width();
}

double WarpTimeline::cycleAt(double x) const {
    const QRectF box = area();
    return from_ + (x - box.left()) / box.width() * length_;
}

QRectF WarpTimeline::rowOf(std::size_t warp) const {
    const_cast<WarpTimeline*>(this)->layRows();
    const auto found = std::ranges::find(rows_, warp, &Row::warp);
    if (found == rows_.end()) return {};
    const QRectF box = area();
    return {box.left(), found->top, box.width(), rowHeight_};
}

const WarpSpan* WarpTimeline::spanAt(std::size_t warp, qint64 cycle) const {
    const auto& spans = recording_->warps[warp];
    const auto after = std::ranges::upper_bound(spans, cycle, {}, [](const WarpSpan& s) { return qint64{s.begin}; });
    return after == spans.begin() ? nullptr : &*(after - 1);
}

void WarpTimeline::look(double from, double length, bool byPerson) {
    if (!recording_) return;
    const double all = std::max<double>(1, static_cast<double>(recording_->recorded));
    length = std::clamp(length, std::min(closest, all), all);
    from = std::clamp(from, 0.0, all - length);
    if (from == from_ && length == length_) return;
    from_ = from, length_ = length;
    update();
    if (byPerson) emit viewChanged(from_, length_);
}

void WarpTimeline::setView(double from, double length) {
    look(from, length, false);
}

void WarpTimeline::showAll() {
    if (recording_) look(0, static_cast<double>(recording_->recorded), true);
}

void WarpTimeline::showBusiest() {
    if (!recording_) return;
    const double length = std::min(length_, std::max(64.0, static_cast<double>(recording_->recorded) / 20));
    const auto at = recording_->busiest(static_cast<std::uint64_t>(std::max(1.0, length)));
    look(static_cast<double>(at), length, true);
    setCursor(static_cast<qint64>(at));
}

void WarpTimeline::setCursor(qint64 cycle) {
    if (!recording_) return;
    cycle = std::clamp<qint64>(cycle, 0, std::max<qint64>(0, static_cast<qint64>(recording_->recorded) - 1));
    if (static_cast<double>(cycle) < from_ || static_cast<double>(cycle) >= from_ + length_)
        look(static_cast<double>(cycle) - length_ / 4, length_, true);
    if (cycle == cursor_) return;
    cursor_ = cycle;
    setAccessibleDescription(cursorText());
    update();
    emit cursorMoved(cursor_);
}

void WarpTimeline::step(bool backwards) {
    if (backwards) {
        const auto at = std::ranges::lower_bound(issues_, cursor_, {}, [](std::uint32_t i) { return qint64{i}; });
        if (at != issues_.begin()) setCursor(*(at - 1));
    } else {
        const auto at = std::ranges::upper_bound(issues_, cursor_, {}, [](std::uint32_t i) { return qint64{i}; });
        if (at != issues_.end()) setCursor(*at);
    }
}

void WarpTimeline::setHighlighted(int instruction) {
    if (instruction == highlighted_) return;
    highlighted_ = instruction;
    update();
}

QString WarpTimeline::textAt(const QPointF& place) const {
    if (!recording_ || !area().contains(place)) return {};
    for (const Row& row : rows_) {
        if (place.y() < row.top || place.y() >= row.top + rowHeight_) continue;
        const auto cycle = static_cast<qint64>(std::floor(cycleAt(place.x())));
        const WarpSpan* span = spanAt(row.warp, cycle);
        if (!span || span->state == WarpState::Absent) return tr("cycle %1: no warp").arg(countText(double(cycle)));
        QString text = (recording_->lanes > 32 ? tr("cycle %1, wavefront %2: %3") : tr("cycle %1, warp %2: %3"))
                           .arg(countText(double(cycle)))
                           .arg(row.warp)
                           .arg(warpMeaning(span->state));
        if (span->instruction < recording_->instructions.size()) {
            const auto& one = recording_->instructions[span->instruction];
            text += QStringLiteral("\n%1  %2").arg(one.text.pc, 4, 16, QLatin1Char('0')).arg(qs(one.text.text));
        }
        return text;
    }
    return {};
}

QString WarpTimeline::cursorText() const {
    if (!recording_) return {};
    QStringList parts;
    const auto schedulers = static_cast<std::size_t>(std::max(1, recording_->schedulers));
    for (std::size_t s = 0; s < schedulers; ++s) {
        QString said;
        std::array<int, gpusim::warpStateCount> waits{};
        for (std::size_t w = s; w < recording_->warps.size(); w += schedulers) {
            const WarpSpan* span = spanAt(w, cursor_);
            if (!span) continue;
            ++waits[static_cast<std::size_t>(span->state)];
            if (span->state != WarpState::Issue || span->begin != static_cast<std::uint64_t>(cursor_)) continue;
            said = QStringLiteral("%1 (%2)").arg(qs(recording_->instructions[span->instruction].text.text)).arg(w);
        }
        if (said.isEmpty()) {
            std::size_t most = 0;
            for (std::size_t i = 1; i < waits.size(); ++i)
                if (waits[i] > (most ? waits[most] : 0)) most = i;
            said = most ? tr("waits: %1").arg(warpText(static_cast<WarpState>(most))) : tr("no warps");
        }
        parts << said;
    }
    return tr("cycle %1").arg(countText(static_cast<double>(cursor_))) + QStringLiteral(":  ") +
           parts.join(QStringLiteral("  ·  "));
}

void WarpTimeline::wheelEvent(QWheelEvent* event) {
    if (!recording_ || event->angleDelta().isNull()) return event->ignore();
    if (event->modifiers() & Qt::ShiftModifier ||
        std::abs(event->angleDelta().x()) > std::abs(event->angleDelta().y())) {
        const int delta = event->angleDelta().x() ? event->angleDelta().x() : event->angleDelta().y();
        look(from_ - delta / 120.0 * length_ / 8, length_, true);
    } else {
        const double at = cycleAt(event->position().x());
        const double factor = std::pow(stepZoom, -event->angleDelta().y() / 120.0);
        const double length = std::max(closest, length_ * factor);
        look(at - (at - from_) * length / length_, length, true);
    }
    event->accept();
}

void WarpTimeline::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !recording_) return event->ignore();
    held_ = true, dragged_ = false;
    pressed_ = event->position(), pressedFrom_ = from_;
}

void WarpTimeline::mouseMoveEvent(QMouseEvent* event) {
    if (!held_) return;
    const double by = event->position().x() - pressed_.x();
    if (!dragged_ && std::abs(by) < 4) return;
    dragged_ = true;
    look(pressedFrom_ - by / area().width() * length_, length_, true);
}

void WarpTimeline::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !held_) return;
    held_ = false;
    if (dragged_ || !area().contains(event->position())) return;
    const auto cycle = static_cast<qint64>(std::floor(cycleAt(event->position().x())));
    setCursor(cycle);
    if (!(event->modifiers() & Qt::ControlModifier)) return;
    for (const Row& row : rows_) {
        if (event->position().y() < row.top || event->position().y() >= row.top + rowHeight_) continue;
        const WarpSpan* span = spanAt(row.warp, cycle);
        const int what = span && span->state != WarpState::Absent ? static_cast<int>(span->instruction) : -1;
        setHighlighted(what == highlighted_ ? -1 : what);
        emit instructionChosen(highlighted_);
    }
}

void WarpTimeline::mouseDoubleClickEvent(QMouseEvent*) {
    showAll();
}

void WarpTimeline::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Left:
        case Qt::Key_Right:
            return step(event->key() == Qt::Key_Left);
        case Qt::Key_Home:
            return setCursor(0);
        case Qt::Key_End:
            return setCursor(recording_ ? static_cast<qint64>(recording_->recorded) : 0);
        case Qt::Key_Plus:
        case Qt::Key_Minus: {
            const double length = length_ * (event->key() == Qt::Key_Plus ? 0.5 : 2);
            const auto at = static_cast<double>(cursor_);
            return look(at - (at - from_) * length / length_, length, true);
        }
        case Qt::Key_B:
            return showBusiest();
        case Qt::Key_Escape:
            return setHighlighted(-1);
        default:
            event->ignore();
    }
}

bool WarpTimeline::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const QString text = textAt(help->pos()); !text.isEmpty()) {
            QToolTip::showText(help->globalPos(), text, this);
            return true;
        }
    }
    return QWidget::event(event);
}

QString WarpTimeline::exportTo(const QString& file) const {
    if (!recording_) return tr("There is nothing to write yet");
    if (isTableFile(file)) return writeTable(file, gpusim::warpsCsv(*recording_));
    return writePicture(file, size(), title_, [this](QPainter& painter, const QRect& all) { paint(painter, all); });
}

}  // namespace orrery::ui
