// Edits of the selection: what menus and keys ask for. Each asks the editor once.

#include "hardware/check/validate.h"
#include "hardware/walk.h"
#include "widgets/canvas/canvas_view_state.h"
#include "widgets/canvas/clipboard.h"
#include "widgets/canvas/free_place.h"
#include "widgets/common/text.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMimeData>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace orrery::ui {

namespace {

constexpr int mergeNudgesWithin = 1000;  ///< ms between key presses that count as one move

QRectF boundsOf(const Scene& scene, const std::vector<int>& nodes) {
    QRectF bounds;
    for (const int node : nodes) bounds |= scene.nodes()[node].box;
    return bounds;
}

}  // namespace

bool CanvasView::State::report(const Expected<void>& done) {
    if (!done) context.refuse(done.error());
    return done.has_value();
}

bool CanvasView::State::report(const Expected<ComponentPaths>& made) {
    if (!made) {
        context.refuse(made.error());
        return false;
    }
    if (!made->empty()) context.selection.select(*made);
    return true;
}

void CanvasView::State::move(const QString& words, const std::vector<std::pair<int, QPointF>>& topLefts, int gesture) {
    std::vector<std::pair<int, Placement>> moved;
    for (const auto& [node, topLeft] : topLefts)
        moved.emplace_back(node, scene.placementAt(scene.nodes()[node].parent, topLeft, node));
    arrange(words, moved, gesture);
}

void CanvasView::State::arrange(const QString& words, const std::vector<std::pair<int, Placement>>& moved,
                                int gesture) {
    if (!context.editor || moved.empty()) return;
    // Siblings keep the places that they have, or the layout would move them around the moved one.
    std::map<ComponentPath, Placement> all;
    std::set<int> parents;
    for (const auto& [node, place] : moved) parents.insert(scene.nodes()[node].parent);
    for (const int parent : parents) {
        for (PlacedAt& frozen : scene.frozen(parent)) all[std::move(frozen.path)] = frozen.at;
    }
    for (const auto& [node, place] : moved) all[scene.path(node)] = place;
    std::vector<PlacedAt> places;
    for (auto& [path, place] : all) places.push_back({path, place});
    report(context.editor->arrange(words, places, gesture));
}

void CanvasView::removeSelected() {
    if (state_->context.busy()) cancel();
    if (!state_->context.editor || selection_->paths().empty()) return;
    const ComponentPaths gone = selection_->paths();
    if (state_->report(state_->context.editor->remove(gone))) selection_->clear();
}

void CanvasView::duplicateSelected() {
    const ComponentPaths paths = selection_->paths();
    if (!state_->context.editor || paths.empty()) return;
    // Beside the originals, where nothing stands; those of several containers each within its own, shifted alike.
    const Scene& scene = state_->scene;
    const std::vector<int> boxes = state_->context.selectedBoxes();
    QPointF shift(2 * gridStep, 2 * gridStep);
    const bool siblings = !boxes.empty() && std::ranges::all_of(boxes, [&](int box) {
        return scene.nodes()[box].parent == scene.nodes()[boxes.front()].parent;
    });
    if (siblings && scene.nodes()[boxes.front()].parent >= 0) {
        const QRectF bounds = boundsOf(scene, boxes);
        const std::vector<QRectF> taken = standing(scene, scene.nodes()[boxes.front()].parent);
        shift = freePlace(bounds.translated(bounds.width() + 2 * gridStep, 0), taken, 2 * gridStep) - bounds.topLeft();
    }
    state_->report(state_->context.editor->duplicate(paths, shift.x(), shift.y()));
}

void CanvasView::copySelected() {
    const Scene& scene = state_->scene;
    if (!scene.hardware() || selection_->paths().empty()) return;
    Clip clip{copied(*scene.hardware(), selection_->paths()), {}};
    if (clip.parts.empty()) return;
    const std::vector<int> boxes = state_->context.selectedBoxes();
    const QPointF corner = boundsOf(scene, boxes).topLeft();
    // Links among the copied come with them, so the parts are found again by what they are.
    std::vector<bool> used(boxes.size());
    for (const Component& part : clip.parts) {
        Placement place;
        place.placed = false;
        for (std::size_t i = 0; i < boxes.size(); ++i) {
            const SceneNode& node = scene.nodes()[boxes[i]];
            if (used[i] || node.component->name != part.name || node.component->kind != part.kind) continue;
            used[i] = true;
            place = scene.placementOf(boxes[i]);
            place.x = node.box.x() - corner.x();
            place.y = node.box.y() - corner.y();
            place.placed = true;
            break;
        }
        clip.places.push_back(place);
    }
    QGuiApplication::clipboard()->setMimeData(toMimeData(clip).release());
}

void CanvasView::cutSelected() {
    if (!state_->context.editor) return;
    copySelected();
    removeSelected();
}

void CanvasView::paste() {
    if (!state_->context.editor) return;
    auto clip = fromMimeData(QGuiApplication::clipboard()->mimeData());
    if (!clip) return state_->context.refuse(clip.error());
    const bool pointed = rect().contains(state_->context.cursor.toPoint()) && underMouse();
    const QPointF at = toScene(state_->context.cursor);
    state_->placeParts(std::move(clip->parts), std::move(clip->places), pointed ? &at : nullptr);
}

void CanvasView::State::placeParts(std::vector<Component> parts, std::vector<Placement> places, const QPointF* at) {
    std::vector<ComponentKind> kinds;
    for (const Component& part : parts) kinds.push_back(part.kind);
    int under = at ? context.pick(*at) : currentNode();
    if (under < 0) under = context.root();
    if (scene.nodes().empty()) return;
    const int holder = holderFrom(scene, under, context.root(), kinds);
    if (holder < 0) {
        return context.refuse({Severity::Error,
                               "canvas.nesting",
                               whyNot(*scene.nodes()[under].component, kinds).toStdString(),
                               "a component that can contain all of it",
                               "enter such a component, or select it first",
                               {}});
    }
    // Without a point, beside the original: one step down for each paste would be guessing; the layout finds room.
    QPointF corner = at ? *at : QPointF();
    if (snaps) corner = QPointF(std::round(corner.x() / gridStep), std::round(corner.y() / gridStep)) * gridStep;
    if (!at)
        places.clear();
    else if (places.empty())
        places.resize(parts.size());
    if (at) {
        // All of it to where it touches nothing, kept together.
        const std::vector<QRectF> sizes = sideBySide(parts);
        QRectF all;
        for (std::size_t i = 0; i < std::min(places.size(), sizes.size()); ++i) {
            if (places[i].placed)
                all |= QRectF(corner + QPointF(places[i].x, places[i].y),
                              sizes[i].size().expandedTo({places[i].width, places[i].height}));
        }
        if (!all.isEmpty()) corner += freePlace(all, standing(scene, holder)) - all.topLeft();
    }
    for (Placement& place : places) {
        if (!place.placed) continue;
        const Placement base = scene.placementAt(holder, corner + QPointF(place.x, place.y));
        place.x = base.x;
        place.y = base.y;
    }
    const std::vector<PlacedAt> room = at ? context.roomFor(holder, parts, places) : std::vector<PlacedAt>{};
    report(context.editor->add(scene.path(holder), std::move(parts), places, room));
}

void CanvasView::groupSelected() {
    State& state = *state_;
    if (!state.context.editor || selection_->paths().empty()) return;
    const std::vector<int> boxes = state.context.selectedBoxes();
    if (boxes.empty()) return;
    const int parent = state.scene.nodes()[boxes.front()].parent;
    if (parent < 0) return;
    // The outermost kind that may stand there and hold all of them.
    for (int kind = 0; kind < componentKindCount; ++kind) {
        const auto container = static_cast<ComponentKind>(kind);
        const ComponentKind outer = state.scene.nodes()[parent].component->kind;
        if (container == ComponentKind::Topology || container == outer || !mayContain(outer, container)) continue;
        const bool holds = std::all_of(boxes.begin(), boxes.end(), [&](int node) {
            return mayContain(container, state.scene.nodes()[node].component->kind);
        });
        if (!holds) continue;
        state.report(state.context.editor->group(selection_->paths(), container));
        return;
    }
    state.context.refuse({Severity::Error,
                          "canvas.group",
                          tr("No component here can contain these").toStdString(),
                          "siblings of kinds that go together",
                          "Select fewer kinds",
                          {}});
}

void CanvasView::ungroupSelected() {
    const ComponentPaths paths = selection_->paths();
    if (!state_->context.editor || paths.empty()) return;
    state_->report(state_->context.editor->ungroup(paths.back()));
}

void CanvasView::alignSelected(Alignment alignment) {
    const Scene& scene = state_->scene;
    const std::vector<int> boxes = state_->context.selectedBoxes();
    if (boxes.size() < 2) return;
    const QRectF all = boundsOf(scene, boxes);
    std::vector<std::pair<int, QPointF>> moved;
    for (const int node : boxes) {
        QRectF box = scene.nodes()[node].box;
        switch (alignment) {
            case Alignment::Left:
                box.moveLeft(all.left());
                break;
            case Alignment::Right:
                box.moveRight(all.right());
                break;
            case Alignment::Centre:
                box.moveCenter({all.center().x(), box.center().y()});
                break;
            case Alignment::Top:
                box.moveTop(all.top());
                break;
            case Alignment::Bottom:
                box.moveBottom(all.bottom());
                break;
            case Alignment::Middle:
                box.moveCenter({box.center().x(), all.center().y()});
                break;
        }
        moved.emplace_back(node, box.topLeft());
    }
    state_->move(tr("Align %1 components").arg(moved.size()), moved);
}

void CanvasView::distributeSelected(Qt::Orientation direction) {
    const Scene& scene = state_->scene;
    std::vector<int> boxes = state_->context.selectedBoxes();
    if (boxes.size() < 3) return;
    const bool across = direction == Qt::Horizontal;
    const auto begin = [&](int n) { return across ? scene.nodes()[n].box.left() : scene.nodes()[n].box.top(); };
    const auto extent = [&](int n) { return across ? scene.nodes()[n].box.width() : scene.nodes()[n].box.height(); };
    std::stable_sort(boxes.begin(), boxes.end(), [&](int a, int b) { return begin(a) < begin(b); });
    double room = begin(boxes.back()) + extent(boxes.back()) - begin(boxes.front());
    for (const int node : boxes) room -= extent(node);
    const double gap = room / static_cast<double>(boxes.size() - 1);  // equal gaps, not equal centres
    double at = begin(boxes.front());
    std::vector<std::pair<int, QPointF>> moved;
    for (const int node : boxes) {
        QPointF corner = scene.nodes()[node].box.topLeft();
        (across ? corner.rx() : corner.ry()) = at;
        moved.emplace_back(node, corner);
        at += extent(node) + gap;
    }
    state_->move(tr("Distribute %1 components").arg(moved.size()), moved);
}

void CanvasView::nudgeSelected(const QPointF& by) {
    State& state = *state_;
    const std::vector<int> boxes = state.context.selectedBoxes();
    if (!state.context.editor || boxes.empty()) return;
    if (state.nudgeGesture == 0 || state.sinceNudge.elapsed() > mergeNudgesWithin)
        state.nudgeGesture = state.context.editor->newGesture();
    state.sinceNudge.start();
    std::vector<std::pair<int, QPointF>> moved;
    for (const int node : boxes) {
        if (node > 0) moved.emplace_back(node, state.scene.nodes()[node].box.topLeft() + by);
    }
    const int gesture = state.nudgeGesture;
    const QString words = moved.size() == 1
                              ? tr("Move %1").arg(qs(nameOf(*state.scene.nodes()[moved.front().first].component)))
                              : tr("Move %1 components").arg(moved.size());
    state.move(words, moved, gesture);
    state.nudgeGesture = gesture;  // the selection may have been announced again meanwhile
}

void CanvasView::foldSelected(bool folded) {
    State& state = *state_;
    if (!state.context.editor) return;
    std::vector<PlacedAt> places;
    for (const int node : state.context.selectedBoxes()) {
        const Placement* given =
            state.scene.placements()
                ? state.scene.placements()->find(placementKey(state.scene.hardware()->root, state.scene.path(node)))
                : nullptr;
        Placement place = given ? *given : Placement{};
        if (!given) place.placed = false;
        // A topology has no inside; open, it is drawn with its real switches and links.
        const bool network =
            state.scene.nodes()[static_cast<std::size_t>(node)].component->kind == ComponentKind::Topology &&
            partsIn(*state.scene.nodes()[static_cast<std::size_t>(node)].component).empty();
        bool& closed = network ? place.expanded : place.folded;
        const bool wanted = network ? !folded : folded;
        if (closed == wanted) continue;
        closed = wanted;
        places.push_back({state.scene.path(node), place});
    }
    if (places.empty()) return;
    const QString what = places.size() == 1
                             ? qs(nameOf(*componentAt(state.scene.hardware()->root, places.front().path)))
                             : tr("%1 components").arg(places.size());
    state.report(state.context.editor->arrange(folded ? tr("Fold %1").arg(what) : tr("Unfold %1").arg(what), places));
}

void CanvasView::arrangeAutomatically() {
    if (!state_->context.editor) return;
    const ComponentPath inside = selection_->paths().empty() ? state_->entered : selection_->current();
    state_->report(state_->context.editor->arrangeAutomatically(inside));
}

void CanvasView::selectAll() {
    const Scene& scene = state_->scene;
    if (scene.nodes().empty()) return;
    const int current = state_->currentNode();
    const int parent = current > 0 ? scene.nodes()[current].parent : state_->context.root();
    std::vector<ComponentPath> all;
    for (const int child : scene.childrenOf(parent)) all.push_back(scene.path(child));
    selection_->select(std::move(all));
}

void CanvasView::renameCurrent() {
    const int node = state_->currentNode();
    if (state_->context.editor && node >= 0) state_->showRename(node);
}

}  // namespace orrery::ui
