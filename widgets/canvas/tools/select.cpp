#include "widgets/canvas/tools/select.h"

#include "widgets/canvas/canvas_view.h"
#include "widgets/canvas/painter.h"
#include "widgets/canvas/tools/move.h"
#include "widgets/canvas/tools/resize.h"
#include "widgets/canvas/tools/rubber_band.h"
#include "widgets/common/theme.h"

#include <QApplication>

namespace orrery::ui {

namespace {
constexpr double handleReach = 6;    ///< pixels
constexpr double leastHandled = 28;  ///< a smaller box on screen has no handles: they would cover it

QRectF viewBox(const CanvasView& view, const QRectF& box) {
    return {view.toView(box.topLeft()), view.toView(box.bottomRight())};
}
}  // namespace

int SelectTool::handleNode() const {
    if (!context_.editor || context_.selection.paths().size() != 1) return -1;
    const int node = context_.scene().find(context_.selection.current());
    if (node <= 0 || node == context_.root() || context_.scene().linkOf(node) >= 0) return -1;
    const SceneNode& what = context_.scene().nodes()[node];
    const QRectF box = viewBox(context_.view, what.box);
    if (what.hidden || shownAs(context_.scene(), node, context_.view.zoom()) != node) return -1;
    return std::min(box.width(), box.height()) >= leastHandled ? node : -1;
}

Side SelectTool::handleAt(const QPointF& at) const {
    const int node = handleNode();
    if (node < 0) return Side::None;
    for (const auto& [side, point] : resizeHandles(viewBox(context_.view, context_.scene().nodes()[node].box))) {
        if (std::max(std::abs(at.x() - point.x()), std::abs(at.y() - point.y())) <= handleReach) return side;
    }
    return Side::None;
}

void SelectTool::press(const ToolEvent& event) {
    pressed_ = true;
    start_ = event;
    onlyOnRelease_ = false;
    side_ = handleAt(event.view);
    if (side_ != Side::None) {
        node_ = handleNode();
        return;
    }
    node_ = context_.pick(event.scene);
    if (node_ < 0 || node_ == context_.root()) return;
    const ComponentPath path = context_.scene().path(node_);
    if (event.modifiers & (Qt::ShiftModifier | Qt::ControlModifier)) return;  // decided on release: it may be a drag
    if (!context_.selection.contains(path))
        context_.selection.select({path});
    else
        onlyOnRelease_ = context_.selection.paths().size() > 1;
}

void SelectTool::move(const ToolEvent& event) {
    if (!pressed_) {
        hoveredSide_ = handleAt(event.view);
        return;
    }
    if ((event.view - start_.view).manhattanLength() < QApplication::startDragDistance()) return;
    pressed_ = false;
    const bool onGround = node_ < 0 || node_ == context_.root();
    if (side_ != Side::None) {
        context_.begin(std::make_unique<ResizeTool>(context_, node_, side_, start_));
    } else if (onGround || (start_.modifiers & Qt::ShiftModifier)) {
        context_.begin(std::make_unique<RubberBandTool>(context_, start_));
    } else if (context_.editor && context_.scene().linkOf(node_) < 0) {
        // With Ctrl, which copies, the press has chosen nothing yet.
        if (const ComponentPath path = context_.scene().path(node_); !context_.selection.contains(path))
            context_.selection.select({path});
        std::vector<int> dragged = context_.selectedBoxes();
        std::erase(dragged, context_.root());
        if (!dragged.empty()) context_.begin(std::make_unique<MoveTool>(context_, std::move(dragged), start_));
    }
}

void SelectTool::release(const ToolEvent& event) {
    if (!pressed_) return;
    pressed_ = false;
    if (side_ != Side::None) return;
    const bool toggles = event.modifiers & (Qt::ShiftModifier | Qt::ControlModifier);
    if (node_ < 0 || node_ == context_.root()) {
        if (!toggles) context_.selection.clear();
        return;
    }
    const ComponentPath path = context_.scene().path(node_);
    if (toggles)
        context_.selection.toggle(path);
    else if (onlyOnRelease_)
        context_.selection.select({path});
}

void SelectTool::doubleClick(const ToolEvent& event) {
    pressed_ = false;
    const int node = context_.pick(event.scene);
    if (node < 0 || node == context_.root()) return context_.view.leave();
    const ComponentPath path = context_.scene().path(node);
    const bool hasInside = !context_.scene().childrenOf(node).empty();
    emit context_.view.componentActivated(path);
    if (hasInside) context_.view.enter(path);
}

bool SelectTool::cancel() {
    const bool was = pressed_;
    pressed_ = false;
    return was;
}

void SelectTool::paint(QPainter& painter) const {
    const Palette& colours = Theme::instance().colours();
    const Scene& scene = context_.scene();
    const int hovered = context_.hovered;
    if (!context_.busy() && hovered > 0 && hovered < static_cast<int>(scene.nodes().size()) &&
        hovered != context_.root()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(colours.accent, 1));
        if (const int link = scene.linkOf(hovered); link >= 0) {
            painter.setPen(QPen(colours.accent, 3));
            painter.drawPolyline(context_.view.transform().map(scene.links()[link].line));
        } else {
            painter.drawRoundedRect(viewBox(context_.view, scene.nodes()[hovered].box).adjusted(-2, -2, 2, 2), 4, 4);
        }
    }
    const int node = context_.busy() ? -1 : handleNode();
    if (node < 0) return;
    painter.setPen(QPen(colours.accent, 1.5));
    painter.setBrush(colours.surface);
    for (const auto& [side, point] : resizeHandles(viewBox(context_.view, scene.nodes()[node].box)))
        painter.drawRect(QRectF(point - QPointF(3.5, 3.5), QSizeF(7, 7)));
}

QRectF SelectTool::extent() const {
    QRectF area;
    const Scene& scene = context_.scene();
    const int hovered = context_.hovered;
    if (hovered > 0 && hovered < static_cast<int>(scene.nodes().size()) && hovered != context_.root()) {
        const int link = scene.linkOf(hovered);
        area = viewBox(context_.view, link >= 0 ? scene.links()[link].line.boundingRect() : scene.nodes()[hovered].box)
                   .adjusted(-5, -5, 5, 5);
    }
    if (const int node = handleNode(); node >= 0)
        area |= viewBox(context_.view, scene.nodes()[node].box).adjusted(-6, -6, 6, 6);
    return area & QRectF(context_.view.rect());
}

QCursor SelectTool::cursor() const {
    return resizeCursor(hoveredSide_);
}

QString SelectTool::hint() const {
    if (context_.selection.paths().empty()) return {};
    return CanvasView::tr("Drag to move, with Ctrl to copy; Shift turns snapping off");
}

}  // namespace orrery::ui
