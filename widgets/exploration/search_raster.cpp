#include "widgets/exploration/search_raster.h"

#include <QPainter>

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery::ui {

namespace {

constexpr std::size_t dotStride = 1024;  // looked at so often that a stop is felt at once

double& of(QPointF& point, bool upright) {
    return upright ? point.ry() : point.rx();
}

void measureAxis(SearchAxis& axis, const SearchPlotData& data) {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    const auto see = [&](double value) {
        if (!(value > 0) || !std::isfinite(value)) return;
        least = std::min(least, value);
        most = std::max(most, value);
    };
    for (std::size_t i = 0; i < data.places.size(); ++i)
        if (data.isDrawn(i)) see(axis.value[i]);
    for (const int i : data.front) {
        see(axis.low[static_cast<std::size_t>(i)]);
        see(axis.high[static_cast<std::size_t>(i)]);
    }
    if (axis.drawn) see(*axis.drawn);
    axis.least = most > 0 ? least : 0;
    axis.most = most;
}

}  // namespace

bool SearchPlotData::isDrawn(std::size_t i) const {
    return x.value[i] > 0 && y.value[i] > 0 && std::isfinite(x.value[i]) && std::isfinite(y.value[i]);
}

std::shared_ptr<const SearchPlotData> readied(SearchPlotData data) {
    data.front.clear();
    for (std::size_t i = 0; i < data.places.size(); ++i)
        if (data.places[i] == PointPlace::Front && data.isDrawn(i)) data.front.push_back(static_cast<int>(i));
    std::ranges::sort(data.front, {}, [&](int i) { return data.x.value[static_cast<std::size_t>(i)]; });
    measureAxis(data.x, data);
    measureAxis(data.y, data);
    return std::make_shared<const SearchPlotData>(std::move(data));
}

void paintCloud(QPainter& painter, const SearchPlotData& data, const SearchFrame& frame, const std::stop_token& stop) {
    const double radius = (data.places.size() > 3000 ? 1.2 : 3) * frame.scale;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    for (const PointPlace place : {PointPlace::Broken, PointPlace::Beaten, PointPlace::Possible}) {
        painter.setBrush(frame.dots[static_cast<std::size_t>(place)]);
        for (std::size_t i = 0; i < data.places.size(); ++i) {
            if (i % dotStride == 0 && stop.stop_requested()) return;
            if (data.places[i] != place || !data.isDrawn(i)) continue;
            painter.drawEllipse(QPointF(frame.x.position(data.x.value[i]), frame.y.position(data.y.value[i])), radius,
                                radius);
        }
    }
}

void paintFront(QPainter& painter, const SearchPlotData& data, const SearchFrame& frame, const std::stop_token& stop) {
    const double radius = 4 * frame.scale;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(frame.bar, 1.2));
    const auto placeOf = [&](std::size_t i) {
        return QPointF(frame.x.position(data.x.value[i]), frame.y.position(data.y.value[i]));
    };
    std::size_t seen = 0;
    for (const int index : data.front) {
        if (++seen % 64 == 0 && stop.stop_requested()) return;
        const auto i = static_cast<std::size_t>(index);
        for (const bool upright : {false, true}) {
            const SearchAxis& axis = upright ? data.y : data.x;
            const PlotAxis& scale = upright ? frame.y : frame.x;
            if (!(axis.low[i] > 0 && axis.high[i] > axis.low[i])) continue;
            QPointF from = placeOf(i), to = from;
            of(from, upright) = scale.position(axis.low[i]);
            of(to, upright) = scale.position(axis.high[i]);
            painter.drawLine(from, to);
        }
    }
    const QColor& colour = frame.dots[static_cast<std::size_t>(PointPlace::Front)];
    painter.setPen(QPen(colour, 1.4));
    painter.setBrush(colour);
    for (const int index : data.front) {
        if (++seen % 64 == 0 && stop.stop_requested()) return;
        painter.drawEllipse(placeOf(static_cast<std::size_t>(index)), radius, radius);
    }
}

QImage cloudOfMany(const SearchPlotData& data, const SearchFrame& frame, const std::stop_token& stop) {
    const double ratio = frame.ratio;
    QImage image(frame.size * ratio, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    const int side = std::max(2, static_cast<int>(std::lround(2 * ratio * frame.scale)));
    for (const PointPlace place : {PointPlace::Broken, PointPlace::Beaten, PointPlace::Possible}) {
        const QRgb colour = qPremultiply(frame.dots[static_cast<std::size_t>(place)].rgba());
        for (std::size_t i = 0; i < data.places.size(); ++i) {
            if (i % dotStride == 0 && stop.stop_requested()) return {};
            if (data.places[i] != place || !data.isDrawn(i)) continue;
            const int left = static_cast<int>(frame.x.position(data.x.value[i]) * ratio) - side / 2;
            const int top = static_cast<int>(frame.y.position(data.y.value[i]) * ratio) - side / 2;
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

QImage pictureOf(const SearchPlotData& data, const SearchFrame& frame, const std::stop_token& stop) {
    QImage image;
    const bool many = data.places.size() > mostRoundDots;
    if (many) {
        image = cloudOfMany(data, frame, stop);
    } else {
        image = QImage(frame.size * frame.ratio, QImage::Format_ARGB32_Premultiplied);
        image.setDevicePixelRatio(frame.ratio);
        image.fill(Qt::transparent);
    }
    if (image.isNull()) return image;
    QPainter painter(&image);
    if (!many) paintCloud(painter, data, frame, stop);
    paintFront(painter, data, frame, stop);
    return image;
}

}  // namespace orrery::ui
