#include "widgets/evidence/accuracy_plot.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>

namespace orrery::ui {

namespace {

constexpr double reach = 12;         ///< pixels around a point that count as it
constexpr double leastError = 1e-4;  ///< what stands at the bottom of the plot
constexpr double leastSeconds = 1e-9;

}  // namespace

AccuracyPlot::AccuracyPlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("evidence.accuracy"));
    setAccessibleName(tr("Error against cost to compute"));
    setToolTip(
        tr("Each point is a method; click one to see where it errs most. The wheel zooms, a drag moves, a double click "
           "shows all again"));
    setFocusPolicy(Qt::StrongFocus);
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void AccuracyPlot::setPoints(std::vector<AccuracyPoint> points) {
    points_ = std::move(points);
    if (current_ >= static_cast<int>(points_.size())) current_ = -1;
    QStringList lines;
    for (const AccuracyPoint& point : points_) lines << textOf(point);
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
    update();
}

void AccuracyPlot::setCurrent(int point) {
    current_ = point;
    update();
}

QString AccuracyPlot::textOf(const AccuracyPoint& point) const {
    return tr("%1: mean error %2, median %3, 90th percentile %4, %5 an answer, %6 rows")
        .arg(point.title, percentText(point.mape), percentText(point.median), percentText(point.p90),
             text(Seconds(point.seconds), 2), countText(static_cast<double>(point.rows)));
}

int AccuracyPlot::pointAt(const QPointF& place) const {
    int best = -1;
    double nearest = reach * reach;
    if (!zoom_.isWhole() && !zoom_.area().contains(place)) return best;
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const QPointF away = places_[i] - place;
        const double distance = QPointF::dotProduct(away, away);
        if (distance > nearest) continue;
        nearest = distance;
        best = static_cast<int>(i);
    }
    return best;
}

void AccuracyPlot::paintPoint(QPainter& painter, std::size_t at, double low, double high) const {
    const Theme& theme = Theme::instance();
    const AccuracyPoint& point = points_[at];
    const QPointF place = places_[at];
    const QColor colour = theme.methodColour(point.colour);
    QColor band = colour;
    band.setAlpha(110);
    painter.setPen(QPen(band, 4, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(QPointF(place.x(), low), QPointF(place.x(), high));
    const bool chosen = static_cast<int>(at) == current_;
    if (chosen) {
        painter.setPen(QPen(theme.colours().accent, 1.5));
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(place, 10, 10);
    }
    painter.setPen(QPen(point.simulated ? colour : theme.colours().surface, point.simulated ? 2 : 1.5));
    painter.setBrush(point.simulated ? theme.colours().surface : colour);
    painter.drawEllipse(place, 6, 6);
}

void AccuracyPlot::paintNames(QPainter& painter, double right) const {
    painter.setFont(Theme::instance().font(FontRole::Small));
    const int line = painter.fontMetrics().height();
    std::vector<QRectF> taken;
    for (const QPointF& place : places_) taken.push_back(QRectF(place - QPointF(7, 7), QSizeF(14, 14)));
    for (std::size_t i = 0; i < points_.size(); ++i) {
        const double wide = painter.fontMetrics().horizontalAdvance(points_[i].title) + 2;
        QRectF label(places_[i].x() + 12, places_[i].y() - line / 2.0, wide, line);
        if (label.right() > right) label.moveLeft(places_[i].x() - 12 - wide);
        // Down and up in turn, until nothing is covered.
        for (int tries = 1; tries < 10; ++tries) {
            const auto covers = [&](const QRectF& other) { return other.intersects(label); };
            if (std::none_of(taken.begin(), taken.end(), covers)) break;
            label.translate(0, (tries % 2 ? 1 : -1) * tries * (line + 1));
        }
        taken.push_back(label);
        painter.setPen(static_cast<int>(i) == current_ ? Theme::instance().colours().accent
                                                       : Theme::instance().colours().text);
        painter.drawText(label, Qt::AlignLeft | Qt::AlignVCenter, points_[i].title);
    }
}

void AccuracyPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::instance().colours().surface);
    painter.setRenderHint(QPainter::Antialiasing);
    places_.clear();
    if (points_.empty()) {
        return paintEmptyPlot(painter, rect(),
                              tr("Judged against references, every method stands here: how far off it is, and how "
                                 "long one of its answers takes."));
    }
    std::vector<double> costs, errors;
    for (const AccuracyPoint& point : points_) {
        costs.push_back(std::max(point.seconds, leastSeconds));
        for (const double error : {point.mape, point.median, point.p90}) errors.push_back(std::max(error, leastError));
    }
    PlotFrame frame;
    frame.title = tr("Error against cost to compute");
    frame.xName = tr("wall time of one answer");
    frame.yName = tr("relative error, mean; bar: median to 90th percentile");
    frame.xTicks = TickText::Seconds;
    frame.area = PlotFrame::areaIn(size()).adjusted(0, painter.fontMetrics().height(), 0, 0);
    zoom_.setArea(frame.area);
    const PlotAxis x = zoom_.across(PlotAxis::covering(costs, frame.area.left() + 12, frame.area.right() - 60, 1.5));
    const PlotAxis y = zoom_.up(PlotAxis::covering(errors, frame.area.bottom() - 8, frame.area.top() + 8, 3));
    frame.paint(painter, x, y, width());
    for (const AccuracyPoint& point : points_) {
        places_.push_back(
            {x.position(std::max(point.seconds, leastSeconds)), y.position(std::max(point.mape, leastError))});
    }
    if (!zoom_.isWhole()) painter.setClipRect(frame.area);
    for (std::size_t i = 0; i < points_.size(); ++i) {
        paintPoint(painter, i, y.position(std::max(points_[i].median, leastError)),
                   y.position(std::max(points_[i].p90, leastError)));
    }
    paintNames(painter, frame.area.right());
    painter.setClipping(false);
    if (hasFocus()) {
        painter.setPen(Theme::instance().colours().accent);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

void AccuracyPlot::choose(int point) {
    setCurrent(point);
    emit chosen(point);
}

void AccuracyPlot::mousePressEvent(QMouseEvent* event) {
    zoom_.press(*event);
    if (const int point = pointAt(event->position()); point >= 0) return choose(point);
    QWidget::mousePressEvent(event);
}

void AccuracyPlot::wheelEvent(QWheelEvent* event) {
    if (!zoom_.wheel(*event)) return event->ignore();
    update();
}

void AccuracyPlot::mouseMoveEvent(QMouseEvent* event) {
    if (zoom_.move(*event)) {
        update();
    }
}

void AccuracyPlot::mouseReleaseEvent(QMouseEvent* event) {
    zoom_.release(*event);
}

void AccuracyPlot::mouseDoubleClickEvent(QMouseEvent* event) {
    if (zoom_.doubleClick(*event)) {
        update();
    }
}

void AccuracyPlot::keyPressEvent(QKeyEvent* event) {
    const int count = static_cast<int>(points_.size());
    if (count > 0 && (event->key() == Qt::Key_Right || event->key() == Qt::Key_Left)) {
        return choose((std::max(current_, 0) + (event->key() == Qt::Key_Right ? 1 : count - 1)) % count);
    }
    QWidget::keyPressEvent(event);
}

bool AccuracyPlot::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const int point = pointAt(help->pos()); point >= 0) {
            QToolTip::showText(help->globalPos(), textOf(points_[static_cast<std::size_t>(point)]), this);
            return true;
        }
    }
    return QWidget::event(event);
}

}  // namespace orrery::ui
