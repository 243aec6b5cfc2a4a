#include "widgets/canvas/tools/link.h"

#include "hardware/links.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/canvas/tools/guides.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QApplication>

#include <algorithm>

namespace orrery::ui {

namespace {
constexpr double portReach = 14;  ///< pixels around a port that count as on it
constexpr double portRadius = 4;
}  // namespace

std::vector<QPointF> portsOf(const QRectF& box) {
    const QPointF centre = box.center();
    return {{box.left(), centre.y()}, {centre.x(), box.top()}, {box.right(), centre.y()}, {centre.x(), box.bottom()}};
}

namespace {
QPointF nearestPort(const QRectF& box, const QPointF& to) {
    QPointF best = box.center();
    double least = 1e300;
    for (const QPointF& port : portsOf(box)) {
        const QPointF d = port - to;
        if (const double far = QPointF::dotProduct(d, d); far < least) {
            least = far;
            best = port;
        }
    }
    return best;
}
}  // namespace

LinkTool::LinkTool(ToolContext& context) : CanvasTool(context) {
    if (const std::vector<int> boxes = context.selectedBoxes(); boxes.size() == 1) from_ = boxes.front();
}

int LinkTool::pickEnd(const ToolEvent& event) const {
    const Scene& scene = context_.scene();
    const double reach = portReach / context_.view.zoom();
    // A port on a border belongs to the box whose border it is, even from just outside.
    int node = context_.pick(event.scene);
    if (node >= 0 && scene.linkOf(node) >= 0) node = scene.nodes()[node].parent;
    if (node < 0) return -1;
    std::vector<int> near;
    scene.childrenWithin(node, QRectF(event.scene - QPointF(reach, reach), QSizeF(2 * reach, 2 * reach)), near);
    for (const int child : near) {
        if (scene.nodes()[child].box.width() * context_.view.zoom() < 4 * portRadius) continue;
        for (const QPointF& port : portsOf(scene.nodes()[child].box)) {
            const QPointF d = port - event.scene;
            if (QPointF::dotProduct(d, d) <= reach * reach) return child;
        }
    }
    return node == context_.root() ? -1 : node;
}

void LinkTool::aim(int node) {
    if (node == to_) return;
    to_ = node;
    why_.clear();
    if (from_ < 0 || to_ < 0 || from_ == to_) return;
    const Scene& scene = context_.scene();
    const auto link = makeLink(scene.hardware()->root, scene.path(from_), scene.path(to_));
    if (!link) why_ = qs(link.error().message);
}

void LinkTool::press(const ToolEvent& event) {
    const int node = pickEnd(event);
    pressedAt_ = event.view;
    dragging_ = true;
    end_ = event.scene;
    if (from_ >= 0) return aim(node);  // the second click of two
    from_ = node;
    to_ = -1;
}

void LinkTool::move(const ToolEvent& event) {
    const int node = pickEnd(event);
    end_ = event.scene;
    if (from_ < 0)
        context_.hovered = node;
    else
        aim(node);
    if (to_ >= 0 && to_ != from_) end_ = nearestPort(context_.scene().nodes()[to_].box, event.scene);
}

void LinkTool::release(const ToolEvent& event) {
    if (!std::exchange(dragging_, false)) return;
    aim(pickEnd(event));
    const bool click = (event.view - pressedAt_).manhattanLength() < QApplication::startDragDistance();
    if (from_ < 0) return;
    if (to_ >= 0 && to_ != from_) return connect();
    if (!click) from_ = to_ = -1;  // dropped on nothing: nothing is linked
}

void LinkTool::connect() {
    const Scene& scene = context_.scene();
    const ComponentPath from = scene.path(from_), to = scene.path(to_);
    from_ = to_ = -1;
    if (!context_.editor) return;
    context_.report(context_.editor->link(from, to));
    from_ = to_ = -1;
}

bool LinkTool::key(QKeyEvent* event) {
    if (event->key() != Qt::Key_Return && event->key() != Qt::Key_Enter) return false;
    const std::vector<int> boxes = context_.selectedBoxes();
    if (boxes.empty()) return true;
    if (boxes.size() == 2) {
        from_ = boxes.front();
        to_ = boxes.back();
        connect();
    } else if (from_ < 0 || from_ == boxes.back()) {
        from_ = boxes.back();
    } else {
        to_ = boxes.back();
        connect();
    }
    return true;
}

void LinkTool::designChanged() {
    from_ = to_ = -1;
    why_.clear();
    dragging_ = false;
}

bool LinkTool::cancel() {
    const bool was = from_ >= 0;
    designChanged();
    return was;
}

void LinkTool::paint(QPainter& painter) const {
    const Palette& colours = Theme::instance().colours();
    const Scene& scene = context_.scene();
    const bool bad = !why_.isEmpty();
    for (const int node : {from_, to_ >= 0 ? to_ : context_.hovered}) {
        if (node <= 0 || node >= static_cast<int>(scene.nodes().size()) || scene.linkOf(node) >= 0) continue;
        const QColor colour = bad && node == to_ ? colours.bad : colours.accent;
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(colour, 1.5));
        painter.drawRoundedRect(viewRect(context_, scene.nodes()[node].box).adjusted(-1, -1, 1, 1), 4, 4);
        painter.setBrush(colours.surface);
        for (const QPointF& port : portsOf(scene.nodes()[node].box))
            painter.drawEllipse(context_.view.toView(port), portRadius, portRadius);
    }
    if (from_ < 0) return;
    const QPointF begin = nearestPort(scene.nodes()[from_].box, end_);
    painter.setPen(QPen(bad ? colours.bad : colours.accent, 2, to_ < 0 || bad ? Qt::DashLine : Qt::SolidLine));
    painter.drawLine(context_.view.toView(begin), context_.view.toView(end_));
    painter.setBrush(bad ? colours.bad : colours.accent);
    painter.drawEllipse(context_.view.toView(begin), portRadius, portRadius);
    if (to_ >= 0 && to_ != from_) painter.drawEllipse(context_.view.toView(end_), portRadius, portRadius);
    paintNote(&painter, context_.cursor, why_, context_.view.rect(), true);
}

QRectF LinkTool::extent() const {
    const Scene& scene = context_.scene();
    QRectF area;
    for (const int node : {from_, to_, context_.hovered}) {
        if (node > 0 && node < static_cast<int>(scene.nodes().size()) && scene.linkOf(node) < 0)
            area |= viewRect(context_, scene.nodes()[node].box).adjusted(-7, -7, 7, 7);
    }
    if (from_ >= 0) {
        const QPointF begin = nearestPort(scene.nodes()[from_].box, end_);
        area |= QRectF(context_.view.toView(begin), context_.view.toView(end_)).normalized().adjusted(-6, -6, 6, 6);
    }
    return (area | paintNote(nullptr, context_.cursor, why_, context_.view.rect())) & QRectF(context_.view.rect());
}

QString LinkTool::hint() const {
    if (from_ < 0) return CanvasView::tr("Drag from one component to another, or walk to one with Tab and press Enter");
    return CanvasView::tr("To which component? Click it, or walk to it and press Enter; Esc starts again");
}

}  // namespace orrery::ui
