#include "widgets/canvas/tools/link.h"

#include "hardware/network/links.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/canvas/ports.h"
#include "widgets/canvas/tools/guides.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QApplication>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

constexpr double portReach = 10;    ///< pixels around a port that count as on it
constexpr double portRadius = 4;    ///< pixels
constexpr double leastBetween = 9;  ///< pixels from port to port; closer ones cannot be aimed at
constexpr double leastBox = 20;     ///< pixels; a smaller box has no ports to aim at

double apart(const QPointF& a, const QPointF& b) {
    return std::hypot(a.x() - b.x(), a.y() - b.y());
}

QPointF nearestSide(const QRectF& box, const QPointF& to) {
    const QPointF centre = box.center();
    const QPointF middles[] = {
        {box.left(), centre.y()}, {centre.x(), box.top()}, {box.right(), centre.y()}, {centre.x(), box.bottom()}};
    return *std::min_element(std::begin(middles), std::end(middles),
                             [&](const QPointF& a, const QPointF& b) { return apart(a, to) < apart(b, to); });
}

}  // namespace

LinkTool::LinkTool(ToolContext& context) : CanvasTool(context) {
    if (const std::vector<int> boxes = context.selectedBoxes(); boxes.size() == 1) from_.node = boxes.front();
}

bool LinkTool::isTaken(int node, const std::string& port) const {
    const Scene& scene = context_.scene();
    if (numberedPorts(*scene.nodes()[node].component) == 0) return false;  // a side takes any number of links
    const std::vector<int> links = scene.linksAt(node);
    return std::any_of(links.begin(), links.end(), [&](int index) {
        const SceneLink& link = scene.links()[index];
        return (link.from == node && link.fromPort == port) || (link.to == node && link.toPort == port);
    });
}

LinkTool::End LinkTool::pickEnd(const ToolEvent& event) const {
    const Scene& scene = context_.scene();
    const double zoom = context_.view.zoom(), reach = portReach / zoom;
    int node = context_.pick(event.scene);
    if (node >= 0 && scene.linkOf(node) >= 0) node = scene.nodes()[node].parent;
    if (node < 0) return {};
    // A port on a border belongs to the box whose border it is, even from just outside.
    std::vector<int> near;
    scene.childrenWithin(node, QRectF(event.scene - QPointF(reach, reach), QSizeF(2 * reach, 2 * reach)), near);
    if (node != context_.root()) near.push_back(node);
    End best;
    double least = reach;
    for (const int box : near) {
        const SceneNode& at = scene.nodes()[box];
        if (std::min(at.box.width(), at.box.height()) * zoom < leastBox) continue;
        for (const BoxPort& port : portsOf(*at.component, at.box, leastBetween / zoom)) {
            const double away = apart(port.at, event.scene);
            if (away > least || isTaken(box, port.name)) continue;
            least = away;
            best = {box, port.name, port.at};
        }
    }
    if (best.node >= 0) return best;
    if (node == context_.root()) return {};
    return {node, {}, event.scene};
}

void LinkTool::aim(const End& end) {
    const bool same = end.node == to_.node;
    to_ = end;
    if (same) return;
    why_.clear();
    if (from_.node < 0 || to_.node < 0 || from_.node == to_.node) return;
    const Scene& scene = context_.scene();
    const auto link = makeLink(scene.hardware()->root, scene.path(from_.node), scene.path(to_.node));
    if (!link) why_ = windowText(link.error().message);
}

void LinkTool::press(const ToolEvent& event) {
    const End end = pickEnd(event);
    pressedAt_ = event.view;
    dragging_ = true;
    end_ = event.scene;
    if (from_.node >= 0) return aim(end);  // the second click of two
    from_ = end;
    to_ = {};
}

void LinkTool::move(const ToolEvent& event) {
    const End end = pickEnd(event);
    end_ = end.port.empty() ? event.scene : end.at;
    if (from_.node < 0) {
        context_.hovered = end.node;
        to_ = end;  // shows the port that a press would take
        return;
    }
    aim(end);
    if (to_.node >= 0 && to_.node != from_.node && to_.port.empty())
        end_ = nearestSide(context_.scene().nodes()[to_.node].box, event.scene);
}

void LinkTool::release(const ToolEvent& event) {
    if (!std::exchange(dragging_, false)) return;
    const bool click = (event.view - pressedAt_).manhattanLength() < QApplication::startDragDistance();
    if (from_.node < 0) return;
    aim(pickEnd(event));
    if (to_.node >= 0 && to_.node != from_.node) return connect();
    if (!click) from_ = to_ = {};  // dropped on nothing: nothing is linked
}

void LinkTool::connect() {
    const Scene& scene = context_.scene();
    const ComponentPath from = scene.path(from_.node), to = scene.path(to_.node);
    const LinkPorts ports{from_.port, to_.port};
    from_ = to_ = {};
    why_.clear();
    if (!context_.editor) return;
    context_.report(context_.editor->link(from, to, ports));
    from_ = to_ = {};
}

bool LinkTool::key(QKeyEvent* event) {
    if (event->key() != Qt::Key_Return && event->key() != Qt::Key_Enter) return false;
    const std::vector<int> boxes = context_.selectedBoxes();
    if (boxes.empty()) return true;
    const auto whole = [](int node) { return End{node, {}, {}}; };
    if (boxes.size() == 2) {
        from_ = whole(boxes.front());
        to_ = whole(boxes.back());
        connect();
    } else if (from_.node < 0 || from_.node == boxes.back()) {
        from_ = whole(boxes.back());
    } else {
        to_ = whole(boxes.back());
        connect();
    }
    return true;
}

void LinkTool::designChanged() {
    from_ = to_ = {};
    why_.clear();
    dragging_ = false;
}

bool LinkTool::cancel() {
    const bool was = from_.node >= 0;
    designChanged();
    return was;
}

QPointF LinkTool::begin() const {
    return from_.port.empty() ? nearestSide(context_.scene().nodes()[from_.node].box, end_) : from_.at;
}

QString LinkTool::note() const {
    if (!why_.isEmpty()) return why_;
    const auto named = [&](const End& end) {
        const QString name = qs(nameOf(*context_.scene().nodes()[end.node].component));
        return end.port.empty() ? name : CanvasView::tr("%1, port %2").arg(name, qs(end.port));
    };
    if (from_.node < 0) return to_.port.empty() ? QString() : CanvasView::tr("from %1").arg(named(to_));
    if (to_.node < 0 || to_.node == from_.node) return {};
    return CanvasView::tr("%1 to %2").arg(named(from_), named(to_));
}

void LinkTool::paintEnds(QPainter& painter, const End& end, bool bad) const {
    const Scene& scene = context_.scene();
    if (end.node <= 0 || end.node >= static_cast<int>(scene.nodes().size()) || scene.linkOf(end.node) >= 0) return;
    const Palette& colours = Theme::instance().colours();
    const SceneNode& node = scene.nodes()[end.node];
    const QColor colour = bad ? colours.bad : colours.accent;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colour, 1.5));
    painter.drawRoundedRect(viewRect(context_, node.box).adjusted(-1, -1, 1, 1), 4, 4);
    for (const BoxPort& port : portsOf(*node.component, node.box, leastBetween / context_.view.zoom())) {
        const bool chosen = port.name == end.port;
        painter.setBrush(chosen ? colour : isTaken(end.node, port.name) ? colours.mutedText : colours.surface);
        const double radius = chosen ? portRadius + 1.5 : portRadius;
        painter.drawEllipse(context_.view.toView(port.at), radius, radius);
    }
}

void LinkTool::paint(QPainter& painter) const {
    const Palette& colours = Theme::instance().colours();
    const bool bad = !why_.isEmpty();
    if (from_.node >= 0) paintEnds(painter, from_, false);
    paintEnds(painter, to_.node >= 0 ? to_ : End{context_.hovered, {}, {}}, bad);
    if (from_.node >= 0) {
        painter.setPen(QPen(bad ? colours.bad : colours.accent, 2, to_.node < 0 || bad ? Qt::DashLine : Qt::SolidLine));
        const QPointF first = context_.view.toView(begin()), last = context_.view.toView(end_);
        painter.drawLine(first, last);
        painter.setBrush(bad ? colours.bad : colours.accent);
        painter.drawEllipse(first, portRadius, portRadius);
        if (to_.node >= 0 && to_.node != from_.node) painter.drawEllipse(last, portRadius, portRadius);
    }
    paintNote(&painter, context_.cursor, note(), context_.view.rect(), bad);
}

QRectF LinkTool::extent() const {
    const Scene& scene = context_.scene();
    QRectF area;
    for (const int node : {from_.node, to_.node, context_.hovered}) {
        if (node > 0 && node < static_cast<int>(scene.nodes().size()) && scene.linkOf(node) < 0)
            area |= viewRect(context_, scene.nodes()[node].box).adjusted(-8, -8, 8, 8);
    }
    if (from_.node >= 0) {
        area |= QRectF(context_.view.toView(begin()), context_.view.toView(end_)).normalized().adjusted(-7, -7, 7, 7);
    }
    return (area | paintNote(nullptr, context_.cursor, note(), context_.view.rect())) & QRectF(context_.view.rect());
}

QString LinkTool::hint() const {
    if (from_.node < 0)
        return CanvasView::tr("Drag from one component to another, at a dot to choose its port; or Tab and Enter");
    return CanvasView::tr("To which component? Click it, or go to it with Tab and press Enter; Esc starts again");
}

}  // namespace orrery::ui
