#include "widgets/evidence/residual_plot.h"

#include "base/maths.h"
#include "widgets/common/theme.h"
#include "widgets/evidence/plot_frame.h"

#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace orrery::ui {

namespace {

constexpr double reach = 8;
constexpr double arrow = 7;  ///< side of the mark of a row that the axis does not reach
constexpr std::array<double, 8> heights{0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10};  ///< of the error axis, to choose from
constexpr int medianBins = 14;

}  // namespace

ResidualPlot::ResidualPlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("evidence.residuals"));
    setAccessibleName(tr("Residuals"));
    setToolTip(
        tr("Error of every row. Click one to find it in the table. The line is the running median. The wheel zooms, a "
           "drag moves, a double click shows everything"));
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

QSize ResidualPlot::minimumSizeHint() const {
    return {220, static_cast<int>(140 * Theme::instance().scale())};
}

void ResidualPlot::setRows(ResidualRows rows) {
    if (rows.x.size() != rows_.x.size() || rows.xName != rows_.xName) zoom_.reset();
    rows_ = std::move(rows);
    current_ = -1;
    // All but a hundredth of the rows fit; the others stand at the border.
    height_ = heights.back();
    if (!rows_.error.empty()) {
        std::vector<double> sizes(rows_.error.size());
        std::ranges::transform(rows_.error, sizes.begin(), [](double e) { return std::abs(e); });
        const double most = quantileLower(sizes, 0.99);
        height_ = *std::ranges::find_if(heights, [&](double h) { return h >= most || h == heights.back(); });
    }
    QString said = tr("%n row(s)", nullptr, static_cast<int>(rows_.x.size()));
    if (beyond() > 0) said += QStringLiteral("; ") + beyondText();
    if (rows_.x.empty() && !emptySentence_.isEmpty()) said = emptySentence_;
    setAccessibleDescription(said);
    place();
    update();
}

std::size_t ResidualPlot::beyond() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(rows_.error, [&](double e) { return std::abs(e) > height_; }));
}

QString ResidualPlot::beyondText() const {
    return tr("%n row(s) beyond %1, shown as arrows at the edge", nullptr, static_cast<int>(beyond()))
        .arg(tickText(height_, TickText::Percent));
}

void ResidualPlot::setCurrent(int row) {
    current_ = row;
    update();
}

void ResidualPlot::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    place();
}

int ResidualPlot::rowAt(const QPointF& place) const {
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

void ResidualPlot::place() {
    picture_ = {};
    places_.clear();
    if (rows_.x.empty()) return;
    const QRectF area = PlotFrame::areaIn(size());
    zoom_.setArea(area);
    const PlotAxis x = acrossAxis(area), y = upAxis(area);
    places_.reserve(rows_.x.size());
    for (std::size_t i = 0; i < rows_.x.size(); ++i) {
        places_.emplace_back(x.position(rows_.x[i]), y.position(std::clamp(rows_.error[i], -height_, height_)));
    }
}

PlotAxis ResidualPlot::acrossAxis(const QRectF& area) const {
    return zoom_.across(PlotAxis::covering(rows_.x, area.left() + 4, area.right() - 4, 5));
}

PlotAxis ResidualPlot::upAxis(const QRectF& area) const {
    PlotAxis y;
    y.low = -height_;
    y.high = height_;
    y.from = area.bottom();
    y.to = area.top();
    y.log = false;
    return zoom_.up(y);
}

void ResidualPlot::draw() {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    look_ = theme.generation();
    picture_ = QPixmap(size() * devicePixelRatioF());
    picture_.setDevicePixelRatio(devicePixelRatioF());
    picture_.fill(colours.surface);
    QPainter painter(&picture_);
    PlotFrame frame;
    frame.title = tr("Error by %1").arg(rows_.xName);
    frame.xName = rows_.xName;
    frame.yName = tr("(predicted − measured) ÷ measured");
    frame.xTicks = rows_.seconds ? TickText::Seconds : TickText::Number;
    frame.area = PlotFrame::areaIn(size());
    const PlotAxis x = acrossAxis(frame.area), y = upAxis(frame.area);
    frame.paint(painter, x, y, width());
    if (!zoom_.isWhole()) painter.setClipRect(frame.area);
    const double zero = y.position(0);
    painter.setPen(QPen(colours.line, 1.5));
    painter.drawLine(QPointF(frame.area.left(), zero), QPointF(frame.area.right(), zero));

    // Opaque for a hundred rows, a haze for ten thousand.
    const double rows = static_cast<double>(rows_.x.size());
    const int alpha = static_cast<int>(std::clamp(255 * std::sqrt(120 / rows), 24.0, 220.0));
    const double size = rows > 3000 ? 2 : rows > 300 ? 3 : 5;
    QColor inside = theme.methodColour(0), outside = colours.warning;
    inside.setAlpha(alpha);
    outside.setAlpha(std::min(255, alpha * 2));
    painter.setRenderHint(QPainter::Antialiasing, rows < 3000);
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const QColor& colour = !rows_.outside.empty() && rows_.outside[i] ? outside : inside;
        const QRectF dot(places_[i] - QPointF(size / 2, size / 2), QSizeF(size, size));
        if (std::abs(rows_.error[i]) > height_) {
            const double way = rows_.error[i] > 0 ? 1 : -1;
            const QPointF tip = places_[i];
            painter.setPen(rows_.simulated ? QPen(colour) : QPen(Qt::NoPen));
            painter.setBrush(rows_.simulated ? QBrush(Qt::NoBrush) : QBrush(colour));
            painter.drawPolygon(
                QPolygonF{tip, tip + QPointF(-arrow / 2, way * arrow), tip + QPointF(arrow / 2, way * arrow)});
        } else if (rows_.simulated) {
            painter.setPen(colour);
            painter.setBrush(Qt::NoBrush);
            painter.drawEllipse(dot);
        } else {
            painter.fillRect(dot, colour);
        }
    }
    drawMedians(painter);
    if (beyond() > 0) {
        painter.setFont(theme.font(FontRole::Small));
        painter.setPen(colours.mutedText);
        const double line = painter.fontMetrics().height();
        painter.drawText(QRectF(frame.area.left() + 4, frame.area.bottom() - line - 2, frame.area.width() - 8, line),
                         Qt::AlignRight | Qt::AlignVCenter, beyondText());
    }
}

void ResidualPlot::drawMedians(QPainter& painter) const {
    if (places_.size() < 4 * medianBins) return;
    std::vector<std::size_t> order(places_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [this](std::size_t i) { return places_[i].x(); });
    QPolygonF line;
    for (int bin = 0; bin < medianBins; ++bin) {
        const std::size_t first = order.size() * static_cast<std::size_t>(bin) / medianBins;
        const std::size_t last = order.size() * static_cast<std::size_t>(bin + 1) / medianBins;
        std::vector<double> heightsHere;
        for (std::size_t i = first; i < last; ++i) heightsHere.push_back(places_[order[i]].y());
        line << QPointF(places_[order[(first + last) / 2]].x(), quantileLower(heightsHere, 0.5));
    }
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(Theme::instance().colours().text, 1.6));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(line);
}

void ResidualPlot::setEmptySentence(const QString& sentence) {
    emptySentence_ = sentence;
    update();
}

void ResidualPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    if (rows_.x.empty()) {
        painter.fillRect(rect(), Theme::instance().colours().surface);
        return paintEmptyPlot(painter, rect(),
                              emptySentence_.isEmpty() ? tr("The error of each measured row will appear here.")
                                                       : emptySentence_);
    }
    if (picture_.isNull() || look_ != Theme::instance().generation()) draw();
    painter.drawPixmap(0, 0, picture_);
    if (current_ >= 0 && static_cast<std::size_t>(current_) < places_.size() &&
        (zoom_.isWhole() || zoom_.area().contains(places_[static_cast<std::size_t>(current_)]))) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(Theme::instance().colours().accent, 2));
        painter.drawEllipse(places_[static_cast<std::size_t>(current_)], 7, 7);
    }
}

void ResidualPlot::mousePressEvent(QMouseEvent* event) {
    zoom_.press(*event);
    const int row = rowAt(event->position());
    if (row < 0) return QWidget::mousePressEvent(event);
    setCurrent(row);
    emit chosen(row);
}

void ResidualPlot::wheelEvent(QWheelEvent* event) {
    if (!zoom_.wheel(*event)) return event->ignore();
    place();
    update();
}

void ResidualPlot::mouseMoveEvent(QMouseEvent* event) {
    if (zoom_.move(*event)) {
        place();
        update();
    }
}

void ResidualPlot::mouseReleaseEvent(QMouseEvent* event) {
    zoom_.release(*event);
}

void ResidualPlot::mouseDoubleClickEvent(QMouseEvent* event) {
    if (zoom_.doubleClick(*event)) {
        place();
        update();
    }
}

}  // namespace orrery::ui
