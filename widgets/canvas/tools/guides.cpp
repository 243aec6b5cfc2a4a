#include "widgets/canvas/tools/guides.h"

#include "widgets/canvas/canvas_view.h"
#include "widgets/common/theme.h"

namespace orrery::ui {

namespace {
constexpr double pull = 6;  ///< pixels
constexpr std::size_t mostTargets = 400;
}  // namespace

QRectF viewRect(const ToolContext& context, const QRectF& scene) {
    return {context.view.toView(scene.topLeft()), context.view.toView(scene.bottomRight())};
}

SnapTargets snapTargets(const ToolContext& context, int parent, const std::vector<int>& without) {
    SnapTargets targets;
    const Scene& scene = context.scene();
    targets.reach = pull / context.view.zoom();
    if (parent < 0) return targets;
    targets.grid = gridStep;
    targets.gridOrigin = scene.nodes()[parent].origin;
    std::vector<int> near;
    scene.childrenWithin(parent, context.view.visibleArea(), near);
    for (const int node : near) {
        if (targets.boxes.size() >= mostTargets) break;
        if (!insideAny(scene, node, without) && !scene.nodes()[node].box.isEmpty())
            targets.boxes.push_back(scene.nodes()[node].box);
    }
    // Only for one box: which port of several should be level with which would be a guess.
    if (without.size() != 1) return targets;
    for (const int index : scene.linksAt(without.front())) {
        if (targets.ports.size() >= mostTargets) break;
        const SceneLink& link = scene.links()[index];
        const int other = link.from == without.front() ? link.to : link.from;
        if (other >= 0 && !insideAny(scene, other, without)) targets.ports.push_back(scene.nodes()[other].box.center());
    }
    return targets;
}

void paintGuides(QPainter& painter, const ToolContext& context, const std::vector<SnapGuide>& guides) {
    const Palette& colours = Theme::instance().colours();
    for (const SnapGuide& guide : guides) {
        const QLineF line(context.view.toView(guide.line.p1()), context.view.toView(guide.line.p2()));
        const bool gap = guide.kind == SnapKind::Gap;
        painter.setPen(QPen(gap ? colours.good : colours.accent, 1, gap ? Qt::SolidLine : Qt::DashLine));
        painter.drawLine(line);
        if (!gap) continue;
        // Equal gaps have end marks, as dimensions have.
        const QPointF across = std::abs(line.dx()) > std::abs(line.dy()) ? QPointF(0, 4) : QPointF(4, 0);
        painter.drawLine(line.p1() - across, line.p1() + across);
        painter.drawLine(line.p2() - across, line.p2() + across);
    }
}

QRectF guidesExtent(const ToolContext& context, const std::vector<SnapGuide>& guides) {
    QRectF area;
    for (const SnapGuide& guide : guides)
        area |= QRectF(context.view.toView(guide.line.p1()), context.view.toView(guide.line.p2()))
                    .normalized()
                    .adjusted(-5, -5, 5, 5);
    return area;
}

}  // namespace orrery::ui
