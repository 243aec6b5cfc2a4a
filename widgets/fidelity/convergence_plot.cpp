#include "widgets/fidelity/convergence_plot.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

constexpr double mostShown = 30;  // times the last answer: what lies beyond is cut, first steps may know nothing

constexpr double leastTall = 60;   // of a plot that has room for its title and the name of its axis

QString seconds(double value) {
    return text(value, Dimension::Time);
}

}  // namespace

ConvergencePlot::ConvergencePlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("fidelity.plot"));
    setAccessibleName(tr("How the answer settles"));
    setToolTip(
        tr("The estimate over the time used, with its interval as a band. Marks are the answers of single methods"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void ConvergencePlot::setEmptySentence(const QString& sentence) {
    emptySentence_ = sentence;
    update();
}

void ConvergencePlot::setPoints(std::vector<ConvergencePoint> points) {
    points_ = std::move(points);
    setAccessibleDescription(tr("%n step(s)", nullptr, static_cast<int>(points_.size())));
    update();
}

std::vector<double> ConvergencePlot::places() const {
    std::vector<double> places;
    double before = 0;
    for (const ConvergencePoint& point : points_) {
        before = std::max({point.spent, before * 1.04, 1e-6});
        places.push_back(before);
    }
    return places;
}

int ConvergencePlot::nearest(double x) const {
    int best = -1;
    for (std::size_t i = 0; i < drawn_.size(); ++i)
        if (best < 0 || std::abs(drawn_[i] - x) < std::abs(drawn_[static_cast<std::size_t>(best)] - x))
            best = static_cast<int>(i);
    return best;
}

bool ConvergencePlot::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip || points_.empty()) return QWidget::event(event);
    auto* help = static_cast<QHelpEvent*>(event);
    const int at = nearest(help->pos().x());
    if (at < 0) return QWidget::event(event);
    const ConvergencePoint& point = points_[static_cast<std::size_t>(at)];
    QString tip = point.what;
    if (point.own > 0) {
        tip += point.bound
                   ? tr("\nbound: %1").arg(seconds(point.own))
                   : tr("\nsays %1 [%2 … %3]").arg(seconds(point.own), seconds(point.ownLow), seconds(point.ownHigh));
    }
    if (point.latency > 0)
        tip += tr("\nso far %1 [%2 … %3]").arg(seconds(point.latency), seconds(point.low), seconds(point.high));
    tip += tr("\nafter %1").arg(seconds(point.spent));
    QToolTip::showText(help->globalPos(), tip, this);
    return true;
}

void ConvergencePlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Palette& colours = Theme::instance().colours();
    painter.fillRect(rect(), colours.surface);
    drawn_.clear();
    if (points_.empty()) return paintEmptyPlot(painter, rect(), emptySentence_);
    PlotFrame frame;
    frame.xTicks = frame.yTicks = TickText::Seconds;
    frame.area = PlotFrame::areaIn(size());
    if (frame.area.height() < leastTall * Theme::instance().scale()) {
        // In a low panel the band is more than the names: one line of ticks below it, nothing above.
        frame.area.setTop(4);
        frame.area.setBottom(size().height() - 20 * Theme::instance().scale());
    } else {
        frame.title = tr("Answer over the time used");
        frame.xName = tr("spent");
    }
    const std::vector<double> at = places();
    double last = 0;
    for (const ConvergencePoint& point : points_) last = point.latency > 0 ? point.latency : last;
    std::vector<double> ys;
    const auto see = [&](double y) {
        if (y > 0 && std::isfinite(y)) ys.push_back(last > 0 ? std::clamp(y, last / mostShown, last * mostShown) : y);
    };
    for (const ConvergencePoint& point : points_)
        for (const double y : {point.latency, point.low, point.high, point.own}) see(y);
    if (ys.empty()) return paintEmptyPlot(painter, rect(), emptySentence_);
    std::vector<double> xs = at;
    if (xs.size() == 1) xs.push_back(xs.front() * 2);
    const double inset = frame.title.isEmpty() ? 4 : 8;
    const QRectF area = frame.area.adjusted(8, inset, -8, -inset);
    const PlotAxis x = PlotAxis::covering(xs, area.left(), area.right());
    const PlotAxis y = PlotAxis::covering(ys, area.bottom(), area.top());
    frame.paint(painter, x, y, width());
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setClipRect(frame.area);
    const auto height = [&](double value) { return y.position(std::clamp(value, y.low, y.high)); };
    // The band steps: an answer holds until the next one is there.
    QColor band = colours.accent;
    band.setAlphaF(0.18F);
    QPolygonF line;
    for (std::size_t i = 0; i < points_.size(); ++i) {
        const double left = x.position(at[i]);
        drawn_.push_back(left);
        const ConvergencePoint& point = points_[i];
        if (!(point.latency > 0)) continue;
        const double right = i + 1 < points_.size() ? x.position(at[i + 1]) : frame.area.right();
        painter.fillRect(QRectF(QPointF(left, height(point.high)), QPointF(right, height(std::max(point.low, y.low)))),
                         band);
        line << QPointF(left, height(point.latency)) << QPointF(right, height(point.latency));
    }
    painter.setPen(QPen(colours.accent, 2));
    painter.drawPolyline(line);
    // What methods said by themselves.
    const double r = 3.5 * Theme::instance().scale();
    for (std::size_t i = 0; i < points_.size(); ++i) {
        const ConvergencePoint& point = points_[i];
        if (!(point.own > 0)) continue;
        const QPointF centre(drawn_[i], height(point.own));
        painter.setPen(QPen(colours.mutedText, 1.2));
        if (point.bound) {
            painter.drawLine(centre - QPointF(2 * r, 0), centre + QPointF(2 * r, 0));
            continue;
        }
        painter.drawLine(QPointF(drawn_[i], height(point.ownHigh)),
                         QPointF(drawn_[i], height(std::max(point.ownLow, y.low))));
        painter.setBrush(colours.surface);
        painter.drawEllipse(centre, r, r);
    }
    if (points_.back().own > 0 && points_.size() < 16) {
        painter.setFont(Theme::instance().font(FontRole::Small));
        painter.setPen(colours.mutedText);
        const int tall = painter.fontMetrics().height();
        double free = frame.area.left();
        for (std::size_t i = 0; i < points_.size(); ++i) {
            const ConvergencePoint& point = points_[i];
            const double wide = painter.fontMetrics().horizontalAdvance(point.what) + 8;
            const double left = std::clamp(drawn_[i] - wide / 2, frame.area.left(), frame.area.right() - wide);
            if (left < free || point.own <= 0) continue;
            free = left + wide;
            painter.drawText(QRectF(left, frame.area.top() + 2, wide, tall), Qt::AlignCenter, point.what);
        }
    }
}

}  // namespace orrery::ui
