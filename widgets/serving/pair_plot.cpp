#include "widgets/serving/pair_plot.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

namespace orrery::ui {

QString nameOf(RequestFigure figure) {
    switch (figure) {
        case RequestFigure::Ttft:
            return PairPlot::tr("Time to first token");
        case RequestFigure::Tpot:
            return PairPlot::tr("Time per output token");
        case RequestFigure::EndToEnd:
            return PairPlot::tr("End to end");
    }
    return {};
}

double valueOf(const ServingRun& run, RequestIndex r, RequestFigure figure) {
    const RequestTable& requests = run.result.requests;
    switch (figure) {
        case RequestFigure::Ttft:
            return requests.firstToken[r] < 0 ? -1 : toSeconds(requests.firstToken[r] - requests.arrived[r]);
        case RequestFigure::Tpot:
            return requests.state[r] != RequestState::Done || run.stream->output[r] < 2
                       ? -1
                       : toSeconds(requests.ended[r] - requests.firstToken[r]) / (run.stream->output[r] - 1);
        case RequestFigure::EndToEnd:
            return requests.state[r] != RequestState::Done ? -1 : toSeconds(requests.ended[r] - requests.arrived[r]);
    }
    return -1;
}

PairPlot::PairPlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("serving.pairs"));
    setAccessibleName(tr("Request by request"));
    setToolTip(tr("Every request under both policies; click one to follow it"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void PairPlot::setRuns(ServingRunPtr first, ServingRunPtr second, RequestFigure figure) {
    first_ = std::move(first);
    second_ = std::move(second);
    figure_ = figure;
    requests_.clear();
    x_.clear();
    y_.clear();
    if (first_ && second_) {
        const std::size_t count = std::min(first_->result.requests.size(), second_->result.requests.size());
        for (RequestIndex r = 0; r < count; ++r) {
            const double a = valueOf(*first_, r, figure_), b = valueOf(*second_, r, figure_);
            if (!(a > 0 && b > 0)) continue;
            requests_.push_back(r);
            x_.push_back(a);
            y_.push_back(b);
        }
    }
    setAccessibleDescription(tr("%n request(s)", nullptr, static_cast<int>(requests_.size())));
    place();
    update();
}

void PairPlot::setCurrent(RequestIndex request) {
    current_ = request;
    update();
}

void PairPlot::place() {
    places_.clear();
    if (x_.empty()) return;
    const QRectF area = PlotFrame::areaIn(size());
    std::vector<double> all = x_;
    all.insert(all.end(), y_.begin(), y_.end());
    const PlotAxis x = PlotAxis::covering(all, area.left(), area.right());
    const PlotAxis y = PlotAxis::covering(std::move(all), area.bottom(), area.top());
    for (std::size_t i = 0; i < x_.size(); ++i) places_.emplace_back(x.position(x_[i]), y.position(y_[i]));
}

void PairPlot::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    place();
}

void PairPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter.fillRect(rect(), colours.surface);
    if (x_.empty())
        return paintEmptyPlot(painter, rect(),
                              tr("With a second scheduler, every request appears here: its latency under the first "
                                 "scheduler against the second."));
    PlotFrame frame;
    std::size_t wins = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) wins += y_[i] < x_[i] ? 1 : 0;
    frame.title = tr("%1: %2 of %3 requests faster under %4")
                      .arg(nameOf(figure_), countText(static_cast<double>(wins)),
                           countText(static_cast<double>(x_.size())), second_->name);
    frame.xName = first_->name;
    frame.yName = second_->name;
    frame.xTicks = frame.yTicks = TickText::Seconds;
    frame.area = PlotFrame::areaIn(size());
    std::vector<double> all = x_;
    all.insert(all.end(), y_.begin(), y_.end());
    const PlotAxis x = PlotAxis::covering(all, frame.area.left(), frame.area.right());
    const PlotAxis y = PlotAxis::covering(std::move(all), frame.area.bottom(), frame.area.top());
    frame.paint(painter, x, y, width());
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colours.line, 1.5));
    painter.drawLine(frame.area.bottomLeft(), frame.area.topRight());
    QColor dot = theme.methodColour(second_->colour);
    dot.setAlpha(x_.size() > 2000 ? 60 : 140);
    for (const QPointF& at : places_) painter.fillRect(QRectF(at - QPointF(1.5, 1.5), QSizeF(3, 3)), dot);
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (requests_[i] != current_) continue;
        painter.setPen(QPen(colours.accent, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(places_[i], 6, 6);
    }
}

RequestIndex PairPlot::requestAt(const QPointF& place) const {
    RequestIndex best = no_request;
    double nearest = 64;
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const QPointF away = places_[i] - place;
        const double distance = QPointF::dotProduct(away, away);
        if (distance > nearest) continue;
        nearest = distance;
        best = requests_[i];
    }
    return best;
}

void PairPlot::mousePressEvent(QMouseEvent* event) {
    const RequestIndex request = requestAt(event->position());
    if (request == no_request) return QWidget::mousePressEvent(event);
    setCurrent(request);
    emit chosen(request);
}

}  // namespace orrery::ui
