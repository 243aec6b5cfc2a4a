#include "widgets/canvas/tools/rubber_band.h"

#include "widgets/canvas/canvas_view.h"
#include "widgets/canvas/painter.h"
#include "widgets/common/theme.h"

namespace orrery::ui {

RubberBandTool::RubberBandTool(ToolContext& context, const ToolEvent& start)
    : CanvasTool(context), start_(start), now_(start) {}

// From scene coordinates, so that a zoom or pan during the drag keeps what was caught.
QRectF RubberBandTool::viewRect() const {
    return QRectF(context_.view.toView(start_.scene), context_.view.toView(now_.scene)).normalized();
}

std::vector<ComponentPath> RubberBandTool::caught() const {
    const Scene& scene = context_.scene();
    const QRectF area = QRectF(start_.scene, now_.scene).normalized();
    std::vector<int> tops;
    const double zoom = context_.view.zoom();
    for (const int node : scene.within(area, !touching())) {
        // Not the containers in which the band stands, nor what is too small to be seen.
        if (node == context_.root() || !insideAny(scene, node, {context_.root()})) continue;
        if (scene.nodes()[node].box.contains(start_.scene)) continue;
        if (!tops.empty() && node < scene.nodes()[tops.back()].next) continue;
        if (shownAs(scene, node, zoom) == node) tops.push_back(node);
    }
    std::vector<ComponentPath> paths;
    for (const int node : tops) paths.push_back(scene.path(node));
    for (const SceneLink& link : scene.links()) {
        if (link.line.isEmpty() || !insideAny(scene, link.node, {context_.root()}) || insideAny(scene, link.node, tops))
            continue;
        bool hit = !touching();
        if (touching()) {
            for (int i = 0; i + 1 < link.line.size() && !hit; ++i)
                hit = QRectF(link.line[i], link.line[i + 1]).normalized().adjusted(0, 0, 0.01, 0.01).intersects(area);
        } else {
            hit = area.contains(link.line.boundingRect());
        }
        if (hit) paths.push_back(scene.path(link.node));
    }
    return paths;
}

void RubberBandTool::release(const ToolEvent& event) {
    now_ = event;
    std::vector<ComponentPath> paths = caught();
    if (start_.modifiers & (Qt::ShiftModifier | Qt::ControlModifier)) {
        const auto& before = context_.selection.paths();
        paths.insert(paths.begin(), before.begin(), before.end());
    }
    context_.end();
    context_.selection.select(std::move(paths));
}

bool RubberBandTool::cancel() {
    now_ = start_;
    return true;
}

void RubberBandTool::paint(QPainter& painter) const {
    const Palette& colours = Theme::instance().colours();
    QColor fill = colours.accent;
    fill.setAlphaF(0.12F);
    painter.setBrush(fill);
    painter.setPen(QPen(colours.accent, 1, touching() ? Qt::DashLine : Qt::SolidLine));
    painter.drawRect(viewRect());
}

QString RubberBandTool::hint() const {
    return touching() ? CanvasView::tr("Selects everything touched") : CanvasView::tr("Selects what lies inside");
}

}  // namespace orrery::ui
