#include "widgets/core/pipeline_view.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

constexpr double widestCycle = 48, narrowestCycle = 0.02, highestRow = 26, lowestRow = 0.1;  ///< pixels

}  // namespace

PipelineStage stageAt(const pipeline::Passage& passage, std::uint64_t cycle) {
    if (cycle < passage.fetch) return PipelineStage::Before;
    if (cycle < passage.dispatch) return PipelineStage::FrontEnd;
    if (cycle < passage.issue) return PipelineStage::Waits;
    if (cycle < passage.complete) return PipelineStage::Executes;
    if (cycle < passage.retire) return PipelineStage::Done;
    return PipelineStage::Retired;
}

PipelineView::PipelineView(QWidget* parent)
    : FigureView(
          QStringLiteral("core.pipeline.view"), tr("Operations over cycles"),
          tr("Each row is an operation; the wheel follows them, with Ctrl it zooms; a click marks a cycle, arrows "
             "step it"),
          tr("Choose a kernel and a core at the left. Every operation then has a row, from fetch to retirement, with "
             "the ports below."),
          parent) {
    setFocusPolicy(Qt::StrongFocus);
}

void PipelineView::setPicture(PipelinePicture picture) {
    const bool first = isEmpty();
    picture_ = std::move(picture);
    firstCycle_ = lastCycle_ = 0;
    if (!picture_.rows.empty()) {
        firstCycle_ = picture_.rows.front().passage.fetch;
        for (const PipelineRow& row : picture_.rows) {
            firstCycle_ = std::min(firstCycle_, row.passage.fetch);
            lastCycle_ = std::max(lastCycle_, row.passage.retire);
        }
    }
    setAccessibleDescription(tr("%n operation(s)", nullptr, static_cast<int>(picture_.rows.size())));
    cycle_ = std::clamp(cycle_, firstCycle_, lastCycle_);
    top_ = 0;
    from_ = static_cast<double>(firstCycle_);
    if (first) {
        cycleWidth_ = 8;
        rowHeight_ = QFontMetricsF(Theme::instance().font(FontRole::Mono)).height() + 2;
    }
    whole_ ? fit() : keepInside();
    update();
    emit cycleChanged(cycle_);
}

QRectF PipelineView::rowsArea() const {
    const double scale = Theme::instance().scale();
    const double names = rowHeight_ >= 9 ? std::min(270 * scale, width() * 0.3) : 64 * scale;
    return {QPointF(names, 46 * scale), QPointF(width() - 8, portsArea().top() - 8)};
}

QRectF PipelineView::portsArea() const {
    const double scale = Theme::instance().scale();
    const double ports = static_cast<double>(std::max<std::size_t>(picture_.portNames.size(), 1));
    const double high = std::min(14 * scale * ports, height() * 0.35);
    return {QPointF(0, height() - high - 4), QPointF(width() - 8, height() - 4)};
}

double PipelineView::diagonal(double row) const {
    const auto at = static_cast<std::size_t>(std::clamp(row, 0.0, static_cast<double>(picture_.rows.size() - 1)));
    return static_cast<double>(picture_.rows[at].passage.fetch);
}

void PipelineView::keepInside() {
    if (isEmpty()) return;
    const QRectF area = rowsArea();
    const double rows = std::max(area.height() / rowHeight_, 1.0);
    const double cycles = std::max(area.width() / cycleWidth_, 1.0);
    top_ = std::clamp(top_, 0.0, std::max(0.0, static_cast<double>(picture_.rows.size()) - rows));
    const double last = static_cast<double>(lastCycle_ + 2) - std::min(cycles, 8.0);
    from_ = std::clamp(from_, static_cast<double>(firstCycle_), std::max(static_cast<double>(firstCycle_), last));
}

void PipelineView::fit() {
    whole_ = true;
    if (isEmpty()) return;
    // Twice: names take less room where rows are low.
    for (int pass = 0; pass < 2; ++pass) {
        const QRectF area = rowsArea();
        rowHeight_ = std::clamp(area.height() / static_cast<double>(picture_.rows.size()), lowestRow, highestRow);
        cycleWidth_ =
            std::clamp(area.width() / static_cast<double>(lastCycle_ - firstCycle_ + 2), narrowestCycle, widestCycle);
    }
    top_ = 0;
    from_ = static_cast<double>(firstCycle_);
    update();
}

void PipelineView::zoomBy(double factor) {
    zoomAt(factor, rowsArea().center());
}

void PipelineView::zoomAt(double factor, const QPointF& place) {
    if (isEmpty()) return;
    whole_ = false;
    const double cycle = cycleAt(place.x()), row = top_ + (place.y() - rowsArea().top()) / rowHeight_;
    cycleWidth_ = std::clamp(cycleWidth_ * factor, narrowestCycle, widestCycle);
    rowHeight_ = std::clamp(rowHeight_ * factor, lowestRow, highestRow);
    from_ = cycle - (place.x() - rowsArea().left()) / cycleWidth_;
    top_ = row - (place.y() - rowsArea().top()) / rowHeight_;
    keepInside();
    update();
}

void PipelineView::setCycle(std::uint64_t cycle) {
    if (isEmpty()) return;
    cycle = std::clamp(cycle, firstCycle_, lastCycle_);
    if (cycle != cycle_) {
        cycle_ = cycle;
        emit cycleChanged(cycle_);
    }
    const QRectF area = rowsArea();
    const double at = x(static_cast<double>(cycle_));
    if (at < area.left() || at > area.right() - 2 * cycleWidth_) {
        from_ = static_cast<double>(cycle_) - area.width() / cycleWidth_ * 0.4;
        // The rows that are under way then.
        const auto row = std::ranges::find_if(picture_.rows,
                                              [this](const PipelineRow& each) { return each.passage.retire > cycle_; });
        top_ = std::max(0.0, static_cast<double>(row - picture_.rows.begin()) - 2);
        keepInside();
    }
    update();
}

QString PipelineView::cycleText() const {
    if (isEmpty()) return {};
    int front = 0, waits = 0, executes = 0, done = 0, retires = 0;
    QStringList ports;
    std::vector<bool> busy(picture_.portNames.size());
    for (const PipelineRow& row : picture_.rows) {
        const PipelineStage stage = stageAt(row.passage, cycle_);
        front += stage == PipelineStage::FrontEnd;
        waits += stage == PipelineStage::Waits;
        executes += stage == PipelineStage::Executes;
        done += stage == PipelineStage::Done;
        retires += row.passage.retire == cycle_;
        const int port = row.passage.port;
        if (port >= 0 && port < static_cast<int>(busy.size()) && row.passage.issue <= cycle_ &&
            cycle_ < row.passage.issue + static_cast<std::uint64_t>(row.occupancy))
            busy[static_cast<std::size_t>(port)] = true;
    }
    for (std::size_t p = 0; p < busy.size(); ++p)
        if (busy[p]) ports << picture_.portNames[p];
    return tr("cycle %1: %2 in the front end, %3 wait, %4 execute, %5 done, %6 retire; busy: %7")
        .arg(countText(static_cast<double>(cycle_)))
        .arg(front)
        .arg(waits)
        .arg(executes)
        .arg(done)
        .arg(retires)
        .arg(ports.isEmpty() ? tr("no port") : ports.join(QLatin1Char(' ')));
}

QRectF PipelineView::boxOf(int row) const {
    const pipeline::Passage& at = picture_.rows[static_cast<std::size_t>(row)].passage;
    const double left = x(static_cast<double>(at.issue)), right = x(static_cast<double>(at.complete));
    return {left, y(row), std::max(1.0, right - left), rowHeight_};
}

QRectF PipelineView::portCell(int port, std::uint64_t cycle) const {
    const QRectF area = portsArea();
    const double high = area.height() / static_cast<double>(std::max<std::size_t>(picture_.portNames.size(), 1));
    return {x(static_cast<double>(cycle)), area.top() + port * high, cycleWidth_, high};
}

QString PipelineView::textAt(const QPointF& place) const {
    const QRectF area = rowsArea();
    if (place.y() < area.top() || place.y() > area.bottom()) return {};
    const auto row = static_cast<std::int64_t>(std::floor(top_ + (place.y() - area.top()) / rowHeight_));
    if (row < 0 || row >= static_cast<std::int64_t>(picture_.rows.size())) return {};
    const PipelineRow& one = picture_.rows[static_cast<std::size_t>(row)];
    const pipeline::Passage& at = one.passage;
    const auto port = static_cast<std::size_t>(std::max(at.port, 0));
    const auto number = [](std::uint64_t cycles) { return countText(static_cast<double>(cycles)); };
    return tr("operation %1: %2\nfetched in cycle %3, dispatched %4, issued %5, completed %6, retired %7\n%8")
        .arg(number(picture_.first + static_cast<std::uint64_t>(row)), one.text, number(at.fetch), number(at.dispatch),
             number(at.issue), number(at.complete), number(at.retire),
             at.port >= 0 && port < picture_.portNames.size() ? tr("on port %1").arg(picture_.portNames[port])
                                                              : tr("needs no port"));
}

QByteArray PipelineView::csv() const {
    QByteArray out = "operation,text,fetch,dispatch,issue,complete,retire,port\n";
    for (std::size_t i = 0; i < picture_.rows.size(); ++i) {
        const PipelineRow& row = picture_.rows[i];
        addCell(out, QString::number(picture_.first + i));
        addCell(out, row.text);
        for (const std::uint64_t cycle :
             {row.passage.fetch, row.passage.dispatch, row.passage.issue, row.passage.complete, row.passage.retire})
            addCell(out, QString::number(cycle));
        const auto port = static_cast<std::size_t>(std::max(row.passage.port, 0));
        addCell(out, row.passage.port >= 0 && port < picture_.portNames.size() ? picture_.portNames[port] : QString(),
                true);
    }
    return out;
}

void PipelineView::resizeEvent(QResizeEvent* event) {
    FigureView::resizeEvent(event);
    whole_ ? fit() : keepInside();
}

void PipelineView::placeCycle(double pixel) {
    setCycle(static_cast<std::uint64_t>(std::max(0.0, std::floor(cycleAt(pixel)))));
}

void PipelineView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || isEmpty()) return event->ignore();
    held_ = true;
    dragged_ = false;
    pressed_ = event->position();
    pressedFrom_ = from_;
    pressedTop_ = top_;
}

void PipelineView::mouseMoveEvent(QMouseEvent* event) {
    if (!held_) return;
    const QPointF by = event->position() - pressed_;
    if (!dragged_ && by.manhattanLength() < 4) return;
    dragged_ = true;
    whole_ = false;
    from_ = pressedFrom_ - by.x() / cycleWidth_;
    top_ = pressedTop_ - by.y() / rowHeight_;
    keepInside();
    update();
}

void PipelineView::mouseReleaseEvent(QMouseEvent* event) {
    if (held_ && !dragged_ && event->position().x() >= rowsArea().left()) placeCycle(event->position().x());
    held_ = false;
}

void PipelineView::mouseDoubleClickEvent(QMouseEvent*) {
    fit();
}

void PipelineView::wheelEvent(QWheelEvent* event) {
    if (isEmpty()) return event->ignore();
    const QPointF notches = QPointF(event->angleDelta()) / 120.0;
    if (event->modifiers() & Qt::ControlModifier) {
        zoomAt(std::pow(1.25, notches.y()), event->position());
    } else if (event->modifiers() & Qt::ShiftModifier) {
        from_ -= (notches.x() + notches.y()) * 40 / cycleWidth_;
        whole_ = false;
        keepInside();
    } else {
        // Down the diagonal: the first row that is seen stays where it is fetched.
        const double before = diagonal(top_);
        top_ -= notches.y() * 48 / rowHeight_;
        whole_ = false;
        keepInside();
        from_ += diagonal(top_) - before;
        keepInside();
    }
    update();
    event->accept();
}

void PipelineView::keyPressEvent(QKeyEvent* event) {
    const std::uint64_t page = static_cast<std::uint64_t>(std::max(1.0, rowsArea().width() / cycleWidth_ * 0.8));
    switch (event->key()) {
        case Qt::Key_Right:
            return setCycle(cycle_ + 1);
        case Qt::Key_Left:
            return setCycle(cycle_ > 0 ? cycle_ - 1 : 0);
        case Qt::Key_PageDown:
            return setCycle(cycle_ + page);
        case Qt::Key_PageUp:
            return setCycle(cycle_ > page ? cycle_ - page : 0);
        case Qt::Key_Home:
            return setCycle(firstCycle_);
        case Qt::Key_End:
            return setCycle(lastCycle_);
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            return zoomBy(1.25);
        case Qt::Key_Minus:
            return zoomBy(0.8);
        default:
            FigureView::keyPressEvent(event);
    }
}

}  // namespace orrery::ui
