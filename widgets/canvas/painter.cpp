#include "widgets/canvas/painter.h"

#include "widgets/canvas/natural_size.h"
#include "widgets/canvas/paint_parts.h"
#include "widgets/canvas/paint_text.h"
#include "widgets/common/text.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr double legibleWidth = 48;  // of the median child, in pixels: less, and its parent is closed
constexpr double legibleHeight = 16;
constexpr double leastTile = 2.5;
constexpr double outsideOpacity = 0.3;
constexpr double ignoredOpacity = 0.4;

const SceneNode& nodeOf(const Scene& scene, int node) {
    return scene.nodes()[static_cast<std::size_t>(node)];
}

PaintState stateOf(QPainter& painter, const Scene& scene, const PaintOptions& options, const Summaries& facts) {
    const double zoom = std::hypot(options.transform.m11(), options.transform.m12());
    PaintState state{painter, scene, options, zoom, options.exposed, {}, facts, {}, {}, {}, {}, {}, {}};
    const double reach = paintReach(zoom);
    state.exposed.adjust(-reach, -reach, reach, reach);
    state.leftOut.insert(options.leftOut.begin(), options.leftOut.end());
    if (!options.forExport) state.selected.insert(options.selected.begin(), options.selected.end());
    for (const NodeLoad& load : options.loads) state.loads.emplace(load.node, &load);
    for (const NodeHeat& heat : options.heat) state.heat.emplace(heat.node, &heat);
    for (const NodeMark& mark : options.marks) state.marks.emplace(mark.node, &mark);
    state.ignored.insert(options.ignored.begin(), options.ignored.end());
    return state;
}

bool hasTiles(const PaintState& state, int node) {
    const QSizeF child = state.scene.typicalChild(node) * state.zoom;
    return state.scene.childrenOf(node).size() >= 12 && std::min(child.width(), child.height()) >= leastTile &&
           !state.facts.device(node);
}

// The exposed area in whole pixels; products of the transform are whole but for rounding.
QRect exposedPixels(const PaintOptions& options) {
    const QRectF area = options.transform.mapRect(options.exposed);
    constexpr double slack = 0.01;
    const auto left = static_cast<int>(std::floor(area.left() + slack));
    const auto top = static_cast<int>(std::floor(area.top() + slack));
    return {left, top, static_cast<int>(std::ceil(area.right() - slack)) - left,
            static_cast<int>(std::ceil(area.bottom() - slack)) - top};
}

// `skipped`: a node that is painted later, without dimming.
void paintNode(const PaintState& state, int node, int skipped) {
    if (node == skipped || state.leftOut.contains(node)) return;
    const SceneNode& shown = nodeOf(state.scene, node);
    const QRectF box = state.toDevice(shown.box);
    const double opacity = state.painter.opacity();
    if (state.ignored.contains(node)) state.painter.setOpacity(opacity * ignoredOpacity);
    const QSizeF child = state.scene.typicalChild(node);
    if (!child.isEmpty() && showsInside(state.scene, node, state.zoom)) {
        paintFrame(state, node, box);
        paintArrayGrid(state, node);
        paintTies(state, node);
        std::vector<int> children;
        state.scene.childrenWithin(node, state.exposed, children);
        for (const int inner : children) paintNode(state, inner, skipped);
        paintLinks(state, node);
    } else if (!child.isEmpty() && hasTiles(state, node)) {
        paintFrame(state, node, box);
        paintTiles(state, node);
    } else {
        paintCard(state, node, box);
    }
    if (shown.component->kind == ComponentKind::Switch) paintPorts(state, node, box);
    paintOverlay(state, node, box);
    state.painter.setOpacity(opacity);
}

}  // namespace

void paintScene(QPainter& painter, const Scene& scene, const PaintOptions& options) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    if (options.background) painter.fillRect(exposedPixels(options), Theme::instance().colours().window);
    if (!scene.nodes().empty()) {
        const std::shared_ptr<const Summaries> facts = Summaries::of(scene);
        const PaintState state = stateOf(painter, scene, options, *facts);
        painter.setClipRect(exposedPixels(options), Qt::IntersectClip);
        const int entered =
            options.entered > 0 && options.entered < static_cast<int>(scene.nodes().size()) ? options.entered : -1;
        if (nodeOf(scene, 0).box.intersects(state.exposed)) {
            if (entered >= 0) painter.setOpacity(outsideOpacity);
            paintNode(state, 0, entered);
            painter.setOpacity(1);
            if (entered >= 0) paintNode(state, entered, -1);
        }
    }
    painter.restore();
}

void paintNodes(QPainter& painter, const Scene& scene, const PaintOptions& options, const std::vector<int>& nodes,
                const QPointF& offset) {
    if (scene.nodes().empty()) return;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const std::shared_ptr<const Summaries> facts = Summaries::of(scene);
    PaintState state = stateOf(painter, scene, options, *facts);
    state.leftOut.clear();
    state.shift = offset;
    state.exposed.translate(-offset);
    for (const int node : nodes) {
        if (nodeOf(scene, node).box.intersects(state.exposed)) paintNode(state, node, -1);
    }
    painter.restore();
}

double leastShown(double zoom) {
    return zoom > 0 ? legibleWidth / zoom : 0;
}

bool showsInside(const Scene& scene, int node, double zoom) {
    if (node == 0) return true;  // a closed root would show nothing of the design
    const QSizeF child = scene.typicalChild(node);
    return child.width() * zoom >= legibleWidth && child.height() * zoom >= legibleHeight;
}

int shownAs(const Scene& scene, int node, double zoom) {
    int shown = node;
    for (int outer = nodeOf(scene, node).parent; outer >= 0; outer = nodeOf(scene, outer).parent) {
        if (!showsInside(scene, outer, zoom)) shown = outer;
    }
    return shown;
}

QString describe(const Scene& scene, int node) {
    if (node < 0 || node >= static_cast<int>(scene.nodes().size())) return {};
    const Component& component = *nodeOf(scene, node).component;
    const QString copies = copiesText(component);
    QStringList lines{qs(nameOf(component)) + (copies.isEmpty() ? QString() : QStringLiteral("  ") + copies),
                      qs(label(component.kind))};
    if (const QStringList* device = Summaries::of(scene)->device(node)) lines << *device;
    lines << numbersOf(component);
    if (const QString inside = contentsText(component); !inside.isEmpty()) lines << inside;
    lines.removeDuplicates();
    return lines.join(QLatin1Char('\n'));
}

double paintReach(double zoom) {
    return zoom > 0 ? 12 / zoom : 12;
}

}  // namespace orrery::ui
