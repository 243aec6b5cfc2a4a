#include "widgets/serving/line_plot.h"

#include "widgets/common/theme.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

/// Linear between points, the last value before; NaN outside.
double valueOf(const PlotLine& line, double x) {
    if (line.x.empty() || x < line.x.front() || x > line.x.back())
        return !line.x.empty() && x > line.x.back() ? line.y.back() : std::nan("");
    const auto next = std::ranges::lower_bound(line.x, x);
    const auto at = static_cast<std::size_t>(next - line.x.begin());
    if (at == 0) return line.y.front();
    const double span = line.x[at] - line.x[at - 1];
    const double part = span > 0 ? (x - line.x[at - 1]) / span : 1;
    return line.y[at - 1] + part * (line.y[at] - line.y[at - 1]);
}

double valueAt(const PlotAxis& axis, double pixel) {
    const double fraction = (pixel - axis.from) / (axis.to - axis.from);
    return axis.log ? axis.low * std::pow(axis.high / axis.low, fraction)
                    : axis.low + fraction * (axis.high - axis.low);
}

}  // namespace

LinePlot::LinePlot(const QString& objectName, const QString& name, const QString& tip, QWidget* parent)
    : QWidget(parent) {
    setObjectName(objectName);
    setAccessibleName(name);
    setToolTip(tip);
    setMouseTracking(true);
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void LinePlot::setData(LinePlotData data) {
    data_ = std::move(data);
    QStringList names;
    for (const PlotLine& line : data_.lines) names << line.name;
    setAccessibleDescription(names.join(QStringLiteral(", ")));
    update();
}

void LinePlot::axes(PlotAxis& x, PlotAxis& y) const {
    const QRectF area = PlotFrame::areaIn(size());
    std::vector<double> xs, ys;
    for (const PlotLine& line : data_.lines) {
        xs.insert(xs.end(), line.x.begin(), line.x.end());
        ys.insert(ys.end(), line.y.begin(), line.y.end());
    }
    for (const PlotMark& mark : data_.marks) xs.push_back(mark.x);
    x = PlotAxis::covering(xs, area.left() + 2, area.right() - 2, data_.logX ? 8 : 1e300);
    if (!x.log) x.low = 0;
    if (data_.yHigh > data_.yLow) {
        y.low = data_.yLow;
        y.high = data_.yHigh;
    } else {
        y.low = 0;
        y.high = ys.empty() ? 1 : std::max(*std::ranges::max_element(ys) * 1.08, 1e-12);
    }
    y.log = false;
    y.from = area.bottom();
    y.to = area.top();
}

void LinePlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter.fillRect(rect(), colours.surface);
    const bool nothing = std::ranges::all_of(data_.lines, [](const PlotLine& line) { return line.x.empty(); });
    if (nothing) return paintEmptyPlot(painter, rect(), emptySentence_);
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
    painter.setFont(theme.font(FontRole::Small));
    for (const PlotMark& mark : data_.marks) {
        const double at = x.position(mark.x);
        painter.setPen(QPen(colours.warning, 1.2, Qt::DashLine));
        painter.drawLine(QPointF(at, frame.area.top()), QPointF(at, frame.area.bottom()));
        painter.drawText(QPointF(at + 4, frame.area.bottom() - 6), mark.name);
    }
    const std::vector<QPointF> names = namePlaces();
    std::size_t named = 0;
    for (const PlotLine& line : data_.lines) {
        if (line.x.empty()) continue;
        const QColor colour = theme.methodColour(line.colour);
        if (!line.low.empty()) {
            QPolygonF band;
            for (std::size_t i = 0; i < line.x.size(); ++i)
                band << QPointF(x.position(line.x[i]), y.position(line.high[i]));
            for (std::size_t i = line.x.size(); i-- > 0;)
                band << QPointF(x.position(line.x[i]), y.position(line.low[i]));
            QColor faint = colour;
            faint.setAlpha(50);
            painter.setPen(Qt::NoPen);
            painter.setBrush(faint);
            painter.drawPolygon(band);
        }
        // A pixel shows no more than a few points of ten thousand.
        QPolygonF drawn;
        const std::size_t stride = std::max<std::size_t>(1, line.x.size() / 2000);
        for (std::size_t i = 0; i < line.x.size(); i += stride)
            drawn << QPointF(x.position(line.x[i]), y.position(line.y[i]));
        drawn << QPointF(x.position(line.x.back()), y.position(line.y.back()));
        painter.setPen(QPen(colour, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawPolyline(drawn);
        if (line.dots) {
            painter.setBrush(colours.surface);
            for (const QPointF& point : drawn) painter.drawEllipse(point, 3, 3);
        }
        const QFontMetrics metrics = painter.fontMetrics();
        const QPointF at = names[named++];
        painter.setPen(QPen(colour, 2));
        painter.drawLine(at + QPointF(-18, metrics.height() / 2.0), at + QPointF(-4, metrics.height() / 2.0));
        painter.setPen(colours.text);
        painter.drawText(at + QPointF(0, metrics.ascent()), line.name);
    }
    if (cursor_ >= frame.area.left() && cursor_ <= frame.area.right()) paintReading(painter, x, y);
}

std::vector<QPointF> LinePlot::namePlaces() const {
    constexpr double mark = 18, gap = 12;  // pixels: the stroke before a name, the space behind it
    const QFontMetricsF metrics(Theme::instance().font(FontRole::Small));
    const QRectF area = PlotFrame::areaIn(size());
    double wide = 0;
    for (const PlotLine& line : data_.lines)
        if (!line.x.empty()) wide += mark + metrics.horizontalAdvance(line.name) + gap;
    // The title is in bold.
    const bool above = 1.2 * metrics.horizontalAdvance(data_.title) + 2 * gap + wide < area.right();
    std::vector<QPointF> places;
    QPointF at = above ? QPointF(area.right() + gap - wide, 2) : area.topLeft() + QPointF(8, 2);
    for (const PlotLine& line : data_.lines) {
        if (line.x.empty()) continue;
        places.push_back(at + QPointF(mark, 0));
        at += above ? QPointF(mark + metrics.horizontalAdvance(line.name) + gap, 0) : QPointF(0, metrics.height());
    }
    return places;
}

void LinePlot::paintReading(QPainter& painter, const PlotAxis& x, const PlotAxis& y) const {
    const Palette& colours = Theme::instance().colours();
    painter.setPen(colours.line);
    painter.drawLine(QPointF(cursor_, y.from), QPointF(cursor_, y.to));
    for (const PlotLine& line : data_.lines) {
        const double value = valueOf(line, valueAt(x, cursor_));
        if (std::isnan(value)) continue;
        painter.setPen(QPen(Theme::instance().methodColour(line.colour), 2));
        painter.setBrush(colours.surface);
        painter.drawEllipse(QPointF(cursor_, y.position(value)), 4, 4);
    }
    const QString text = textAt({cursor_, (y.from + y.to) / 2});
    const QFontMetrics metrics = painter.fontMetrics();
    const double wide = metrics.horizontalAdvance(text) + 12;
    const double left = std::clamp(cursor_ - wide / 2, 0.0, std::max(0.0, width() - wide));
    const QRectF box(left, y.to - metrics.height() - 4, wide, metrics.height() + 4);
    painter.setPen(colours.line);
    painter.setBrush(colours.raised);
    painter.drawRect(box);
    painter.setPen(colours.text);
    painter.drawText(box, Qt::AlignCenter, text);
}

QString LinePlot::textAt(const QPointF& place) const {
    const QRectF area = PlotFrame::areaIn(size());
    if (data_.lines.empty() || place.x() < area.left() || place.x() > area.right()) return {};
    PlotAxis x, y;
    axes(x, y);
    const double at = valueAt(x, place.x());
    QStringList parts{tickText(at, data_.xTicks)};
    for (const PlotLine& line : data_.lines) {
        const double value = valueOf(line, at);
        if (!std::isnan(value)) parts << line.name + QStringLiteral(" ") + tickText(value, data_.yTicks, 3);
    }
    return parts.join(QStringLiteral(" · "));
}

void LinePlot::mouseMoveEvent(QMouseEvent* event) {
    cursor_ = event->position().x();
    update();
}

void LinePlot::leaveEvent(QEvent*) {
    cursor_ = -1;
    update();
}

}  // namespace orrery::ui
