#include "widgets/serving/front_plot.h"

#include "study/serving/pareto.h"
#include "widgets/common/theme.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

FrontPlot::FrontPlot(const QString& objectName, const QString& name, const QString& tip, QWidget* parent)
    : QWidget(parent) {
    setObjectName(objectName);
    setAccessibleName(name);
    setToolTip(tip);
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

bool FrontPlot::isDrawn(std::size_t i) const {
    return std::isfinite(data_.x[i]) && std::isfinite(data_.y[i]) && data_.x[i] > 0 && data_.y[i] > 0;
}

void FrontPlot::setData(FrontPlotData data) {
    data_ = std::move(data);
    std::vector<std::vector<double>> costs;
    const auto& best = data_.best;
    const auto may = [&](std::size_t i) { return isDrawn(i) && (!best || (i < best->size() && (*best)[i])); };
    for (std::size_t i = 0; i < data_.x.size(); ++i)
        costs.push_back(
            may(i) ? std::vector<double>{data_.xMore ? -data_.x[i] : data_.x[i], data_.yMore ? -data_.y[i] : data_.y[i]}
                   : std::vector<double>(2, std::nan("")));
    line_ = paretoFront(costs);
    front_ = line_;
    for (std::size_t i = 0; i < front_.size() && best; ++i) front_[i] = may(i);
    if (current_ >= static_cast<int>(data_.x.size())) current_ = -1;
    setAccessibleDescription(tr("%n configuration(s)", nullptr, static_cast<int>(data_.x.size())));
    update();
}

void FrontPlot::setCurrent(int index) {
    current_ = index;
    update();
}

void FrontPlot::axes(PlotAxis& x, PlotAxis& y) const {
    const QRectF area = PlotFrame::areaIn(size()).adjusted(6, 6, -6, -6);
    std::vector<double> xs, ys;
    for (std::size_t i = 0; i < data_.x.size(); ++i) {
        if (!isDrawn(i)) continue;
        xs.push_back(data_.x[i]);
        ys.push_back(data_.y[i]);
    }
    x = PlotAxis::covering(xs, area.left(), area.right());
    y = PlotAxis::covering(ys, area.bottom(), area.top());
}

QPointF FrontPlot::placeOf(int index) const {
    PlotAxis x, y;
    axes(x, y);
    const auto i = static_cast<std::size_t>(index);
    return {x.position(data_.x[i]), y.position(data_.y[i])};
}

void FrontPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter.fillRect(rect(), colours.surface);
    bool any = false;
    for (std::size_t i = 0; i < data_.x.size(); ++i) any = any || isDrawn(i);
    if (!any) return paintEmptyPlot(painter, rect(), emptySentence_);
    PlotAxis x, y;
    axes(x, y);
    PlotFrame frame;
    frame.title = data_.title;
    frame.xName = data_.xName;
    frame.yName = data_.yName;
    frame.xTicks = data_.xTicks;
    frame.yTicks = data_.yTicks;
    frame.area = PlotFrame::areaIn(size());
    frame.paint(painter, x, y, width());
    painter.setRenderHint(QPainter::Antialiasing);
    std::vector<QPointF> best;
    for (std::size_t i = 0; i < line_.size(); ++i)
        if (line_[i]) best.emplace_back(x.position(data_.x[i]), y.position(data_.y[i]));
    std::ranges::sort(best, {}, &QPointF::x);
    // Steps: between two points of the front nothing better than either is known.
    QPolygonF steps;
    for (std::size_t i = 0; i < best.size(); ++i) {
        if (i > 0) {
            const bool across = data_.xMore == data_.yMore;
            steps << (across ? QPointF(best[i - 1].x(), best[i].y()) : QPointF(best[i].x(), best[i - 1].y()));
        }
        steps << best[i];
    }
    painter.setPen(QPen(colours.accent, 1.2, Qt::DashLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(steps);
    const double radius = 4 * theme.scale();
    for (std::size_t i = 0; i < data_.x.size(); ++i) {
        if (!isDrawn(i)) continue;
        const QPointF at(x.position(data_.x[i]), y.position(data_.y[i]));
        painter.setPen(QPen(front_[i] ? colours.accent : colours.mutedText, 1.4));
        painter.setBrush(front_[i] ? colours.accent : colours.surface);
        painter.drawEllipse(at, radius, radius);
        if (static_cast<int>(i) != current_) continue;
        painter.setPen(QPen(colours.text, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(at, radius + 4, radius + 4);
    }
}

int FrontPlot::indexAt(const QPointF& place) const {
    PlotAxis x, y;
    axes(x, y);
    int best = -1;
    double nearest = 144;
    for (std::size_t i = 0; i < data_.x.size(); ++i) {
        if (!isDrawn(i)) continue;
        const QPointF away = QPointF(x.position(data_.x[i]), y.position(data_.y[i])) - place;
        const double distance = QPointF::dotProduct(away, away);
        if (distance >= nearest) continue;
        nearest = distance;
        best = static_cast<int>(i);
    }
    return best;
}

void FrontPlot::mousePressEvent(QMouseEvent* event) {
    const int index = indexAt(event->position());
    if (index < 0) return QWidget::mousePressEvent(event);
    setCurrent(index);
    emit chosen(index);
}

bool FrontPlot::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int index = indexAt(help->pos());
    if (index < 0) return QWidget::event(event);
    const auto i = static_cast<std::size_t>(index);
    QToolTip::showText(help->globalPos(),
                       QStringLiteral("%1\n%2 %3\n%4 %5")
                           .arg(i < data_.names.size() ? data_.names[i] : QString(), data_.xName,
                                tickText(data_.x[i], data_.xTicks), data_.yName, tickText(data_.y[i], data_.yTicks)),
                       this);
    return true;
}

}  // namespace orrery::ui
