#include "widgets/canvas/natural_size.h"
#include "widgets/canvas/network_sketch.h"
#include "widgets/canvas/paint_parts.h"
#include "widgets/canvas/paint_text.h"
#include "widgets/common/text.h"

#include <QPainter>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace orrery::ui {
namespace {

void ring(Sketch& sketch, int count, bool all) {
    for (int i = 0; i < count; ++i) {
        const double angle = 2 * std::numbers::pi * i / count - std::numbers::pi / 2;
        sketch.ends.push_back({0.5 + 0.45 * std::cos(angle), 0.5 + 0.45 * std::sin(angle)});
    }
    for (int i = 0; i < count; ++i) {
        for (int k = i + 1; k < count; ++k) {
            if (all || k == i + 1 || (i == 0 && k == count - 1))
                sketch.lines.push_back({sketch.ends[i], sketch.ends[k]});
        }
    }
}

void tree(Sketch& sketch, const std::vector<int>& tiers) {
    for (std::size_t tier = 0; tier < tiers.size(); ++tier) {
        const double y =
            tiers.size() == 1 ? 0.5 : 0.92 - 0.84 * static_cast<double>(tier) / static_cast<double>(tiers.size() - 1);
        for (int i = 0; i < tiers[tier]; ++i) {
            const QPointF at((i + 0.5) / tiers[tier], y);
            (tier == 0 ? sketch.ends : sketch.switches).push_back(at);
            if (tier == 0) continue;
            const double below = 0.92 - 0.84 * static_cast<double>(tier - 1) / static_cast<double>(tiers.size() - 1);
            if (tier == 1) {
                for (int k = i * tiers[0] / tiers[1]; k < (i + 1) * tiers[0] / tiers[1]; ++k)
                    sketch.lines.push_back({at, QPointF((k + 0.5) / tiers[0], below)});
            } else {
                for (int k = 0; k < tiers[tier - 1]; ++k)
                    sketch.lines.push_back({at, QPointF((k + 0.5) / tiers[tier - 1], below)});
            }
        }
    }
}

Sketch sketchOf(const std::string& shape) {
    Sketch sketch;
    if (shape == "ring") {
        ring(sketch, 8, false);
    } else if (shape == "fully-connected") {
        ring(sketch, 6, true);
    } else if (shape == "line" || shape == "bus") {
        for (int i = 0; i < 5; ++i) sketch.ends.push_back({0.06 + 0.22 * i, shape == "bus" ? 0.75 : 0.5});
        if (shape == "bus") {
            sketch.lines.push_back({0, 0.3, 1, 0.3});
            for (int i = 0; i < 5; ++i) sketch.lines.push_back({sketch.ends[i], QPointF(sketch.ends[i].x(), 0.3)});
        } else {
            sketch.lines.push_back({sketch.ends.first(), sketch.ends.last()});
        }
    } else if (shape == "mesh" || shape == "torus") {
        for (int row = 0; row < 4; ++row) {
            for (int column = 0; column < 4; ++column) {
                const QPointF at(0.14 + 0.24 * column, 0.14 + 0.24 * row);
                sketch.ends.push_back(at);
                if (column < 3) sketch.lines.push_back({at, at + QPointF(0.24, 0)});
                if (row < 3) sketch.lines.push_back({at, at + QPointF(0, 0.24)});
            }
            if (shape == "torus") {
                const double at = 0.14 + 0.24 * row;
                for (const double end : {0.02, 0.98}) {
                    sketch.lines.push_back({end, at, end < 0.5 ? 0.14 : 0.86, at});
                    sketch.lines.push_back({at, end, at, end < 0.5 ? 0.14 : 0.86});
                }
            }
        }
    } else if (shape == "dragonfly") {
        QList<QPointF> groups;
        for (int group = 0; group < 5; ++group) {
            const double angle = 2 * std::numbers::pi * group / 5 - std::numbers::pi / 2;
            const QPointF middle(0.5 + 0.36 * std::cos(angle), 0.5 + 0.36 * std::sin(angle));
            groups.push_back(middle);
            QList<QPointF> routers;
            for (int i = 0; i < 3; ++i) {
                const double turn = angle + 2 * std::numbers::pi * i / 3;
                routers.push_back(middle + QPointF(0.1 * std::cos(turn), 0.1 * std::sin(turn)));
            }
            for (int i = 0; i < 3; ++i) sketch.lines.push_back({routers[i], routers[(i + 1) % 3]});
            sketch.ends += routers;
        }
        for (int a = 0; a < 5; ++a) {
            for (int b = a + 1; b < 5; ++b) sketch.lines.push_back({groups[a], groups[b]});
        }
    } else if (shape == "fat-tree") {
        tree(sketch, {8, 4, 2});
    } else if (shape == "rail-optimised") {
        tree(sketch, {6, 3, 2});
    } else if (shape == "nvswitch" || shape == "nv-switch") {
        for (int i = 0; i < 6; ++i) sketch.ends.push_back({(i + 0.5) / 6, 0.88});
        for (int i = 0; i < 3; ++i) {
            sketch.switches.push_back({(i + 0.5) / 3, 0.15});
            for (const QPointF& end : std::as_const(sketch.ends)) sketch.lines.push_back({sketch.switches.last(), end});
        }
    } else {  // switch, star
        sketch.switches.push_back({0.5, 0.5});
        for (int i = 0; i < 8; ++i) {
            const double angle = 2 * std::numbers::pi * i / 8;
            sketch.ends.push_back({0.5 + 0.44 * std::cos(angle), 0.5 + 0.44 * std::sin(angle)});
            sketch.lines.push_back({sketch.switches.first(), sketch.ends.last()});
        }
    }
    return sketch;
}

void paintSketch(const PaintState& state, const Sketch& sketch, const QRectF& square, const QColor& hue) {
    QPainter& painter = state.painter;
    const auto place = [&](const QPointF& at) {
        return QPointF(square.left() + at.x() * square.width(), square.top() + at.y() * square.height());
    };
    // Many ends in a wide box: as large as leaves them apart.
    const double room = square.width() / static_cast<double>(std::max<qsizetype>(sketch.ends.size(), 8));
    const double weight = std::clamp(std::min(square.width() / 60, room / 8), 0.5, 1.6);
    painter.setPen(QPen(mixed(Theme::instance().colours().surface, hue, 0.6), weight));
    for (const QLineF& line : sketch.lines) painter.drawLine(place(line.p1()), place(line.p2()));
    painter.setPen(Qt::NoPen);
    painter.setBrush(hue);
    const double dot = std::clamp(std::min(square.width() / 26, room / 3), 1.0, 3.5);
    for (const QPointF& end : sketch.ends) painter.drawEllipse(place(end), dot, dot);
    for (const QPointF& at : sketch.switches) {
        const QPointF middle = place(at);
        painter.drawRoundedRect(QRectF(middle.x() - dot * 1.5, middle.y() - dot * 1.2, dot * 3, dot * 2.4), 1, 1);
    }
}

/// The caption above, the real network below it.
void paintNetwork(const PaintState& state, int node, const QRectF& inside, const QColor& hue) {
    const SceneNode& shown = state.scene.nodes()[static_cast<std::size_t>(node)];
    const Palette& colours = Theme::instance().colours();
    const auto network = networkOf(state.scene, node);
    const double pixels = std::floor(std::clamp(13 * state.zoom, leastText, 19.0));
    QRectF line(inside.left(), inside.top(), inside.width(), pixels * 1.4);
    paintLine(state.painter, line, qs(nameOf(*shown.component)), pixels, true, colours.text);
    line.translate(0, line.height());
    paintLine(state.painter, line, network->caption, std::floor(std::max(leastText, pixels * 0.85)), false,
              network->sketch.ends.isEmpty() ? colours.warning : colours.mutedText);
    const QRectF rest(inside.left(), line.bottom() + pixels / 2, inside.width(),
                      inside.bottom() - line.bottom() - pixels / 2);
    if (rest.height() >= 14) paintSketch(state, network->sketch, rest, hue);
}

}  // namespace

void paintTopology(const PaintState& state, int node, const QRectF& box) {
    const SceneNode& shown = state.scene.nodes()[static_cast<std::size_t>(node)];
    const Component& component = *shown.component;
    const QColor hue = Theme::instance().kindColour(ComponentKind::Topology);
    const Palette& colours = Theme::instance().colours();
    std::string shape = "switch";
    if (const Attribute* found = component.find("shape")) {
        if (const auto* text = std::get_if<std::string>(&found->value)) shape = *text;
    }
    const double padding = std::clamp(8 * state.zoom, 3.0, 12.0);
    const QRectF inside = box.adjusted(padding, padding, -padding, -padding);
    if (shown.expanded && inside.height() > 60) return paintNetwork(state, node, inside, hue);
    const double side = std::min({inside.height(), inside.width() * 0.45, 160 * state.zoom});
    const QRectF square(inside.left(), inside.center().y() - side / 2, side, side);
    if (side >= 14) paintSketch(state, sketchOf(shape), square, hue);
    const double pixels = std::floor(std::clamp(13 * state.zoom, leastText, 19.0));
    const double numberPixels = std::floor(std::max(leastText, pixels * 0.85));
    const double left = side >= 14 ? square.right() + padding : inside.left();
    QStringList lines = numbersOf(component);
    const auto room = static_cast<qsizetype>(std::max(0.0, (inside.height() - pixels * 1.4) / (numberPixels * 1.4)));
    lines = lines.mid(0, room);
    double y = inside.center().y() - (pixels * 1.4 + static_cast<double>(lines.size()) * numberPixels * 1.4) / 2;
    paintLine(state.painter, QRectF(left, y, inside.right() - left, pixels * 1.4),
              qs(nameOf(component)) + (component.count > 1 ? QStringLiteral(" ×%1").arg(component.count) : QString()),
              pixels, true, colours.text);
    y += pixels * 1.4;
    for (const QString& line : lines) {
        paintLine(state.painter, QRectF(left, y, inside.right() - left, numberPixels * 1.4), line, numberPixels, false,
                  mixed(colours.text, colours.mutedText, 0.8));
        y += numberPixels * 1.4;
    }
}

}  // namespace orrery::ui
