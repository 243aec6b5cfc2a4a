#include "widgets/exploration/search_plot.h"

#include "widgets/common/picture_file.h"
#include "widgets/common/theme.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

SearchPlot::SearchPlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("explore.plot"));
    setAccessibleName(tr("Points of the search"));
    setToolTip(tr("One dot for each point. Filled ones no other beats; bars are 90 % intervals. A click chooses"));
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        cloud_ = {};
        update();
    });
}

bool SearchPlot::isDrawn(std::size_t i) const {
    const double x = data_.x.value[i], y = data_.y.value[i];
    return std::isfinite(x) && std::isfinite(y) && x > 0 && y > 0;
}

void SearchPlot::setData(SearchPlotData data) {
    data_ = std::move(data);
    front_.clear();
    for (std::size_t i = 0; i < data_.places.size(); ++i)
        if (data_.places[i] == PointPlace::Front && isDrawn(i)) front_.push_back(static_cast<int>(i));
    std::ranges::sort(front_, {}, [this](int i) { return data_.x.value[static_cast<std::size_t>(i)]; });
    if (current_ >= static_cast<int>(data_.places.size())) current_ = -1;
    setAccessibleDescription(tr("%n point(s)", nullptr, static_cast<int>(data_.places.size())));
    layOut();
    update();
}

void SearchPlot::setCurrent(int index) {
    current_ = index;
    update();
}

void SearchPlot::layOut() {
    cloud_ = {};
    const QRectF area = PlotFrame::areaIn(size()).adjusted(8, 8, -8, -8);
    const auto covering = [&](const SearchAxis& axis, double from, double to) {
        std::vector<double> seen;
        for (std::size_t i = 0; i < data_.places.size(); ++i)
            if (isDrawn(i)) seen.push_back(axis.value[i]);
        if (axis.drawn && *axis.drawn > 0) seen.push_back(*axis.drawn);
        for (const int i : front_) {
            for (const double end : {axis.low[static_cast<std::size_t>(i)], axis.high[static_cast<std::size_t>(i)]})
                if (end > 0 && std::isfinite(end)) seen.push_back(end);
        }
        return PlotAxis::covering(std::move(seen), from, to);
    };
    x_ = covering(data_.x, area.left(), area.right());
    y_ = covering(data_.y, area.bottom(), area.top());
}

QPointF SearchPlot::placeOf(int index) const {
    const auto i = static_cast<std::size_t>(index);
    return {x_.position(data_.x.value[i]), y_.position(data_.y.value[i])};
}

QColor SearchPlot::dotColour(PointPlace place) const {
    const Palette& colours = Theme::instance().colours();
    QColor colour = place == PointPlace::Possible ? colours.accent : colours.mutedText;
    colour.setAlphaF(place == PointPlace::Broken ? 0.25F : place == PointPlace::Beaten ? 0.55F : 0.6F);
    return colour;
}

void SearchPlot::paintCloud(QPainter& painter) const {
    const double radius = (data_.places.size() > 3000 ? 1.2 : 3) * Theme::instance().scale();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    for (const PointPlace place : {PointPlace::Broken, PointPlace::Beaten, PointPlace::Possible}) {
        painter.setBrush(dotColour(place));
        for (std::size_t i = 0; i < data_.places.size(); ++i) {
            if (data_.places[i] != place || !isDrawn(i)) continue;
            painter.drawEllipse(QPointF(x_.position(data_.x.value[i]), y_.position(data_.y.value[i])), radius, radius);
        }
    }
}

// So many that a painter would be felt: squares of pixels, the last one wins.
QImage SearchPlot::cloudOfMany() const {
    const double ratio = devicePixelRatioF();
    QImage image(size() * ratio, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    const int side = std::max(2, static_cast<int>(std::lround(2 * ratio * Theme::instance().scale())));
    for (const PointPlace place : {PointPlace::Broken, PointPlace::Beaten, PointPlace::Possible}) {
        const QRgb colour = qPremultiply(dotColour(place).rgba());
        for (std::size_t i = 0; i < data_.places.size(); ++i) {
            if (data_.places[i] != place || !isDrawn(i)) continue;
            const int left = static_cast<int>(x_.position(data_.x.value[i]) * ratio) - side / 2;
            const int top = static_cast<int>(y_.position(data_.y.value[i]) * ratio) - side / 2;
            if (left < 0 || top < 0 || left + side > image.width() || top + side > image.height()) continue;
            for (int y = top; y < top + side; ++y) {
                auto* line = reinterpret_cast<QRgb*>(image.scanLine(y)) + left;
                std::fill(line, line + side, colour);
            }
        }
    }
    image.setDevicePixelRatio(ratio);
    return image;
}

void SearchPlot::paintFront(QPainter& painter) const {
    const Palette& colours = Theme::instance().colours();
    const double radius = 4 * Theme::instance().scale();
    painter.setRenderHint(QPainter::Antialiasing);
    QColor bar = colours.accent;
    bar.setAlphaF(0.35F);
    painter.setPen(QPen(bar, 1.2));
    for (const int index : front_) {
        const auto i = static_cast<std::size_t>(index);
        const QPointF at = placeOf(index);
        if (data_.x.low[i] > 0 && data_.x.high[i] > data_.x.low[i])
            painter.drawLine(QPointF(x_.position(data_.x.low[i]), at.y()),
                             QPointF(x_.position(data_.x.high[i]), at.y()));
        if (data_.y.low[i] > 0 && data_.y.high[i] > data_.y.low[i])
            painter.drawLine(QPointF(at.x(), y_.position(data_.y.low[i])),
                             QPointF(at.x(), y_.position(data_.y.high[i])));
    }
    painter.setPen(QPen(colours.accent, 1.4));
    painter.setBrush(colours.accent);
    for (const int index : front_) painter.drawEllipse(placeOf(index), radius, radius);
    if (data_.x.drawn && data_.y.drawn && *data_.x.drawn > 0 && *data_.y.drawn > 0) {
        const QPointF at(x_.position(*data_.x.drawn), y_.position(*data_.y.drawn));
        painter.setPen(QPen(colours.text, 2));
        painter.setBrush(colours.surface);
        const double r = radius + 2;
        painter.drawPolygon(
            QPolygonF{at + QPointF(0, -r), at + QPointF(r, 0), at + QPointF(0, r), at + QPointF(-r, 0)});
        painter.drawText(at + QPointF(r + 4, -r), tr("as drawn"));
    }
    if (current_ >= 0 && isDrawn(static_cast<std::size_t>(current_))) {
        painter.setPen(QPen(colours.text, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(placeOf(current_), radius + 4, radius + 4);
    }
}

void SearchPlot::paint(QPainter& painter, bool keep) {
    painter.fillRect(rect(), Theme::instance().colours().surface);
    bool any = false;
    for (std::size_t i = 0; i < data_.places.size() && !any; ++i) any = isDrawn(i);
    if (!any) return paintEmptyPlot(painter, rect(), emptySentence_);
    PlotFrame frame;
    frame.title = tr("%1 against %2").arg(data_.y.name, data_.x.name);
    const auto named = [this](const SearchAxis& axis) {
        return axis.unsure ? tr("%1 (no interval is known)").arg(axis.name) : axis.name;
    };
    frame.xName = named(data_.x);
    frame.yName = named(data_.y);
    frame.xTicks = data_.x.ticks;
    frame.yTicks = data_.y.ticks;
    frame.area = PlotFrame::areaIn(size());
    frame.paint(painter, x_, y_, width());
    if (keep) {
        if (cloud_.isNull()) {
            if (data_.places.size() > 20'000) {
                cloud_ = QPixmap::fromImage(cloudOfMany());
            } else {
                cloud_ = QPixmap(size() * devicePixelRatioF());
                cloud_.setDevicePixelRatio(devicePixelRatioF());
                cloud_.fill(Qt::transparent);
                QPainter on(&cloud_);
                paintCloud(on);
            }
        }
        painter.drawPixmap(0, 0, cloud_);
    } else if (data_.places.size() > 20'000) {
        painter.drawImage(QRectF(rect()), cloudOfMany());  // a file of so many shapes opens nowhere
    } else {
        paintCloud(painter);
    }
    paintFront(painter);
}

void SearchPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter, true);
}

void SearchPlot::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    layOut();
}

int SearchPlot::indexAt(const QPointF& place) const {
    int best = -1;
    double nearest = 100;
    const auto look = [&](int index) {
        const QPointF away = placeOf(index) - place;
        const double distance = QPointF::dotProduct(away, away);
        if (distance >= nearest) return;
        nearest = distance;
        best = index;
    };
    for (const int index : front_) look(index);
    if (best >= 0) return best;
    for (std::size_t i = 0; i < data_.places.size(); ++i)
        if (isDrawn(i)) look(static_cast<int>(i));
    return best;
}

void SearchPlot::mousePressEvent(QMouseEvent* event) {
    const int index = indexAt(event->position());
    if (index < 0) return QWidget::mousePressEvent(event);
    setCurrent(index);
    emit chosen(index);
}

bool SearchPlot::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int index = indexAt(help->pos());
    if (index < 0) return QWidget::event(event);
    const auto i = static_cast<std::size_t>(index);
    const auto line = [i](const SearchAxis& axis) {
        QString text = QStringLiteral("%1: %2").arg(axis.name, tickText(axis.value[i], axis.ticks));
        if (axis.high[i] > axis.low[i])
            text +=
                QStringLiteral(" [%1 … %2]").arg(tickText(axis.low[i], axis.ticks), tickText(axis.high[i], axis.ticks));
        return text;
    };
    QToolTip::showText(help->globalPos(), line(data_.x) + QLatin1Char('\n') + line(data_.y), this);
    return true;
}

QString SearchPlot::exportTo(const QString& file) {
    return writePicture(file, size(), tr("Points of the search"),
                        [this](QPainter& painter, const QRect&) { paint(painter, false); });
}

}  // namespace orrery::ui
