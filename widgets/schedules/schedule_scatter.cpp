#include "widgets/schedules/schedule_scatter.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"

#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery::ui {

namespace {

constexpr double reach = 8;
constexpr std::size_t first = 10;  // of the model's choices stand out: they would be tried

}  // namespace

ScheduleScatter::ScheduleScatter(QWidget* parent)
    : FigureView(QStringLiteral("schedules.scatter"), tr("Predicted against measured"),
                 tr("One point per schedule: predicted (across) and measured (up), as shares of the best. Failed "
                    "schedules are at 0. The shaded band is the interval. The wheel zooms, a drag moves, a double "
                    "click shows everything"),
                 tr("Predicted and measured times of each schedule appear here."), parent) {}

void ScheduleScatter::setPoints(std::vector<SchedulePoint> points) {
    show(std::move(points), false);
}

void ScheduleScatter::setIntervals(std::vector<SchedulePoint> points) {
    points_ = std::move(points);
    update();
}

bool ScheduleScatter::hasIntervals() const {
    return !times_ && !points_.empty() && points_.front().high >= points_.front().low;
}

// A band over what is predicted, for intervals follow it.
void ScheduleScatter::paintIntervals(QPainter& painter, const PlotAxis& x, const PlotAxis& y) const {
    std::vector<const SchedulePoint*> order;
    for (const SchedulePoint& each : points_) order.push_back(&each);
    std::ranges::sort(order, {}, &SchedulePoint::told);
    QPolygonF band;
    for (const SchedulePoint* each : order) band << QPointF(x.position(each->told), y.position(each->high));
    for (auto each = order.rbegin(); each != order.rend(); ++each)
        band << QPointF(x.position((*each)->told), y.position((*each)->low));
    QColor fill = Theme::instance().methodColour(0);
    fill.setAlpha(36);
    painter.setPen(Qt::NoPen);
    painter.setBrush(fill);
    painter.drawPolygon(band);
}

void ScheduleScatter::setTimes(const std::vector<ScheduleTimePoint>& points) {
    std::vector<SchedulePoint> all;
    all.reserve(points.size());
    for (const ScheduleTimePoint& each : points) all.push_back({each.told, 0, each.seconds});
    show(std::move(all), true);
}

void ScheduleScatter::show(std::vector<SchedulePoint> points, bool times) {
    points_ = std::move(points);
    times_ = times;
    low_ = std::numeric_limits<double>::infinity(), high_ = 0;
    for (const SchedulePoint& each : points_) {
        if (!times_ || !isDrawn(each)) continue;
        low_ = std::min({low_, each.told, each.seconds});
        high_ = std::max({high_, each.told, each.seconds});
    }
    current_ = -1;
    zoom_.reset();
    zoom_.setArea(PlotFrame::areaIn(size()));
    setAccessibleDescription(tr("%n schedule(s)", nullptr, static_cast<int>(points_.size())));
    update();
}

bool ScheduleScatter::isDrawn(const SchedulePoint& point) const {
    return !times_ || (std::isfinite(point.told) && point.told > 0 && point.seconds > 0);
}

PlotAxis ScheduleScatter::covering(double from, double to) const {
    return times_ ? PlotAxis::covering({low_, high_}, from, to, 1) : PlotAxis{-0.03, 1.03, from, to, false};
}

void ScheduleScatter::setCurrent(int point) {
    if (point == current_) return;
    current_ = point;
    update();
}

PlotAxis ScheduleScatter::across() const {
    const QRectF area = PlotFrame::areaIn(size());
    return zoom_.across(covering(area.left(), area.right()));
}

PlotAxis ScheduleScatter::up() const {
    const QRectF area = PlotFrame::areaIn(size());
    return zoom_.up(covering(area.bottom(), area.top()));
}

QPointF ScheduleScatter::placeOf(int point) const {
    const SchedulePoint& one = points_[static_cast<std::size_t>(point)];
    return {across().position(one.told), up().position(heightOf(one))};
}

int ScheduleScatter::pointAt(const QPointF& place) const {
    int best = -1;
    double nearest = reach * reach;
    if (!zoom_.isWhole() && !zoom_.area().contains(place)) return best;
    const PlotAxis x = across(), y = up();
    for (std::size_t i = 0; i < points_.size(); ++i) {
        if (!isDrawn(points_[i])) continue;
        const QPointF away = QPointF(x.position(points_[i].told), y.position(heightOf(points_[i]))) - place;
        const double distance = QPointF::dotProduct(away, away);
        if (distance > nearest) continue;
        nearest = distance;
        best = static_cast<int>(i);
    }
    return best;
}

QString ScheduleScatter::textAt(const QPointF& place) const {
    const int at = pointAt(place);
    if (at < 0) return {};
    const SchedulePoint& point = points_[static_cast<std::size_t>(at)];
    if (times_)
        return tr("measured: %1\npredicted: %2, error %3")
            .arg(text(point.seconds, Dimension::Time), text(point.told, Dimension::Time),
                 signedPercentText(point.told / point.seconds - 1));
    QString said = tr("predicted: %1 of the best, place %2 of %3")
                       .arg(percentText(point.told))
                       .arg(point.toldRank)
                       .arg(points_.size());
    if (hasIntervals()) said += tr("\ninterval: %1 to %2").arg(percentText(point.low), percentText(point.high));
    return (point.seconds > 0 ? tr("measured: %1, %2 of the best, place %3")
                                    .arg(text(point.seconds, Dimension::Time), percentText(point.share))
                                    .arg(point.rank)
                              : tr("measured: it failed")) +
           QLatin1Char('\n') + said;
}

QByteArray ScheduleScatter::csv() const {
    if (times_) {
        QByteArray out = "predicted_us,time_us\n";
        for (const SchedulePoint& each : points_) {
            if (!isDrawn(each)) continue;
            addCell(out, QString::number(1e6 * each.told, 'g', 6));
            addCell(out, QString::number(1e6 * each.seconds, 'g', 6), true);
        }
        return out;
    }
    QByteArray out = "predicted_share,low,high,share_of_best,time_us,predicted_rank,rank\n";
    for (const SchedulePoint& each : points_) {
        addCell(out, QString::number(each.told, 'g', 6));
        for (const double end : {each.low, each.high})
            addCell(out, hasIntervals() ? QString::number(end, 'g', 6) : QString());
        addCell(out, QString::number(each.share, 'g', 6));
        addCell(out, each.seconds > 0 ? QString::number(1e6 * each.seconds, 'g', 6) : QString());
        addCell(out, QString::number(each.toldRank));
        addCell(out, QString::number(each.rank), true);
    }
    return out;
}

void ScheduleScatter::paintFigure(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    PlotFrame frame;
    frame.title = tr("Predicted against measured");
    frame.xName = times_ ? tr("predicted time") : tr("predicted share of the best");
    frame.yName = times_ ? tr("measured time") : tr("measured share of the best");
    frame.xTicks = frame.yTicks = times_ ? TickText::Seconds : TickText::Percent;
    frame.area = PlotFrame::areaIn(size());
    const PlotAxis x = across(), y = up();
    frame.paint(painter, x, y, width());
    painter.save();
    painter.setClipRect(frame.area);
    painter.setRenderHint(QPainter::Antialiasing);
    if (hasIntervals()) paintIntervals(painter, x, y);
    painter.setPen(QPen(colours.line, 1.2, Qt::DashLine));
    const double from = times_ ? low_ : 0, to = times_ ? high_ : 1;
    painter.drawLine(QPointF(x.position(from), y.position(from)), QPointF(x.position(to), y.position(to)));
    // Opaque for a hundred schedules, a haze for thousands.
    const auto count = static_cast<double>(points_.size());
    QColor ran = theme.methodColour(0), failed = colours.bad;
    for (QColor* each : {&ran, &failed})
        each->setAlpha(static_cast<int>(std::clamp(255 * std::sqrt(150 / count), 60.0, 220.0)));
    QPolygonF those, others;
    for (const SchedulePoint& each : points_)
        if (isDrawn(each))
            (each.seconds > 0 ? those : others) << QPointF(x.position(each.told), y.position(heightOf(each)));
    const double size = (count > 1000 ? 3 : 5) * theme.scale();
    painter.setPen(QPen(ran, size, Qt::SolidLine, Qt::RoundCap));
    painter.drawPoints(those);
    painter.setPen(QPen(failed, size, Qt::SolidLine, Qt::RoundCap));
    painter.drawPoints(others);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colours.text, 1.2));
    for (const SchedulePoint& each : points_)
        if (each.toldRank > 0 && each.toldRank <= first)
            painter.drawEllipse(QPointF(x.position(each.told), y.position(each.share)), size * 0.9, size * 0.9);
    if (current_ >= 0 && current_ < static_cast<int>(points_.size()) &&
        isDrawn(points_[static_cast<std::size_t>(current_)])) {
        painter.setPen(QPen(colours.accent, 2));
        painter.drawEllipse(placeOf(current_), 8, 8);
    }
    painter.restore();
    if (times_) return;
    painter.setFont(theme.font(FontRole::Small));
    painter.setPen(colours.mutedText);
    const double line = painter.fontMetrics().height();
    const QString key =
        hasIntervals() ? tr("shaded: interval; ringed: the model's first ten") : tr("ringed: the model's first ten");
    const double room = frame.area.width() - painter.fontMetrics().horizontalAdvance(frame.yName) - 16;
    if (painter.fontMetrics().horizontalAdvance(key) < room)
        painter.drawText(QRectF(frame.area.left(), frame.area.top() - line - 2, frame.area.width(), line),
                         Qt::AlignRight, key);
}

void ScheduleScatter::resizeEvent(QResizeEvent* event) {
    FigureView::resizeEvent(event);
    zoom_.setArea(PlotFrame::areaIn(size()));
}

void ScheduleScatter::mousePressEvent(QMouseEvent* event) {
    zoom_.press(*event);
    const int point = pointAt(event->position());
    if (point < 0) return FigureView::mousePressEvent(event);
    setCurrent(point);
    emit chosen(point);
}

void ScheduleScatter::mouseMoveEvent(QMouseEvent* event) {
    if (zoom_.move(*event)) update();
}

void ScheduleScatter::mouseReleaseEvent(QMouseEvent* event) {
    zoom_.release(*event);
}

void ScheduleScatter::mouseDoubleClickEvent(QMouseEvent* event) {
    if (zoom_.doubleClick(*event)) update();
}

void ScheduleScatter::wheelEvent(QWheelEvent* event) {
    if (points_.empty() || !zoom_.wheel(*event)) return event->ignore();
    update();
}

}  // namespace orrery::ui
