// Where the graph view stands: zoom, pan, fitting, and finding operators.

#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/graph/graph_view_state.h"
#include "widgets/plots/hover_card.h"

#include <algorithm>

namespace orrery::ui {
namespace {

constexpr double nearest = 4, farthest = 0.0005;
constexpr double leastReadable = 0.55;  // below this the first look shows the beginning instead of all

}  // namespace

QRectF GraphView::State::area() const {
    return {origin, QSizeF(view->size()) / zoom};
}

QPointF GraphView::toView(const QPointF& scene) const {
    return (scene - state_->origin) * state_->zoom;
}

QPointF GraphView::toScene(const QPointF& view) const {
    return state_->origin + view / state_->zoom;
}

double GraphView::zoom() const {
    return state_->zoom;
}

void GraphView::State::setView(const QPointF& to, double scaled) {
    zoom = std::clamp(scaled, farthest, nearest);
    origin = to;
    card->hide();
    view->update();
}

void GraphView::State::place() {
    if (!picture || view->width() < 8 || view->height() < 8) return;
    const QRectF bounds = picture->scene.bounds.adjusted(-24, -24, 24, 24);
    const double wide = view->width() / bounds.width(), high = view->height() / bounds.height();
    const double usual = Theme::instance().scale();
    placed = true;
    if (std::min(wide, high) >= leastReadable * usual) {
        const double whole = std::min({wide, high, usual});
        return setView(bounds.center() - QPointF(view->width(), view->height()) / 2 / whole, whole);
    }
    // Too large to read as a whole: begin where the data comes in.
    const double reading = std::clamp(leftToRight ? high : wide, leastReadable * usual, 0.9 * usual);
    QPointF first = bounds.topLeft();
    const GraphScene::Node* start = nullptr;
    for (const GraphScene::Node& node : picture->scene.nodes) {
        const auto along = [this](const QRectF& box) { return leftToRight ? box.left() : box.top(); };
        if (!start || along(node.box) < along(start->box)) start = &node;
    }
    if (start) first = start->box.center();
    if (leftToRight)
        setView({bounds.left(), first.y() - view->height() / 2.0 / reading}, reading);
    else
        setView({first.x() - view->width() / 2.0 / reading, bounds.top()}, reading);
}

void GraphView::fitAll() {
    State& s = *state_;
    if (!s.picture) return;
    const QRectF bounds = s.picture->scene.bounds.adjusted(-24, -24, 24, 24);
    const double whole =
        std::min({width() / bounds.width(), height() / bounds.height(), 1.5 * Theme::instance().scale()});
    s.setView(bounds.center() - QPointF(width(), height()) / 2 / whole, whole);
}

void GraphView::fitSelection() {
    State& s = *state_;
    if (!s.picture) return;
    QRectF bounds;
    for (std::size_t n = 0; n < s.look.selected.size(); ++n) {
        if (s.look.selected[n]) bounds |= s.picture->scene.nodes[n].box;
    }
    if (bounds.isNull()) return fitAll();
    bounds.adjust(-80, -80, 80, 80);
    const double whole = std::min({width() / bounds.width(), height() / bounds.height(), Theme::instance().scale()});
    s.setView(bounds.center() - QPointF(width(), height()) / 2 / whole, whole);
}

void GraphView::zoomBy(double factor) {
    State& s = *state_;
    const QPointF middle = toScene(rect().center());
    const double next = std::clamp(s.zoom * factor, farthest, nearest);
    s.setView(middle - QPointF(rect().center()) / next, next);
}

void GraphView::State::centreOn(int node) {
    if (!picture || node < 0) return;
    const double reading = std::max(zoom, leastReadable * Theme::instance().scale());
    const QPointF middle = picture->scene.nodes[static_cast<std::size_t>(node)].box.center();
    setView(middle - QPointF(view->width(), view->height()) / 2 / reading, reading);
    placed = true;
}

void GraphView::State::ensureVisible(int node) {
    if (!picture || node < 0 || !placed) return;
    const QRectF box = picture->scene.nodes[static_cast<std::size_t>(node)].box;
    const QRectF seen = area();
    if (seen.contains(box)) return;
    if (!seen.intersects(box)) return setView(box.center() - QPointF(view->width(), view->height()) / 2 / zoom, zoom);
    QPointF to = origin;
    const double room = 24 / zoom;
    if (box.left() < seen.left())
        to.rx() += box.left() - seen.left() - room;
    else if (box.right() > seen.right())
        to.rx() += box.right() - seen.right() + room;
    if (box.top() < seen.top())
        to.ry() += box.top() - seen.top() - room;
    else if (box.bottom() > seen.bottom())
        to.ry() += box.bottom() - seen.bottom() + room;
    setView(to, zoom);
}

void GraphView::revealOperator(int op) {
    State& s = *state_;
    if (!s.workload || op < 0 || static_cast<std::size_t>(op) >= s.workload->graph.operators.size()) return;
    s.reveal = op;
    if (!s.picture || s.picture->workload != s.workload) return;  // shown once the drawing arrives
    if (!s.open) s.open = s.picture->open;
    bool changed = false;
    const auto& groups = s.picture->hierarchy->groups;
    for (std::int32_t g = s.picture->hierarchy->groupOf[static_cast<std::size_t>(op)]; g >= 0;
         g = groups[static_cast<std::size_t>(g)].parent) {
        if ((*s.open)[static_cast<std::size_t>(g)]) continue;
        (*s.open)[static_cast<std::size_t>(g)] = true;
        changed = true;
    }
    if (changed || s.worker.isBusy()) return s.request();
    s.reveal = -1;
    const int node = s.picture->scene.nodeOf[static_cast<std::size_t>(op)];
    s.setCurrent(node, false);
    s.centreOn(node);
}

void GraphView::State::search() {
    matching.clear();
    foundAt = -1;
    if (workload && !query.isEmpty()) {
        const auto& operators = workload->graph.operators;
        for (std::size_t op = 0; op < operators.size(); ++op) {
            if (qs(operators[op].name).contains(query, Qt::CaseInsensitive) ||
                qs(operators[op].type).contains(query, Qt::CaseInsensitive))
                matching.push_back(static_cast<int>(op));
        }
    }
    mark();
    Q_EMIT view->matchesChanged();
}

void GraphView::find(const QString& text) {
    if (state_->query == text.trimmed()) return;
    state_->query = text.trimmed();
    state_->search();
    update();
}

void GraphView::findNext(bool backwards) {
    State& s = *state_;
    if (s.matching.empty()) return;
    const int count = static_cast<int>(s.matching.size());
    s.foundAt = s.foundAt < 0 ? (backwards ? count - 1 : 0) : (s.foundAt + (backwards ? count - 1 : 1)) % count;
    const int op = s.matching[static_cast<std::size_t>(s.foundAt)];
    s.mark();
    revealOperator(op);
    selection_->select({op});
    Q_EMIT matchesChanged();
}

int GraphView::matches() const {
    return static_cast<int>(state_->matching.size());
}

int GraphView::currentMatch() const {
    return state_->foundAt + 1;
}

}  // namespace orrery::ui
