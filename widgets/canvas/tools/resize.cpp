#include "widgets/canvas/tools/resize.h"

#include "widgets/canvas/canvas_view.h"
#include "widgets/canvas/tools/guides.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <algorithm>

namespace orrery::ui {

namespace {
int horizontal(Side side) {
    if (side == Side::Left || side == Side::TopLeft || side == Side::BottomLeft) return -1;
    return side == Side::Right || side == Side::TopRight || side == Side::BottomRight ? 1 : 0;
}
int vertical(Side side) {
    if (side == Side::Top || side == Side::TopLeft || side == Side::TopRight) return -1;
    return side == Side::Bottom || side == Side::BottomLeft || side == Side::BottomRight ? 1 : 0;
}
}  // namespace

std::vector<std::pair<Side, QPointF>> resizeHandles(const QRectF& box) {
    const QPointF centre = box.center();
    return {{Side::TopLeft, box.topLeft()},         {Side::TopRight, box.topRight()},
            {Side::BottomLeft, box.bottomLeft()},   {Side::BottomRight, box.bottomRight()},
            {Side::Left, {box.left(), centre.y()}}, {Side::Right, {box.right(), centre.y()}},
            {Side::Top, {centre.x(), box.top()}},   {Side::Bottom, {centre.x(), box.bottom()}}};
}

QCursor resizeCursor(Side side) {
    switch (side) {
        case Side::Left:
        case Side::Right:
            return Qt::SizeHorCursor;
        case Side::Top:
        case Side::Bottom:
            return Qt::SizeVerCursor;
        case Side::TopLeft:
        case Side::BottomRight:
            return Qt::SizeFDiagCursor;
        case Side::TopRight:
        case Side::BottomLeft:
            return Qt::SizeBDiagCursor;
        case Side::None:
            break;
    }
    return Qt::ArrowCursor;
}

QSizeF leastSize(const Scene& scene, int node) {
    const SceneNode& what = scene.nodes()[node];
    QRectF contents;
    if (!what.folded) {
        for (const int child : scene.childrenOf(node)) contents |= scene.nodes()[child].box;
    }
    if (contents.isEmpty()) return Scene::naturalSize(*what.component);
    return {contents.right() - what.box.left() + contentMargin, contents.bottom() - what.box.top() + contentMargin};
}

ResizeTool::ResizeTool(ToolContext& context, int node, Side side, const ToolEvent& start)
    : CanvasTool(context), node_(node), side_(side), start_(start) {
    before_ = box_ = context.scene().nodes()[node].box;
    // What the scene made it is enough by definition, so never ask for more than that.
    least_ = leastSize(context.scene(), node).boundedTo(before_.size());
    targets_ = snapTargets(context, context.scene().nodes()[node].parent, {node});
    targets_.ports.clear();
}

void ResizeTool::move(const ToolEvent& event) {
    const QPointF by = event.scene - start_.scene;
    box_ = before_;
    guides_.clear();
    const int x = horizontal(side_), y = vertical(side_);
    const auto stretch = [&](const QPointF& d) {
        if (x < 0) box_.setLeft(std::min(box_.left() + d.x(), box_.right() - least_.width()));
        if (x > 0) box_.setRight(std::max(box_.right() + d.x(), box_.left() + least_.width()));
        if (y < 0) box_.setTop(std::min(box_.top() + d.y(), box_.bottom() - least_.height()));
        if (y > 0) box_.setBottom(std::max(box_.bottom() + d.y(), box_.top() + least_.height()));
    };
    stretch(by);
    if (!context_.view.snaps() || (event.modifiers & Qt::ShiftModifier)) return;
    const Snapped snapped = snapEdges(box_, x, y, targets_);
    stretch(snapped.by);
    guides_ = snapped.guides;
}

void ResizeTool::release(const ToolEvent& event) {
    move(event);
    context_.end();
    if (box_ == before_) return;
    const Scene& scene = context_.scene();
    Placement place = scene.placementAt(scene.nodes()[node_].parent, box_.topLeft(), node_);
    place.width = box_.width();
    place.height = box_.height();
    context_.arrange(CanvasView::tr("Resize %1").arg(qs(nameOf(*scene.nodes()[node_].component))), {{node_, place}});
}

bool ResizeTool::cancel() {
    box_ = before_;
    guides_.clear();
    return true;
}

void ResizeTool::paint(QPainter& painter) const {
    const Palette& colours = Theme::instance().colours();
    QColor fill = colours.accent;
    fill.setAlphaF(0.08F);
    painter.setBrush(fill);
    painter.setPen(QPen(colours.accent, 1.5));
    painter.drawRect(viewRect(context_, box_));
    paintGuides(painter, context_, guides_);
    const QString size = CanvasView::tr("%1 × %2").arg(qRound(box_.width())).arg(qRound(box_.height()));
    paintNote(&painter, context_.cursor, size, context_.view.rect());
}

QRectF ResizeTool::extent() const {
    return (viewRect(context_, box_ | before_) | guidesExtent(context_, guides_) |
            QRectF(context_.cursor - QPointF(140, 80), QSizeF(280, 160)))
        .adjusted(-4, -4, 4, 4);
}

QCursor ResizeTool::cursor() const {
    return resizeCursor(side_);
}

}  // namespace orrery::ui
