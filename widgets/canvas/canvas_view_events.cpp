// Mouse, wheel, touch and drops: handed to the gesture under way, else to the tool.

#include "hardware/edit/tree_edit.h"
#include "widgets/canvas/canvas_view_state.h"
#include "widgets/canvas/clipboard.h"
#include "widgets/canvas/tools/pan.h"
#include "widgets/canvas/tools/place.h"

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QMimeData>
#include <QNativeGestureEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {
/// What canvas_view_keys.cpp and the tools answer to; all other keys stay with the window's commands.
bool isCanvasKey(int key) {
    switch (key) {
        case Qt::Key_Left:
        case Qt::Key_Right:
        case Qt::Key_Up:
        case Qt::Key_Down:
        case Qt::Key_Space:
        case Qt::Key_Tab:
        case Qt::Key_Backtab:
        case Qt::Key_Return:
        case Qt::Key_Enter:
        case Qt::Key_Escape:
        case Qt::Key_Delete:
        case Qt::Key_Backspace:
        case Qt::Key_F2:
        case Qt::Key_F:
        case Qt::Key_H:
        case Qt::Key_L:
        case Qt::Key_M:
        case Qt::Key_V:
            return true;
        default:
            return false;
    }
}
}  // namespace

namespace {
const QString componentMime = QStringLiteral("application/x-orrery-component");
const QString hardwareMime = QStringLiteral("application/x-orrery-hardware");

constexpr double edgeWidth = 28;    ///< pixels at the border in which a drag scrolls
constexpr double edgeFastest = 18;  ///< pixels a frame

/// How far to scroll in one frame along one axis.
double edgePull(double at, double length) {
    const double before = edgeWidth - at, after = at - (length - edgeWidth);
    const double depth = before > 0 ? -before : after > 0 ? after : 0;
    return std::clamp(depth / edgeWidth, -1.0, 1.0) * edgeFastest;
}
}  // namespace

void CanvasView::State::followEdge() {
    const QPointF pull(edgePull(context.cursor.x(), view.width()), edgePull(context.cursor.y(), view.height()));
    if (pull.isNull()) entering = false;
    if (!dragging || entering || pull.isNull() || !active()->scrollsAtEdge()) return edge.stop();
    if (!edge.isActive()) return edge.start();  // not at the very moment in which a drag begins there
    setView(zoom, origin - pull);
    active()->move(event(context.cursor, Qt::NoButton, QGuiApplication::queryKeyboardModifiers()));
    overlayChanged();
}

void CanvasView::mousePressEvent(QMouseEvent* event) {
    State& state = *state_;
    QToolTip::hideText();
    if (state.context.busy()) return event->accept();  // a second button while one drags
    const ToolEvent what = state.event(event->position(), event->button(), event->modifiers());
    state.context.cursor = what.view;
    state.nudgeGesture = 0;
    if (event->button() == Qt::MiddleButton || (event->button() == Qt::LeftButton && state.spaceHeld)) {
        state.context.begin(std::make_unique<PanTool>(state.context));
        state.context.gesture->press(what);
    } else if (event->button() == Qt::LeftButton) {
        state.tool->press(what);
        if (state.context.busy()) state.context.gesture->press(what);
    } else if (event->button() == Qt::RightButton) {
        const int node = state.context.pick(what.scene);
        if (node >= 0 && !selection_->contains(state.scene.path(node))) selection_->select({state.scene.path(node)});
    }
    state.dropEnded();
    state.overlayChanged();
}

void CanvasView::mouseMoveEvent(QMouseEvent* event) {
    State& state = *state_;
    const ToolEvent what = state.event(event->position(), Qt::NoButton, event->modifiers());
    state.context.cursor = what.view;
    if (event->buttons() == Qt::NoButton) {
        const int node = state.context.pick(what.scene);
        if (node != state.context.hovered) {
            state.context.hovered = node;
            emit hoverChanged(node >= 0 ? state.scene.path(node) : ComponentPath{}, node >= 0);
        }
    }
    const bool wasBusy = state.context.busy();
    state.active()->move(what);
    if (!wasBusy && state.context.busy()) state.context.gesture->move(what);
    state.dropEnded();
    state.overlayChanged();
    state.dragging = event->buttons() & Qt::LeftButton;
    state.entering = false;
    state.followEdge();
}

void CanvasView::mouseReleaseEvent(QMouseEvent* event) {
    State& state = *state_;
    const ToolEvent what = state.event(event->position(), event->button(), event->modifiers());
    state.dragging = false;
    state.active()->release(what);
    state.dropEnded();
    state.overlayChanged();
}

void CanvasView::mouseDoubleClickEvent(QMouseEvent* event) {
    State& state = *state_;
    if (event->button() != Qt::LeftButton) return;
    state.active()->doubleClick(state.event(event->position(), event->button(), event->modifiers()));
    state.dropEnded();
    state.overlayChanged();
}

void CanvasView::wheelEvent(QWheelEvent* event) {
    QToolTip::hideText();
    const bool touchpad = !event->pixelDelta().isNull() && event->phase() != Qt::NoScrollPhase;
    const QPointF steps = touchpad ? QPointF(event->pixelDelta()) : QPointF(event->angleDelta()) / 120.0 * 64;
    if (event->modifiers() & Qt::ShiftModifier) {
        state_->setView(zoom(), state_->origin + QPointF(steps.x() + steps.y(), 0));
    } else if (touchpad && !(event->modifiers() & Qt::ControlModifier)) {
        state_->setView(zoom(), state_->origin + steps);
    } else {
        // Alt turns the wheel sideways on some platforms.
        const double turn = steps.y() != 0 ? steps.y() : steps.x();
        setZoom(zoom() * std::pow(1.2, turn / 64), event->position());
    }
    state_->overlayChanged();
    event->accept();
}

bool CanvasView::event(QEvent* event) {
    switch (event->type()) {
        case QEvent::NativeGesture: {
            auto* gesture = static_cast<QNativeGestureEvent*>(event);
            if (gesture->gestureType() != Qt::ZoomNativeGesture) break;
            setZoom(zoom() * (1 + gesture->value()), gesture->position());
            return true;
        }
        case QEvent::ToolTip: {
            auto* help = static_cast<QHelpEvent*>(event);
            const int node = state_->context.busy() ? -1 : state_->context.pick(toScene(help->pos()));
            if (node > 0) {
                const int link = state_->scene.linkOf(node);
                QRect where = state_->toView(state_->scene.nodes()[node].box).toAlignedRect();
                if (link >= 0) where = QRect(help->pos() - QPoint(6, 6), QSize(12, 12));
                QToolTip::showText(help->globalPos(), state_->cardText(node), this, where);
            } else {
                QToolTip::hideText();
            }
            return true;
        }
        case QEvent::ShortcutOverride: {
            // Keys that are the canvas's own while it has the focus; those with Ctrl stay with the menus.
            auto* key = static_cast<QKeyEvent*>(event);
            const auto others = key->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier);
            if (!others && isCanvasKey(key->key())) event->accept();
            return QWidget::event(event);
        }
        default:
            break;
    }
    return QWidget::event(event);
}

void CanvasView::leaveEvent(QEvent* event) {
    if (state_->context.hovered >= 0) {
        state_->context.hovered = -1;
        emit hoverChanged({}, false);
    }
    state_->overlayChanged();
    QWidget::leaveEvent(event);
}

void CanvasView::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
}

void CanvasView::focusOutEvent(QFocusEvent* event) {
    state_->spaceHeld = false;
    QWidget::focusOutEvent(event);
    update();
}

void CanvasView::contextMenuEvent(QContextMenuEvent* event) {
    if (state_->context.busy()) return;
    if (state_->kind != Tool::Select && event->reason() == QContextMenuEvent::Mouse) return cancel();
    QPoint at = event->globalPos();
    if (event->reason() == QContextMenuEvent::Keyboard && state_->currentNode() >= 0)
        at = mapToGlobal(state_->toView(state_->scene.nodes()[state_->currentNode()].box).center().toPoint());
    emit menuRequested(at);
}

void CanvasView::dragEnterEvent(QDragEnterEvent* event) {
    State& state = *state_;
    const QMimeData* dragged = event->mimeData();
    if (!state.context.editor) return;
    std::vector<Component> parts;
    if (dragged->hasFormat(componentMime)) {
        if (auto read = readComponents(dragged->data(componentMime).toStdString())) parts = std::move(*read);
    } else if (dragged->hasFormat(hardwareMime) && state.library) {
        parts = state.library(QString::fromUtf8(dragged->data(hardwareMime)));
    }
    if (parts.empty()) return event->ignore();
    event->acceptProposedAction();
    startPlacing(std::move(parts));
    state.dragging = state.entering = true;
}

void CanvasView::dragMoveEvent(QDragMoveEvent* event) {
    State& state = *state_;
    state.context.cursor = event->position();
    if (state.kind == Tool::Place) state.tool->move(state.event(event->position(), Qt::NoButton, event->modifiers()));
    state.overlayChanged();
    state.followEdge();
    event->acceptProposedAction();
}

void CanvasView::dragLeaveEvent(QDragLeaveEvent*) {
    state_->dragging = false;
    if (state_->kind == Tool::Place) setTool(Tool::Select);
}

void CanvasView::dropEvent(QDropEvent* event) {
    State& state = *state_;
    state.dragging = false;
    if (state.kind != Tool::Place) return event->ignore();
    const ToolEvent what = state.event(event->position(), Qt::LeftButton, event->modifiers());
    state.context.cursor = what.view;
    state.tool->move(what);
    if (event->mimeData()->hasFormat(componentMime)) {
        state.tool->press(what);
        state.tool->release(what);
        setTool(Tool::Select);
    } else {
        // The document knows the sources that the device's numbers cite.
        const auto& place = static_cast<const PlaceTool&>(*state.tool);
        const int holder = place.target();
        const QPointF corner = place.corner();
        if (holder < 0) place.refuse();
        const ComponentPath into = state.scene.path(std::max(holder, 0));
        setTool(Tool::Select);
        if (holder >= 0) emit libraryDropped(QString::fromUtf8(event->mimeData()->data(hardwareMime)), into, corner);
    }
    event->acceptProposedAction();
    setFocus(Qt::OtherFocusReason);
    state.overlayChanged();
}

}  // namespace orrery::ui
