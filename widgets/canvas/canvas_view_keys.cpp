// The keyboard: everything that the mouse can do can be done here too.

#include "widgets/canvas/canvas_view_state.h"

#include <QKeyEvent>

#include <algorithm>

namespace orrery::ui {

void CanvasView::keyPressEvent(QKeyEvent* event) {
    State& state = *state_;
    if (event->key() == Qt::Key_Escape) {
        cancel();
    } else if (event->key() == Qt::Key_Space && !event->modifiers()) {
        if (!event->isAutoRepeat() && !state.context.busy()) {
            state.spaceHeld = true;
            setCursor(Qt::OpenHandCursor);
        }
        return;
    } else if (event->key() == Qt::Key_Shift || event->key() == Qt::Key_Alt || event->key() == Qt::Key_Control) {
        // Snapping, copying and staying inside follow their key at once, not with the next mouse move.
        const Qt::KeyboardModifiers held = QGuiApplication::queryKeyboardModifiers();
        state.active()->modifiersChanged(state.event(state.context.cursor, Qt::NoButton, held));
    } else if (!state.active()->key(event) && !state.context.busy() && !state.commonKey(event)) {
        QWidget::keyPressEvent(event);
        return;
    }
    state.dropEnded();
    state.overlayChanged();
    event->accept();
}

void CanvasView::keyReleaseEvent(QKeyEvent* event) {
    State& state = *state_;
    if (event->key() == Qt::Key_Space && !event->isAutoRepeat()) {
        state.spaceHeld = false;
        setCursor(state.active()->cursor());
    } else if (event->key() == Qt::Key_Shift || event->key() == Qt::Key_Alt || event->key() == Qt::Key_Control) {
        state.active()->modifiersChanged(
            state.event(state.context.cursor, Qt::NoButton, QGuiApplication::queryKeyboardModifiers()));
        state.overlayChanged();
    }
    QWidget::keyReleaseEvent(event);
}

// Tab walks siblings while something is selected; with nothing selected (Esc) it leaves the canvas as anywhere else.
bool CanvasView::focusNextPrevChild(bool next) {
    if (selection_->paths().empty() && !state_->context.busy()) return QWidget::focusNextPrevChild(next);
    return false;
}

bool CanvasView::State::commonKey(QKeyEvent* event) {
    const bool shift = event->modifiers() & Qt::ShiftModifier;
    const bool control = event->modifiers() & Qt::ControlModifier;
    const int key = event->key();
    const bool some = !context.selection.paths().empty();
    if (control) {
        switch (key) {
            case Qt::Key_C:
                view.copySelected();
                return true;
            case Qt::Key_X:
                view.cutSelected();
                return true;
            case Qt::Key_V:
                view.paste();
                return true;
            case Qt::Key_D:
                view.duplicateSelected();
                return true;
            case Qt::Key_G:
                shift ? view.ungroupSelected() : view.groupSelected();
                return true;
            case Qt::Key_A:
                view.selectAll();
                return true;
            case Qt::Key_0:
                view.fitAll();
                return true;
            case Qt::Key_1:
                view.setZoom(1, QRectF(view.rect()).center());
                return true;
            case Qt::Key_Plus:
            case Qt::Key_Equal:
                view.setZoom(zoom * 1.2, QRectF(view.rect()).center());
                return true;
            case Qt::Key_Minus:
                view.setZoom(zoom / 1.2, QRectF(view.rect()).center());
                return true;
            default:
                return false;
        }
    }
    switch (key) {
        case Qt::Key_Delete:
            view.removeSelected();
            return true;
        case Qt::Key_F2:
            view.renameCurrent();
            return true;
        case Qt::Key_F:
            shift ? view.fitSelection() : view.fitAll();
            return true;
        case Qt::Key_V:
            view.setTool(Tool::Select);
            return true;
        case Qt::Key_L:
            view.setTool(Tool::Link);
            return true;
        case Qt::Key_H:
            view.setTool(Tool::Pan);
            return true;
        case Qt::Key_M:
            view.setTool(Tool::Measure);
            return true;
        case Qt::Key_Tab:
            walk(1);
            return true;
        case Qt::Key_Backtab:
            walk(-1);
            return true;
        case Qt::Key_Backspace:
            if (some && context.selection.current() != entered)
                walkOut();
            else
                view.leave();
            return true;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (!some) {
                walkInto();
            } else {
                emit view.componentActivated(context.selection.current());
                if (currentNode() >= 0 && !scene.childrenOf(currentNode()).empty()) {
                    view.enter(context.selection.current());
                    walkInto();
                }
            }
            return true;
        default:
            break;
    }
    // Whole grid steps, or single units with Shift; without a selection the arrows look around.
    QPointF by;
    if (key == Qt::Key_Left)
        by = {-1, 0};
    else if (key == Qt::Key_Right)
        by = {1, 0};
    else if (key == Qt::Key_Up)
        by = {0, -1};
    else if (key == Qt::Key_Down)
        by = {0, 1};
    else
        return false;
    if (some && context.editor)
        view.nudgeSelected(by * (shift ? 1 : gridStep));
    else
        setView(zoom, origin - by * 48);
    return true;
}

void CanvasView::State::walk(int step) {
    const int node = currentNode();
    if (node <= 0) return walkInto();
    const auto family = scene.childrenOf(scene.nodes()[node].parent);
    const auto here = std::find(family.begin(), family.end(), node);
    if (here == family.end()) return;
    const auto count = static_cast<std::ptrdiff_t>(family.size());
    const int next = family[((here - family.begin()) + step + count) % count];
    context.selection.select({scene.path(next)});
    view.ensureVisible(scene.path(next));
}

void CanvasView::State::walkInto() {
    const int node = currentNode() >= 0 ? currentNode() : context.root();
    if (scene.nodes().empty() || scene.childrenOf(node).empty()) return;
    const ComponentPath first = scene.path(scene.childrenOf(node).front());
    context.selection.select({first});
    view.ensureVisible(first);
}

void CanvasView::State::walkOut() {
    ComponentPath out = context.selection.current();
    if (out.empty()) return;
    out.pop_back();
    if (out.size() < entered.size()) return view.leave();
    context.selection.select({out});
    if (out == entered && !entered.empty()) {
        view.leave();
        context.selection.select({out});
    } else {
        view.ensureVisible(out);
    }
}

}  // namespace orrery::ui
