#include "hardware/walk.h"
#include "widgets/canvas/natural_size.h"
#include "widgets/canvas/paint_parts.h"
#include "widgets/canvas/paint_text.h"
#include "widgets/canvas/ports.h"
#include "widgets/common/text.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr std::size_t mostTies = 64;

const SceneNode& nodeOf(const PaintState& state, int node) {
    return state.scene.nodes()[static_cast<std::size_t>(node)];
}

QString labelOf(const Component& link) {
    QString text;
    if (const Attribute* found = link.find("bandwidth")) {
        if (const auto* measure = std::get_if<Measure>(&found->value))
            text = measureText(*measure, Dimension::DataRate);
    }
    if (link.count > 1) text += (text.isEmpty() ? QStringLiteral("×%1") : QStringLiteral("  ×%1")).arg(link.count);
    return text;
}

void paintRounded(QPainter& painter, const QPolygonF& line, double radius) {
    QPainterPath path(line.first());
    for (qsizetype i = 1; i + 1 < line.size(); ++i) {
        const QPointF before = line[i] - line[i - 1];
        const QPointF after = line[i + 1] - line[i];
        const double a = std::hypot(before.x(), before.y());
        const double b = std::hypot(after.x(), after.y());
        const double r = std::min({radius, a / 2, b / 2});
        if (r < 1) {
            path.lineTo(line[i]);
            continue;
        }
        path.lineTo(line[i] - before / a * r);
        path.quadTo(line[i], line[i] + after / b * r);
    }
    path.lineTo(line.last());
    painter.drawPath(path);
}

}  // namespace

void paintLinks(const PaintState& state, int owner) {
    const std::vector<int> owned = state.scene.linksOwnedBy(owner);
    if (owned.empty()) return;
    QPainter& painter = state.painter;
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    const QColor hue = theme.kindColour(ComponentKind::Link);
    struct Label {
        QPointF at;
        QString text;
    };
    std::vector<Label> labels;
    std::vector<QRectF> taken;
    for (const int index : owned) {
        const SceneLink& link = state.scene.links()[static_cast<std::size_t>(index)];
        if (link.line.size() < 2) continue;
        if (!link.line.boundingRect().adjusted(-1, -1, 1, 1).intersects(state.exposed)) continue;
        if (state.leftOut.contains(link.node) || state.leftOut.contains(link.from) || state.leftOut.contains(link.to))
            continue;
        const QPolygonF line = state.toDevice(link.line);
        const bool selected = state.selected.contains(link.node);
        const bool hovered = !state.options.forExport && state.options.hovered == link.node;
        const Component& component = *nodeOf(state, link.node).component;
        double weight =
            std::clamp((component.count > 1 ? 2.2 : 1.5) * state.zoom, 1.0, component.count > 1 ? 3.0 : 2.0);
        if (selected || hovered) {
            QColor halo = colours.accent;
            halo.setAlphaF(selected ? 0.35f : 0.2f);
            painter.setPen(QPen(halo, weight + 6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
            painter.setBrush(Qt::NoBrush);
            paintRounded(painter, line, 6 * state.zoom);
        }
        const auto heat = state.heat.find(link.node);
        const bool hot = heat != state.heat.end();
        if (hot) weight += std::clamp(3 * state.zoom, 1.5, 4.0);
        const QColor ink = hot           ? theme.heat(heat->second->heat)
                           : link.broken ? colours.bad
                           : selected    ? colours.accent
                                         : mixed(colours.surface, hue, 0.8);
        painter.setPen(QPen(ink, selected ? weight + 0.5 : weight, link.broken ? Qt::DashLine : Qt::SolidLine,
                            Qt::FlatCap, Qt::RoundJoin));
        painter.setBrush(Qt::NoBrush);
        paintRounded(painter, line, std::min(6 * state.zoom, 8.0));
        const double port = std::clamp(3 * state.zoom, 1.5, 4.0);
        if (state.zoom > 0.3) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(ink);
            for (const QPointF& end : {line.first(), line.last()})
                painter.drawRect(QRectF(end.x() - port, end.y() - port, 2 * port, 2 * port));
        }
        if (link.from < 0 && link.to < 0) continue;  // its box says its numbers
        const QString text = hot ? heat->second->text : labelOf(component);
        if (text.isEmpty()) continue;
        // On the longest part that has room for it.
        const double pixels = std::clamp(11 * state.zoom, leastText, 14.0);
        const double width = textWidth(text, pixels, false) + 8;
        double longest = 0;
        QPointF middle;
        bool level = true;
        for (qsizetype i = 0; i + 1 < line.size(); ++i) {
            const QPointF along = line[i + 1] - line[i];
            const bool flat = std::abs(along.x()) > std::abs(along.y());
            const double length = flat ? std::abs(along.x()) : std::abs(along.y()) * 0.8;
            if (length <= longest) continue;
            longest = length;
            middle = (line[i] + line[i + 1]) / 2;
            level = flat;
        }
        const bool fits = level ? longest >= width + 4 : longest >= pixels * 2.4;
        const QRectF pill(middle.x() - width / 2, middle.y() - pixels * 0.75, width, pixels * 1.5);
        if (!fits || std::ranges::any_of(taken, [&](const QRectF& other) { return other.intersects(pill); })) continue;
        if (!level) {  // may reach over what stands beside the line
            std::vector<int> under;
            const QRectF back = state.options.transform.inverted().mapRect(pill).translated(-state.shift);
            state.scene.childrenWithin(owner, back, under);
            if (std::ranges::any_of(under, [&](int node) {
                    return state.scene.childrenOf(node).empty() || !showsInside(state.scene, node, state.zoom);
                }))
                continue;
        }
        taken.push_back(pill);
        labels.push_back({middle, text});
    }
    const double pixels = std::clamp(11 * state.zoom, leastText, 14.0);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(lookOf(state, owner, true).fill);
        painter.drawRoundedRect(taken[i], 3, 3);
        paintLine(painter, taken[i], labels[i].text, pixels, false, colours.mutedText, Qt::AlignHCenter);
    }
}

void paintPorts(const PaintState& state, int node, const QRectF& box) {
    constexpr double leastBetween = 7;
    const Component& component = *nodeOf(state, node).component;
    if (numberedPorts(component) == 0) return;
    const Palette& colours = Theme::instance().colours();
    const double side = std::clamp(2.5 * state.zoom, 1.5, 3.5);
    state.painter.setPen(
        QPen(mixed(colours.line, Theme::instance().kindColour(ComponentKind::Switch), 0.7), 1, Qt::SolidLine));
    state.painter.setBrush(colours.surface);
    for (const BoxPort& port : portsOf(component, box, leastBetween))
        state.painter.drawRect(QRectF(port.at.x() - side, port.at.y() - side, 2 * side, 2 * side));
}

void paintTies(const PaintState& state, int owner) {
    const auto children = state.scene.childrenOf(owner);
    if (children.size() > 4 * mostTies || nodeOf(state, owner).component->kind == ComponentKind::Topology) return;
    const Theme& theme = Theme::instance();
    for (const int topology : children) {
        const SceneNode& network = nodeOf(state, topology);
        if (network.component->kind != ComponentKind::Topology || network.box.isEmpty() ||
            state.leftOut.contains(topology))
            continue;
        std::vector<QRectF> joined;
        for (const int sibling : children) {
            const ComponentKind kind = nodeOf(state, sibling).component->kind;
            const bool isEnd = kind == ComponentKind::Node || kind == ComponentKind::Package ||
                               kind == ComponentKind::Die || kind == ComponentKind::Core ||
                               kind == ComponentKind::Array || kind == ComponentKind::Cluster;
            if (isEnd && !nodeOf(state, sibling).box.isEmpty() && !state.leftOut.contains(sibling))
                joined.push_back(nodeOf(state, sibling).box);
        }
        if (joined.empty() || joined.size() > mostTies) continue;
        const auto heat = state.heat.find(topology);
        const bool hot = heat != state.heat.end();
        QColor ink = hot ? theme.heat(heat->second->heat)
                         : mixed(theme.colours().line, theme.kindColour(ComponentKind::Topology), 0.6);
        state.painter.setPen(QPen(ink, std::clamp(1.2 * state.zoom, 0.8, 1.6) + (hot ? 2 : 0), Qt::SolidLine,
                                  Qt::FlatCap, Qt::RoundJoin));
        state.painter.setBrush(Qt::NoBrush);
        for (const QRectF& end : joined) {
            const bool below = end.center().y() > network.box.center().y();
            const QPointF from(network.box.center().x(), below ? network.box.bottom() : network.box.top());
            const QPointF to(end.center().x(), below ? end.top() : end.bottom());
            const double bus = from.y() + (below ? 1 : -1) * contentMargin;
            paintRounded(state.painter, state.toDevice(QPolygonF{from, {from.x(), bus}, {to.x(), bus}, to}),
                         6 * state.zoom);
        }
    }
}

void paintArrayGrid(const PaintState& state, int node) {
    const SceneNode& shown = nodeOf(state, node);
    const Component& component = *shown.component;
    const QSizeF size = gridSize(component);
    if (size.isEmpty()) return;
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    const QColor hue = theme.kindColour(ComponentKind::Array);
    const QPointF corner =
        shown.origin - contentInset(component) + QPointF(contentMargin, headerHeight + contentMargin / 2);
    const QRectF grid(corner, size);
    const auto columns = static_cast<double>(component.mesh[0]);
    const auto rows = static_cast<double>(component.mesh[1]);
    const double stepX = size.width() / columns;
    const double stepY = size.height() / rows;
    const QRectF device = state.toDevice(grid);
    QPainter& painter = state.painter;
    const QColor cellFill = mixed(colours.surface, hue, 0.28);
    const double cell = std::min(stepX, stepY) * state.zoom;
    painter.setPen(Qt::NoPen);
    if (cell >= 3.5) {
        const QRectF seen = grid.intersected(state.exposed.translated(-state.shift));
        const double gap = cell >= 7 ? 0.14 : 0.12;
        const int firstColumn = std::max(0, static_cast<int>(std::floor((seen.left() - grid.left()) / stepX)));
        const int lastColumn =
            std::min(static_cast<int>(columns), static_cast<int>(std::ceil((seen.right() - grid.left()) / stepX)));
        const int firstRow = std::max(0, static_cast<int>(std::floor((seen.top() - grid.top()) / stepY)));
        const int lastRow =
            std::min(static_cast<int>(rows), static_cast<int>(std::ceil((seen.bottom() - grid.top()) / stepY)));
        QList<QRectF> cells;
        for (int row = firstRow; row < lastRow; ++row) {
            for (int column = firstColumn; column < lastColumn; ++column)
                cells.push_back(
                    state.toDevice(QRectF(corner.x() + (column + gap / 2) * stepX, corner.y() + (row + gap / 2) * stepY,
                                          (1 - gap) * stepX, (1 - gap) * stepY)));
        }
        painter.setBrush(cellFill);
        painter.drawRects(cells.constData(), static_cast<int>(cells.size()));
    } else {
        painter.setBrush(cellFill);
        painter.drawRect(device);
        // Too fine for cells: every so many lines, so that the texture stays readable.
        double every = 1;
        while (every * cell < 5) every *= 2;
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(QPen(mixed(cellFill, colours.surface, 0.6), 1));
        QList<QLineF> lines;
        for (double column = every; column < columns; column += every) {
            const double x = device.left() + device.width() * column / columns;
            lines.push_back({x, device.top(), x, device.bottom()});
        }
        for (double row = every; row < rows; row += every) {
            const double y = device.top() + device.height() * row / rows;
            lines.push_back({device.left(), y, device.right(), y});
        }
        painter.drawLines(lines);
        painter.setRenderHint(QPainter::Antialiasing, true);
    }
    painter.setPen(QPen(mixed(colours.line, hue, 0.5), 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(device.adjusted(-1, -1, 1, 1));
    // One cell is shown large beside the grid.
    if (partsIn(component).empty() || shown.folded || !showsInside(state.scene, node, state.zoom)) return;
    QRectF example;
    for (const int child : state.scene.childrenOf(node)) example = example.united(nodeOf(state, child).box);
    if (example.isEmpty() || example.left() <= grid.right()) return;
    example.adjust(-contentMargin / 2, -contentMargin / 2, contentMargin / 2, contentMargin / 2);
    const QRectF one = state.toDevice(QRectF(grid.right() - stepX, grid.top(), stepX, stepY));
    const QRectF large = state.toDevice(example);
    painter.setPen(QPen(mixed(colours.line, hue, 0.8), 1));
    painter.setBrush(mixed(colours.surface, hue, 0.05));
    painter.drawRoundedRect(large, 3, 3);
    painter.setBrush(mixed(colours.surface, hue, 0.75));
    painter.drawRect(one);
    painter.setPen(QPen(mixed(colours.line, hue, 0.5), 1, Qt::DotLine));
    painter.drawLine(one.topRight(), large.topLeft());
    painter.drawLine(one.bottomRight(), large.bottomLeft());
}

}  // namespace orrery::ui
