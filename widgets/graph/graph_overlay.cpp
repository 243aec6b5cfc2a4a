#include "widgets/graph/graph_overlay.h"

#include "widgets/common/theme.h"
#include "widgets/plots/operator_facts.h"

#include <QCoreApplication>
#include <QFontMetricsF>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr double margin = 12, padding = 8;

void card(QPainter& painter, const QRectF& rect) {
    const Palette& c = Theme::instance().colours();
    QColor paper = c.surface;
    paper.setAlpha(235);
    painter.setPen(QPen(c.line, 1));
    painter.setBrush(paper);
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
}

struct Key {
    QColor colour;
    QString text;
};

/// Rows of coloured squares with words, as many to a row as fit.
QRectF paintKeys(QPainter& painter, const QRectF& room, const QString& title, const std::vector<Key>& keys) {
    const Palette& c = Theme::instance().colours();
    const QFont font = Theme::instance().font(FontRole::Small);
    const QFontMetricsF metrics(font);
    const double line = metrics.height() + 3, widest = std::max(160.0, std::min(room.width() * 0.6, 560.0));
    std::vector<QPointF> at;
    double x = 0, y = title.isEmpty() ? 0 : line, reach = metrics.horizontalAdvance(title);
    for (const Key& key : keys) {
        const double width = 16 + metrics.horizontalAdvance(key.text) + 12;
        if (x > 0 && x + width > widest) x = 0, y += line;
        at.emplace_back(x, y);
        x += width;
        reach = std::max(reach, x - 12);
    }
    const QSizeF size(reach + 2 * padding, y + line + 2 * padding - 3);
    const QRectF rect(QPointF(room.left() + margin, room.bottom() - margin - size.height()), size);
    card(painter, rect);
    painter.setFont(font);
    const QPointF corner = rect.topLeft() + QPointF(padding, padding);
    painter.setPen(c.mutedText);
    if (!title.isEmpty()) painter.drawText(corner + QPointF(0, metrics.ascent()), title);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const QPointF place = corner + at[i];
        painter.setPen(Qt::NoPen);
        painter.setBrush(keys[i].colour);
        painter.drawRoundedRect(QRectF(place + QPointF(0, (metrics.height() - 10) / 2), QSizeF(10, 10)), 2, 2);
        painter.setPen(c.text);
        painter.drawText(place + QPointF(16, metrics.ascent()), keys[i].text);
    }
    return rect;
}

}  // namespace

QRectF paintLegend(QPainter& painter, const QRectF& room, const HeatMetric* metric, const HeatScale& scale,
                   double threshold, const GraphScene& scene) {
    const Palette& c = Theme::instance().colours();
    painter.setRenderHint(QPainter::Antialiasing);
    if (!metric) {
        std::array<double, operatorKindCount> seen{};
        for (const GraphScene::Node& node : scene.nodes) {
            if (node.kind == GraphScene::NodeKind::Operator) seen[static_cast<std::size_t>(node.family)] += 1;
            for (const auto& [kind, share] : node.mix) seen[static_cast<std::size_t>(kind)] += 1;
        }
        std::vector<Key> keys;
        for (int kind = 0; kind < operatorKindCount; ++kind) {
            const auto family = static_cast<OperatorKind>(kind);
            if (seen[static_cast<std::size_t>(kind)] > 0)
                keys.push_back({Theme::instance().operatorColour(family), kindText(family)});
        }
        return keys.empty() ? QRectF() : paintKeys(painter, room, {}, keys);
    }
    if (!metric->choices.empty()) {
        std::vector<Key> keys;
        for (std::size_t i = 0; i < metric->choices.size(); ++i)
            keys.push_back({Theme::instance().boundColour(metric->bounds[i]), metric->choices[i]});
        return paintKeys(painter, room, metric->title, keys);
    }
    const QFont font = Theme::instance().font(FontRole::Small);
    const QFontMetricsF metrics(font);
    const double width =
        std::min(std::max(240.0, metrics.horizontalAdvance(metric->title) + (scale.clipped ? 150 : 0)), room.width() - 2 * margin - 2 * padding);
    if (width < 60) return {};
    const double height = 2 * metrics.height() + 12 + 10 + 2 * padding;
    const QRectF rect(room.left() + margin, room.bottom() - margin - height, width + 2 * padding, height);
    card(painter, rect);
    painter.setFont(font);
    painter.setPen(c.text);
    const QRectF head(rect.left() + padding, rect.top() + padding, width, metrics.height());
    const QString beyond = scale.clipped ? QCoreApplication::translate("orrery::ui::graph", "some beyond the ends") : QString();
    const double note = beyond.isEmpty() ? 0 : metrics.horizontalAdvance(beyond) + 8;
    const bool roomy = width - note > 100;
    painter.drawText(head, Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(metric->title, Qt::ElideMiddle, width - (roomy ? note : 0)));
    if (roomy && note > 0) {
        painter.setPen(c.mutedText);
        painter.drawText(head, Qt::AlignRight | Qt::AlignVCenter, beyond);
    }
    const QRectF ramp(head.left(), head.bottom() + 5, width, 10);
    const int steps = static_cast<int>(ramp.width());
    for (int i = 0; i < steps; ++i) {
        const double value = scale.valueAt((i + 0.5) / steps);
        QColor colour = scale.colour(value);
        if (scale.weight(value) < threshold) colour.setAlphaF(0.28F);
        painter.fillRect(QRectF(ramp.left() + i, ramp.top(), 1.2, ramp.height()), colour);
    }
    painter.setPen(c.mutedText);
    double free = ramp.left() - 1;
    for (const double tick : scale.ticks(4)) {
        const double x = ramp.left() + scale.position(tick) * ramp.width();
        const QString text = heatText(*metric, tick);
        const double wide = metrics.horizontalAdvance(text);
        const double left = std::clamp(x - wide / 2, ramp.left(), ramp.right() - wide);
        painter.drawLine(QPointF(x, ramp.bottom()), QPointF(x, ramp.bottom() + 3));
        if (left < free) continue;
        painter.drawText(QPointF(left, ramp.bottom() + 3 + metrics.ascent()), text);
        free = left + wide + 6;
    }
    return rect;
}

void GraphMap::setScene(const GraphScene* scene, const std::vector<QColor>& fill) {
    scene_ = scene;
    fill_ = fill;
    image_ = {};
}

void GraphMap::place(const QRectF& room, const QRectF& area) {
    shown_ = false;
    if (!scene_ || scene_->nodes.empty() || room.width() < 360 || room.height() < 200) return;
    bounds_ = scene_->bounds.adjusted(-20, -20, 20, 20);
    if (area.contains(scene_->bounds)) return;
    const double scale = std::min({180 / bounds_.width(), room.height() * 0.55 / bounds_.height(), 0.25});
    const QSizeF size(std::max(bounds_.width() * scale, 20.0), std::max(bounds_.height() * scale, 20.0));
    if (scale != scale_) image_ = {};
    scale_ = scale;
    rect_ = QRectF(QPointF(room.right() - margin - size.width(), room.bottom() - margin - size.height()), size);
    shown_ = true;
}

QPointF GraphMap::toScene(const QPointF& view) const {
    return bounds_.center() + (view - rect_.center()) / scale_;
}

void GraphMap::paint(QPainter& painter, const QRectF& area) {
    if (!shown_ || !scene_) return;
    const Palette& c = Theme::instance().colours();
    if (image_.isNull()) {
        constexpr double density = 2;
        image_ = QImage((rect_.size() * density).toSize().expandedTo({1, 1}), QImage::Format_ARGB32_Premultiplied);
        image_.fill(Qt::transparent);
        QPainter brush(&image_);
        brush.scale(density, density);
        const QPointF middle(rect_.width() / 2, rect_.height() / 2);
        for (std::size_t n = 0; n < scene_->nodes.size(); ++n) {
            const GraphScene::Node& node = scene_->nodes[n];
            const QColor heat = n < fill_.size() ? fill_[n] : QColor();
            const QColor colour = heat.isValid() ? heat
                                  : node.kind == GraphScene::NodeKind::Terminal
                                      ? c.mutedText
                                      : Theme::instance().operatorColour(node.family);
            const QRectF box((node.box.topLeft() - bounds_.center()) * scale_ + middle, node.box.size() * scale_);
            brush.fillRect(QRectF(box.topLeft(), box.size().expandedTo({1, 0.75})), colour);
        }
    }
    painter.setRenderHint(QPainter::Antialiasing);
    card(painter, rect_.adjusted(-4, -4, 4, 4));
    painter.setRenderHint(QPainter::SmoothPixmapTransform);
    painter.drawImage(rect_, image_);
    const QRectF seen((area.topLeft() - bounds_.center()) * scale_ + rect_.center(), area.size() * scale_);
    QColor veil = c.accent;
    veil.setAlpha(36);
    painter.setBrush(veil);
    painter.setPen(QPen(c.accent, 1));
    painter.drawRect(seen.intersected(rect_.adjusted(-3, -3, 3, 3)));
}

}  // namespace orrery::ui
