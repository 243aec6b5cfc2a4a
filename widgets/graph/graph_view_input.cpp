// Mouse and keys of the graph view.

#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/graph/graph_view_state.h"
#include "widgets/plots/hover_card.h"
#include "widgets/plots/operator_facts.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMouseEvent>

#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr double edgeReach = 5;  // pixels around an edge that count as it

std::size_t at(int index) {
    return static_cast<std::size_t>(index);
}

}  // namespace

std::vector<int> GraphView::State::operatorsOf(int node) const {
    std::vector<int> result;
    if (!picture || node < 0) return result;
    const GraphScene::Node& shown = picture->scene.nodes[at(node)];
    if (shown.op >= 0) return {shown.op};
    if (shown.group < 0) return result;
    for (std::size_t op = 0; op < picture->scene.nodeOf.size(); ++op) {
        if (picture->scene.nodeOf[op] == node) result.push_back(static_cast<int>(op));
    }
    return result;
}

void GraphView::State::tellSelection(int node, bool toggle) {
    const std::vector<int> operators = operatorsOf(node);
    QSet<int> wanted = toggle ? selection->operators() : QSet<int>();
    const bool all = std::all_of(operators.begin(), operators.end(), [&](int op) { return wanted.contains(op); });
    for (const int op : operators) {
        if (toggle && all)
            wanted.remove(op);
        else
            wanted.insert(op);
    }
    selection->select(wanted);
}

void GraphView::State::setCurrent(int node, bool select) {
    look.current = node;
    if (select) tellSelection(node, false);
    ensureVisible(node);
    view->update();
}

void GraphView::State::hoverAt(const QPointF& point) {
    if (!picture) return;
    const GraphHit hit = hitAt(picture->scene, view->toScene(point), edgeReach / zoom);
    const bool onNode = hit.what == GraphHit::What::Node || hit.what == GraphHit::What::Expander;
    const int node = onNode ? hit.index : -1;
    const int edge = hit.what == GraphHit::What::Edge ? hit.index : -1;
    const int frame = hit.what == GraphHit::What::Caption ? hit.index : -1;
    const bool clickable = hit.what == GraphHit::What::Expander || hit.what == GraphHit::What::Caption;
    view->setCursor(clickable ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (node != look.hovered || edge != look.hoveredEdge || frame != look.hoveredFrame) {
        look.hovered = node;
        look.hoveredEdge = edge;
        look.hoveredFrame = frame;
        selection->hover(node >= 0 ? picture->scene.nodes[at(node)].op : -1);
        view->update();
    }
    if (onNode || edge >= 0)
        showCard(hit, point);
    else
        card->hide();
}

void GraphView::State::showCard(const GraphHit& hit, const QPointF& point) {
    HoverCard::Lines lines;
    const Graph& graph = picture->workload->graph;
    const auto tensorText = [](const Tensor& tensor) {
        const QString shape = tensor.ranked ? qs(toText(tensor.shape)) : GraphView::tr("unknown shape");
        return QStringLiteral("%1 %2").arg(shape, qs(toText(tensor.type)));
    };
    if (hit.what == GraphHit::What::Edge) {
        const GraphScene::Edge& edge = picture->scene.edges[at(hit.index)];
        for (const TensorId id : edge.tensors) {
            const Tensor* tensor = graph.tensor(id);
            if (!tensor) continue;
            if (lines.size() >= 12) {
                lines.emplace_back(QStringLiteral("…"), GraphView::tr("%1 tensors in all").arg(edge.tensors.size()));
                break;
            }
            lines.emplace_back(shortName(qs(tensor->name)),
                               QStringLiteral("%1 · %2").arg(tensorText(*tensor), text(tensor->bytes())));
        }
        const QString title = QStringLiteral("%1 → %2").arg(picture->scene.nodes[at(edge.from)].title,
                                                            picture->scene.nodes[at(edge.to)].title);
        return card->showAt(point.toPoint(), Theme::instance().colours().accent, title, lines);
    }
    const GraphScene::Node& node = picture->scene.nodes[at(hit.index)];
    QColor colour = Theme::instance().operatorColour(node.family);
    QString title = node.title;
    const HeatMetric* heat = shown();
    if (heat && at(hit.index) < values.size()) lines.emplace_back(heat->title, heatText(*heat, values[at(hit.index)]));
    if (node.op >= 0) {
        const Operator& op = graph.operators[at(node.op)];
        title = qs(op.name);
        const Estimate* estimate = snapshot ? snapshot->primaryEstimate() : nullptr;
        if (estimate && estimate->operators.size() == graph.operators.size()) {
            for (auto& line : operatorCard(*snapshot, *estimate, node.op)) lines.push_back(std::move(line));
        } else {
            lines.emplace_back(GraphView::tr("Kind"), QStringLiteral("%1 · %2").arg(kindText(op.kind), qs(op.type)));
            if (op.repeat > 1) lines.emplace_back(GraphView::tr("Repeats"), QStringLiteral("× %1").arg(op.repeat));
        }
        for (const TensorId id : op.outputs) {
            if (const Tensor* tensor = graph.tensor(id))
                lines.emplace_back(GraphView::tr("Output"), tensorText(*tensor));
        }
    } else if (node.group >= 0) {
        title = qs(picture->hierarchy->groups[at(node.group)].scope);
        lines.emplace_back(GraphView::tr("Holds"), node.second);
        for (std::size_t i = 0; i < std::min<std::size_t>(node.mix.size(), 5); ++i)
            lines.emplace_back(kindText(node.mix[i].first), percentText(double(node.mix[i].second)));
    } else if (const Tensor* tensor = graph.tensor(node.tensor)) {
        colour = Theme::instance().colours().mutedText;
        lines.emplace_back(node.input ? GraphView::tr("Input") : GraphView::tr("Output"), tensorText(*tensor));
        lines.emplace_back(GraphView::tr("Size"), text(tensor->bytes()));
    }
    card->showAt(point.toPoint(), colour, title, lines);
}

void GraphView::mousePressEvent(QMouseEvent* event) {
    State& s = *state_;
    setFocus(Qt::MouseFocusReason);
    s.card->hide();
    s.pressed = event->position();
    s.pressedOrigin = s.origin;
    s.pressedOn = s.picture ? hitAt(s.picture->scene, toScene(s.pressed), edgeReach / s.zoom) : GraphHit{};
    if (event->button() == Qt::MiddleButton || (event->button() == Qt::LeftButton && s.space)) {
        s.drag = State::Drag::Pan;
        setCursor(Qt::ClosedHandCursor);
    } else if (event->button() == Qt::LeftButton && s.minimap.isShown() && s.minimap.rect().contains(s.pressed)) {
        s.drag = State::Drag::Map;
        s.setView(s.minimap.toScene(s.pressed) - QPointF(width(), height()) / 2 / s.zoom, s.zoom);
    } else if (event->button() == Qt::LeftButton) {
        s.drag = State::Drag::Pressed;
    } else if (event->button() == Qt::RightButton && s.picture) {
        const bool onNode = s.pressedOn.what == GraphHit::What::Node || s.pressedOn.what == GraphHit::What::Expander;
        if (onNode) {
            s.look.current = s.pressedOn.index;
            if (!s.look.selected[at(s.pressedOn.index)]) s.tellSelection(s.pressedOn.index, false);
        }
        update();
        Q_EMIT menuRequested(event->globalPosition().toPoint());
    }
    event->accept();
}

void GraphView::mouseMoveEvent(QMouseEvent* event) {
    State& s = *state_;
    const QPointF by = event->position() - s.pressed;
    switch (s.drag) {
        case State::Drag::None:
            return s.hoverAt(event->position());
        case State::Drag::Pressed:
            if (by.manhattanLength() < QApplication::startDragDistance()) return;
            s.drag = event->modifiers() & Qt::ShiftModifier ? State::Drag::Band : State::Drag::Pan;
            if (s.drag == State::Drag::Pan) setCursor(Qt::ClosedHandCursor);
            return mouseMoveEvent(event);
        case State::Drag::Pan:
            return s.setView(s.pressedOrigin - by / s.zoom, s.zoom);
        case State::Drag::Band:
            s.band = QRectF(s.pressed, event->position()).normalized();
            return update();
        case State::Drag::Map:
            return s.setView(s.minimap.toScene(event->position()) - QPointF(width(), height()) / 2 / s.zoom, s.zoom);
    }
}

void GraphView::mouseReleaseEvent(QMouseEvent* event) {
    State& s = *state_;
    const State::Drag ended = std::exchange(s.drag, State::Drag::None);
    setCursor(s.space ? Qt::OpenHandCursor : Qt::ArrowCursor);
    if (!s.picture) return;
    if (ended == State::Drag::Band) {
        const QRectF area(toScene(s.band.topLeft()), toScene(s.band.bottomRight()));
        QSet<int> wanted = event->modifiers() & Qt::ControlModifier ? selection_->operators() : QSet<int>();
        for (const std::int32_t node : s.picture->scene.nodesIn(area)) {
            for (const int op : s.operatorsOf(node)) wanted.insert(op);
        }
        s.band = {};
        selection_->select(wanted);
    } else if (ended == State::Drag::Pressed && event->button() == Qt::LeftButton) {
        switch (s.pressedOn.what) {
            case GraphHit::What::Expander:
                setFolded(s.picture->scene.nodes[at(s.pressedOn.index)].group, false);
                break;
            case GraphHit::What::Caption:
                setFolded(s.picture->scene.frames[at(s.pressedOn.index)].group, true);
                break;
            case GraphHit::What::Node:
                s.look.current = s.pressedOn.index;
                s.tellSelection(s.pressedOn.index, event->modifiers() & Qt::ControlModifier);
                break;
            case GraphHit::What::Edge:
                break;
            case GraphHit::What::Nothing:
                if (!(event->modifiers() & Qt::ControlModifier)) selection_->clear();
                break;
        }
    }
    update();
}

void GraphView::mouseDoubleClickEvent(QMouseEvent* event) {
    State& s = *state_;
    if (!s.picture || event->button() != Qt::LeftButton) return;
    const GraphHit hit = hitAt(s.picture->scene, toScene(event->position()), edgeReach / s.zoom);
    if (hit.what != GraphHit::What::Node) return;
    const GraphScene::Node& node = s.picture->scene.nodes[at(hit.index)];
    if (node.group >= 0) setFolded(node.group, false);
    if (node.op >= 0) Q_EMIT operatorActivated(node.op);
}

void GraphView::wheelEvent(QWheelEvent* event) {
    State& s = *state_;
    const QPointF turn = event->angleDelta();
    if (event->modifiers() & Qt::ShiftModifier) {
        const double across = turn.x() != 0 ? turn.x() : turn.y();
        s.setView(s.origin - QPointF(across / s.zoom, 0), s.zoom);
    } else {
        const QPointF fixed = toScene(event->position());
        const double next = std::clamp(s.zoom * std::pow(1.0015, turn.y()), 0.0005, 4.0);
        s.setView(fixed - event->position() / next, next);
    }
    event->accept();
}

void GraphView::State::step(Qt::Key key) {
    if (!picture || picture->scene.nodes.empty()) return;
    const GraphScene& drawn = picture->scene;
    if (look.current < 0) {
        int first = 0;
        for (std::size_t n = 0; n < look.selected.size(); ++n) {
            if (look.selected[n]) first = static_cast<int>(n);
        }
        return setCurrent(first, true);
    }
    const bool forwards = key == (leftToRight ? Qt::Key_Right : Qt::Key_Down);
    const bool backwards = key == (leftToRight ? Qt::Key_Left : Qt::Key_Up);
    const QPointF here = drawn.nodes[at(look.current)].box.center();
    int best = -1;
    double least = 0;
    const auto offer = [&](int node, double cost) {
        if (node != look.current && (best < 0 || cost < least)) best = node, least = cost;
    };
    const auto across = [&](const QPointF& p) { return leftToRight ? p.y() : p.x(); };
    const auto along = [&](const QPointF& p) { return leftToRight ? p.x() : p.y(); };
    if (forwards || backwards) {
        for (const std::int32_t e : (forwards ? drawn.outOf : drawn.into)[at(look.current)]) {
            const int node = forwards ? drawn.edges[at(e)].to : drawn.edges[at(e)].from;
            const QPointF off = drawn.nodes[at(node)].box.center() - here;
            offer(node, std::abs(across(off)) + 0.1 * std::abs(along(off)));
        }
    } else {
        const double side = key == Qt::Key_Right || key == Qt::Key_Down ? 1 : -1;
        const QRectF near(here - QPointF(1500, 1500), QSizeF(3000, 3000));
        for (const std::int32_t n : drawn.nodesIn(near)) {
            const QPointF off = drawn.nodes[at(n)].box.center() - here;
            if (across(off) * side > 1) offer(n, std::abs(across(off)) + 3 * std::abs(along(off)));
        }
    }
    if (best >= 0) setCurrent(best, true);
}

void GraphView::walk(bool forwards) {
    State& s = *state_;
    s.step(s.leftToRight ? (forwards ? Qt::Key_Right : Qt::Key_Left) : (forwards ? Qt::Key_Down : Qt::Key_Up));
}

void GraphView::keyPressEvent(QKeyEvent* event) {
    State& s = *state_;
    const GraphScene* drawn = s.scene();
    switch (event->key()) {
        case Qt::Key_Up:
        case Qt::Key_Down:
        case Qt::Key_Left:
        case Qt::Key_Right:
            return s.step(static_cast<Qt::Key>(event->key()));
        case Qt::Key_P:
            return walk(false);
        case Qt::Key_C:
            if (event->modifiers() & Qt::ControlModifier) break;
            return walk(true);
        case Qt::Key_Return:
        case Qt::Key_Enter: {
            if (!drawn || s.look.current < 0) return;
            const GraphScene::Node& node = drawn->nodes[at(s.look.current)];
            if (node.group >= 0) return setFolded(node.group, false);
            if (node.op >= 0) Q_EMIT operatorActivated(node.op);
            return;
        }
        case Qt::Key_Backspace: {
            if (!drawn || s.look.current < 0) return;
            const GraphScene::Node& node = drawn->nodes[at(s.look.current)];
            const auto& groups = s.picture->hierarchy->groups;
            if (node.op >= 0) setFolded(s.picture->hierarchy->groupOf[at(node.op)], true);
            if (node.group >= 0) setFolded(groups[at(node.group)].parent, true);
            return;
        }
        case Qt::Key_F:
            if (event->modifiers() & Qt::ControlModifier) break;
            return fitSelection();
        case Qt::Key_Home:
            return fitAll();
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            return zoomBy(1.25);
        case Qt::Key_Minus:
            return zoomBy(0.8);
        case Qt::Key_F3:
            return findNext(event->modifiers() & Qt::ShiftModifier);
        case Qt::Key_Menu:
            if (drawn && s.look.current >= 0)
                Q_EMIT menuRequested(mapToGlobal(toView(drawn->nodes[at(s.look.current)].box.center()).toPoint()));
            return;
        case Qt::Key_Space:
            if (!event->isAutoRepeat()) {
                s.space = true;
                setCursor(Qt::OpenHandCursor);
            }
            return;
        case Qt::Key_Escape:
            if (s.drag == State::Drag::Pan)
                s.setView(s.pressedOrigin, s.zoom);
            else if (s.drag == State::Drag::None)
                selection_->clear();
            s.drag = State::Drag::None;
            s.band = {};
            setCursor(Qt::ArrowCursor);
            return update();
        default:
            break;
    }
    QWidget::keyPressEvent(event);
}

void GraphView::keyReleaseEvent(QKeyEvent* event) {
    if (event->key() != Qt::Key_Space || event->isAutoRepeat()) return QWidget::keyReleaseEvent(event);
    state_->space = false;
    if (state_->drag == State::Drag::None) setCursor(Qt::ArrowCursor);
}

void GraphView::leaveEvent(QEvent*) {
    State& s = *state_;
    s.card->hide();
    s.look.hovered = s.look.hoveredEdge = s.look.hoveredFrame = -1;
    selection_->hover(-1);
    update();
}

void GraphView::resizeEvent(QResizeEvent*) {
    if (!state_->placed) state_->place();
}

bool GraphView::event(QEvent* event) {
    // Keys that the window uses elsewhere belong to the graph while it has the focus.
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool plain = key->modifiers() == Qt::NoModifier || key->modifiers() == Qt::KeypadModifier;
        if (plain && (key->key() == Qt::Key_P || key->key() == Qt::Key_C || key->key() == Qt::Key_F ||
                      key->key() == Qt::Key_Space || key->key() == Qt::Key_Home || key->key() == Qt::Key_Backspace))
            event->accept();
    }
    return QWidget::event(event);
}

}  // namespace orrery::ui
