#include "widgets/serving/request_lives.h"

#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"

#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery::ui {

RequestLives::RequestLives(QWidget* parent) : QAbstractScrollArea(parent) {
    setObjectName(QStringLiteral("serving.lives"));
    setAccessibleName(tr("Lives of requests"));
    setToolTip(
        tr("Waiting, prefill and decode of every request. Click one to follow it; Ctrl and wheel zoom, double-click "
           "shows all"));
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    verticalScrollBar()->setObjectName(QStringLiteral("serving.lives.scroll"));
    verticalScrollBar()->setAccessibleName(tr("Requests"));
    verticalScrollBar()->setToolTip(tr("Scroll through the requests"));
    viewport()->setToolTip(toolTip());
    connect(&Theme::instance(), &Theme::changed, viewport(), qOverload<>(&QWidget::update));
}

int RequestLives::rowHeight() const {
    return static_cast<int>(14 * Theme::instance().scale());
}

int RequestLives::headHeight() const {
    return static_cast<int>(22 * Theme::instance().scale());
}

void RequestLives::setRun(ServingRunPtr run) {
    run_ = std::move(run);
    order_.clear();
    row_.clear();
    current_ = no_request;
    from_ = 0;
    to_ = 1;
    zoomed_ = false;
    if (run_) {
        const RequestTable& requests = run_->result.requests;
        order_.resize(requests.size());
        std::iota(order_.begin(), order_.end(), RequestIndex{0});
        std::ranges::stable_sort(order_, {}, [&](RequestIndex r) { return requests.arrived[r]; });
        row_.resize(order_.size());
        for (std::uint32_t i = 0; i < order_.size(); ++i) row_[order_[i]] = i;
        setAccessibleDescription(tr("%n request(s)", nullptr, static_cast<int>(order_.size())));
    }
    updateBar();
    viewport()->update();
}

void RequestLives::updateBar() {
    const int shown = std::max(1, viewport()->height() - headHeight());
    const qint64 all = static_cast<qint64>(order_.size()) * rowHeight();
    verticalScrollBar()->setRange(0,
                                  static_cast<int>(std::min<qint64>(std::max<qint64>(0, all - shown), 1'000'000'000)));
    verticalScrollBar()->setPageStep(shown);
    verticalScrollBar()->setSingleStep(3 * rowHeight());
}

void RequestLives::setTime(SimTime time) {
    time_ = time;
    if (run_ && !order_.empty() && !zoomed_) {
        const RequestTable& requests = run_->result.requests;
        const auto next =
            std::ranges::upper_bound(order_, time, {}, [&](RequestIndex r) { return requests.arrived[r]; });
        const int shown = viewport()->height() - headHeight();
        const auto row = static_cast<int>(next - order_.begin());
        verticalScrollBar()->setValue(row * rowHeight() - shown * 3 / 4);
    }
    viewport()->update();
}

void RequestLives::fitTime() {
    if (zoomed_ || !run_ || order_.empty()) return;
    const RequestTable& requests = run_->result.requests;
    const int first = verticalScrollBar()->value() / rowHeight();
    const int last =
        std::min(static_cast<int>(order_.size()), first + (viewport()->height() - headHeight()) / rowHeight() + 1);
    SimTime from = run_->result.end, to = 0;
    for (int i = first; i < last; ++i) {
        const RequestIndex r = order_[static_cast<std::size_t>(i)];
        if (requests.arrived[r] < 0) continue;
        from = std::min(from, requests.arrived[r]);
        to = std::max(to, requests.ended[r] >= 0 ? requests.ended[r] : run_->result.end);
    }
    if (to <= from) return;
    const double all = static_cast<double>(std::max<SimTime>(1, run_->result.end));
    const double margin = 0.02 * static_cast<double>(to - from) / all;
    from_ = std::max(0.0, static_cast<double>(from) / all - margin);
    to_ = std::min(1.0, static_cast<double>(to) / all + 3 * margin);
}

void RequestLives::setCurrent(RequestIndex request) {
    if (request == current_) return;
    current_ = request;
    if (request < row_.size()) {
        const int top = static_cast<int>(row_[request]) * rowHeight();
        const int shown = viewport()->height() - headHeight();
        if (top < verticalScrollBar()->value() || top + rowHeight() > verticalScrollBar()->value() + shown)
            verticalScrollBar()->setValue(top - shown / 3);
    }
    viewport()->update();
}

double RequestLives::position(SimTime time) const {
    const double all = static_cast<double>(std::max<SimTime>(1, run_->result.end));
    const double share = static_cast<double>(time) / all;
    return 64 * Theme::instance().scale() +
           (share - from_) / (to_ - from_) * (viewport()->width() - 72 * Theme::instance().scale());
}

void RequestLives::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter.fillRect(viewport()->rect(), colours.surface);
    if (!run_ || order_.empty())
        return paintEmptyPlot(painter, viewport()->rect(),
                              tr("Each request appears here: its waiting time, its first token, its decode time."));
    fitTime();
    painter.setFont(theme.font(FontRole::Small));
    const QFontMetrics metrics = painter.fontMetrics();
    const RequestTable& requests = run_->result.requests;
    const double left = position(static_cast<SimTime>(from_ * static_cast<double>(run_->result.end)));
    const int rows = rowHeight(), head = headHeight();
    const int first = verticalScrollBar()->value() / rows;
    const int last = std::min(static_cast<int>(order_.size()), first + (viewport()->height() - head) / rows + 2);
    painter.setClipRect(QRect(0, head, viewport()->width(), viewport()->height() - head));
    const QColor waiting = colours.line, prompt = theme.methodColour(1), decode = theme.methodColour(0);
    for (int i = first; i < last; ++i) {
        const RequestIndex r = order_[static_cast<std::size_t>(i)];
        const double top = head + i * rows - verticalScrollBar()->value();
        if (r == current_) painter.fillRect(QRectF(0, top, viewport()->width(), rows), colours.selection);
        painter.setPen(colours.mutedText);
        painter.drawText(QRectF(4, top, left - 10, rows), Qt::AlignRight | Qt::AlignVCenter, QString::number(r));
        if (requests.arrived[r] < 0) continue;
        const auto bar = [&](SimTime from, SimTime to, const QColor& colour, double inset) {
            const double a = std::max(left, position(from)), b = position(to);
            if (b > left) painter.fillRect(QRectF(a, top + inset, std::max(1.0, b - a), rows - 2 * inset), colour);
        };
        const SimTime end = requests.ended[r] >= 0 ? requests.ended[r] : run_->result.end;
        const SimTime begun = requests.scheduled[r] >= 0 ? requests.scheduled[r] : end;
        const SimTime token = requests.firstToken[r] >= 0 ? requests.firstToken[r] : end;
        bar(requests.arrived[r], begun, waiting, rows * 0.35);
        if (requests.scheduled[r] >= 0) bar(begun, token, prompt, rows * 0.15);
        if (requests.firstToken[r] >= 0) bar(token, end, decode, rows * 0.15);
        if (requests.state[r] == RequestState::Rejected) {
            painter.setPen(QPen(colours.bad, 2));
            const double x = position(end);
            painter.drawLine(QPointF(x - 3, top + 3), QPointF(x + 3, top + rows - 3));
            painter.drawLine(QPointF(x + 3, top + 3), QPointF(x - 3, top + rows - 3));
        }
        if (requests.restarts[r] > 0) {
            painter.setPen(colours.bad);
            painter.drawText(QPointF(std::max(left, position(end)) + 4, top + metrics.ascent() - 1),
                             tr("restarted ×%1").arg(requests.restarts[r]));
        }
    }
    painter.setClipping(false);
    PlotAxis axis;
    axis.low = from_ * toSeconds(run_->result.end);
    axis.high = std::max(axis.low + 1e-9, to_ * toSeconds(run_->result.end));
    axis.from = left;
    axis.to = viewport()->width() - 8;
    axis.log = false;
    painter.fillRect(QRect(0, 0, viewport()->width(), head), colours.raised);
    painter.setPen(colours.mutedText);
    paintTimeTicks(painter, axis, 0, viewport()->width());
    const double at = position(time_);
    if (at >= left && at <= viewport()->width()) {
        painter.setPen(QPen(colours.accent, 1.5));
        painter.drawLine(QPointF(at, head), QPointF(at, viewport()->height()));
    }
}

void RequestLives::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    updateBar();
    setTime(time_);  // keeps who has just arrived in sight
}

RequestIndex RequestLives::requestAt(const QPointF& place) const {
    if (!run_ || place.y() < headHeight()) return no_request;
    const auto row = static_cast<std::size_t>((place.y() - headHeight() + verticalScrollBar()->value()) / rowHeight());
    return row < order_.size() ? order_[row] : no_request;
}

void RequestLives::mousePressEvent(QMouseEvent* event) {
    const RequestIndex request = requestAt(event->position());
    if (request == no_request) return;
    setCurrent(request);
    emit chosen(request);
}

void RequestLives::mouseDoubleClickEvent(QMouseEvent*) {
    zoomed_ = false;
    viewport()->update();
}

void RequestLives::wheelEvent(QWheelEvent* event) {
    if (!(event->modifiers() & Qt::ControlModifier) || !run_) return QAbstractScrollArea::wheelEvent(event);
    const double left = position(static_cast<SimTime>(from_ * static_cast<double>(run_->result.end)));
    const double under =
        std::clamp((event->position().x() - left) / std::max(1.0, viewport()->width() - 8 - left), 0.0, 1.0);
    const double factor = std::pow(0.8, event->angleDelta().y() / 120.0);
    const double middle = from_ + under * (to_ - from_);
    const double span = std::clamp((to_ - from_) * factor, 1e-6, 1.0);
    from_ = std::clamp(middle - under * span, 0.0, 1.0 - span);
    to_ = from_ + span;
    zoomed_ = true;
    event->accept();
    viewport()->update();
}

void RequestLives::keyPressEvent(QKeyEvent* event) {
    const int step = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
    if (step == 0 || order_.empty()) return QAbstractScrollArea::keyPressEvent(event);
    const int row = current_ < row_.size() ? static_cast<int>(row_[current_]) + step : 0;
    setCurrent(order_[static_cast<std::size_t>(std::clamp(row, 0, static_cast<int>(order_.size()) - 1))]);
    emit chosen(current_);
}

std::vector<std::pair<QString, QString>> lifeOf(const ServingRun& run, RequestIndex r) {
    std::vector<std::pair<QString, QString>> lines;
    const RequestTable& requests = run.result.requests;
    if (r >= requests.size()) return lines;
    const auto seconds = [](SimTime from, SimTime to) { return ui::text(toSeconds(to - from), Dimension::Time); };
    const auto tr = [](const char* text) { return RequestLives::tr(text); };
    lines.emplace_back(tr("Arrived"), ui::text(toSeconds(requests.arrived[r]), Dimension::Time, 5));
    lines.emplace_back(tr("Prompt"), RequestLives::tr("%n token(s)", nullptr, run.stream->prompt[r]));
    lines.emplace_back(tr("Output"), RequestLives::tr("%n token(s)", nullptr, run.stream->output[r]));
    if (requests.replica[r] >= 0)
        lines.emplace_back(tr("Replica"), replicaName(*run.fleet, static_cast<std::size_t>(requests.replica[r])));
    if (requests.cached[r] > 0)
        lines.emplace_back(tr("From prefix cache"), RequestLives::tr("%n token(s)", nullptr, requests.cached[r]));
    if (requests.scheduled[r] >= 0)
        lines.emplace_back(tr("Waited"), seconds(requests.arrived[r], requests.scheduled[r]));
    if (requests.firstToken[r] >= 0)
        lines.emplace_back(tr("Time to first token"), seconds(requests.arrived[r], requests.firstToken[r]));
    if (requests.state[r] == RequestState::Done && run.stream->output[r] > 1)
        lines.emplace_back(tr("Time per output token"),
                           ui::text(toSeconds(requests.ended[r] - requests.firstToken[r]) / (run.stream->output[r] - 1),
                                    Dimension::Time));
    if (requests.ended[r] >= 0) lines.emplace_back(tr("End to end"), seconds(requests.arrived[r], requests.ended[r]));
    if (requests.preemptions[r] > 0)
        lines.emplace_back(tr("Preempted"), QStringLiteral("×%1").arg(requests.preemptions[r]));
    if (requests.restarts[r] > 0)
        lines.emplace_back(tr("Started again"), QStringLiteral("×%1").arg(requests.restarts[r]));
    QString end = qs(toText(requests.state[r]));
    if (requests.state[r] == RequestState::Rejected) end += QStringLiteral(": ") + qs(toText(requests.reason[r]));
    lines.emplace_back(tr("State"), end);
    return lines;
}

}  // namespace orrery::ui
