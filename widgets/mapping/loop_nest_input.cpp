// Mouse, wheel and keys of the loop nest.

#include "widgets/common/text.h"
#include "widgets/mapping/loop_nest_paint.h"
#include "widgets/mapping/loop_nest_view.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

namespace orrery::ui {

void LoopNestView::mousePressEvent(QMouseEvent* event) {
    const QPoint at = toWhole(event->position().toPoint());
    pressed_ = at;
    if (event->button() != Qt::LeftButton) return;
    for (const TensorRow& row : layout_.tensors) {
        if (!row.keep.adjusted(-4, -4, 4, 4).contains(at) && !row.name.contains(at)) continue;
        NestMapping changed = mapping_;
        if (toggleKeep(changed, row.level, row.tensor)) take(std::move(changed), current_);
        return;
    }
    setCurrent(loopAt(layout_, at));
}

void LoopNestView::mouseMoveEvent(QMouseEvent* event) {
    const QPoint at = toWhole(event->position().toPoint());
    if (!(event->buttons() & Qt::LeftButton)) {
        const auto over = loopAt(layout_, at);
        if (over == hovered_) return;
        hovered_ = over;
        viewport()->setCursor(over ? Qt::OpenHandCursor : Qt::ArrowCursor);
        return viewport()->update();
    }
    if (!dragged_ && current_ && (at - pressed_).manhattanLength() >= QApplication::startDragDistance()) {
        dragged_ = current_;
        viewport()->setCursor(Qt::ClosedHandCursor);
    }
    if (!dragged_) return;
    drop_ = dropAt(layout_, mapping_, at.y());
    viewport()->update();
}

void LoopNestView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !dragged_) return;
    const auto from = std::exchange(dragged_, std::nullopt);
    const auto to = std::exchange(drop_, std::nullopt);
    viewport()->setCursor(Qt::ArrowCursor);
    if (!to || !holds(mapping_, *from)) return viewport()->update();
    NestMapping changed = mapping_;
    const LoopPlace now = moveLoop(changed, *from, *to);
    take(std::move(changed), now);
}

void LoopNestView::wheelEvent(QWheelEvent* event) {
    const QPoint at = toWhole(event->position().toPoint());
    const auto loop = loopAt(layout_, at);
    // Over the chosen loop the wheel turns its number; elsewhere it scrolls.
    if (!loop || loop != current_ || event->angleDelta().y() == 0) return QAbstractScrollArea::wheelEvent(event);
    event->accept();
    turned_ += event->angleDelta().y();
    for (; turned_ >= 120 && current_; turned_ -= 120) turn(*current_, true);
    for (; turned_ <= -120 && current_; turned_ += 120) turn(*current_, false);
}

void LoopNestView::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && dragged_) {
        dragged_.reset();
        drop_.reset();
        viewport()->setCursor(Qt::ArrowCursor);
        return viewport()->update();
    }
    if (event->matches(QKeySequence::Undo) && canUndo()) return undo();
    const bool moves = event->modifiers() & Qt::AltModifier;
    const auto row = std::ranges::find_if(layout_.loops, [&](const LoopRow& r) { return r.place == current_; });
    switch (event->key()) {
        case Qt::Key_Up:
        case Qt::Key_Down: {
            const bool up = event->key() == Qt::Key_Up;
            if (layout_.loops.empty()) return;
            if (row == layout_.loops.end())
                return setCurrent((up ? layout_.loops.back() : layout_.loops.front()).place);
            if (moves) return shift(*current_, up);
            if (up && row != layout_.loops.begin()) setCurrent(std::prev(row)->place);
            if (!up && std::next(row) != layout_.loops.end()) setCurrent(std::next(row)->place);
            return;
        }
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            if (current_) turn(*current_, true);
            return;
        case Qt::Key_Minus:
            if (current_) turn(*current_, false);
            return;
        case Qt::Key_X:
            if (current_) change(*current_, LoopKind::SpatialX);
            return;
        case Qt::Key_Y:
            if (current_) change(*current_, LoopKind::SpatialY);
            return;
        case Qt::Key_T:
            if (current_) change(*current_, LoopKind::Temporal);
            return;
        default:
            QAbstractScrollArea::keyPressEvent(event);
    }
}

void LoopNestView::contextMenuEvent(QContextMenuEvent* event) {
    if (event->reason() == QContextMenuEvent::Mouse) setCurrent(loopAt(layout_, toWhole(event->pos())));
    if (!current_) return;
    const LoopPlace loop = *current_;
    QMenu menu(this);
    menu.setObjectName(QStringLiteral("mapping.nest.menu"));
    const auto add = [&](const QString& words, const QString& key, auto action) {
        menu.addAction(words + QLatin1Char('\t') + key, this, action);
    };
    add(tr("Larger"), QStringLiteral("+"), [this, loop] { turn(loop, true); });
    add(tr("Smaller"), QStringLiteral("−"), [this, loop] { turn(loop, false); });
    add(tr("Move outwards"), tr("Alt+Up"), [this, loop] { shift(loop, true); });
    add(tr("Move inwards"), tr("Alt+Down"), [this, loop] { shift(loop, false); });
    menu.addSeparator();
    add(tr("Spread across columns"), QStringLiteral("X"), [this, loop] { change(loop, LoopKind::SpatialX); });
    add(tr("Spread across rows"), QStringLiteral("Y"), [this, loop] { change(loop, LoopKind::SpatialY); });
    add(tr("One after the other"), QStringLiteral("T"), [this, loop] { change(loop, LoopKind::Temporal); });
    menu.exec(event->globalPos());
}

QString LoopNestView::tip(const QPoint& whole) const {
    if (const auto loop = loopAt(layout_, whole)) {
        return describe(*loop) + QLatin1Char('\n') + tr("Drag it, or click it and turn the wheel");
    }
    const NestCounts* counts = counts_ ? &*counts_ : lastGood_ ? &*lastGood_ : nullptr;
    for (const TensorRow& row : layout_.tensors) {
        if (!row.box.contains(whole)) continue;
        const QString name =
            tr("%1 at %2").arg(qs(problem_.tensors[row.tensor].name), qs(hardware_.levels[row.level].name));
        if (!counts || !counts->levels[row.level].tensors[row.tensor].kept) return name + tr(": passes by");
        const TensorCounts& what = counts->levels[row.level].tensors[row.tensor];
        return name + QStringLiteral(": ") + heldText(hardware_, what, row.level) + QLatin1Char('\n') +
               tr("of each of %L1 instances in use: %2").arg(what.instances).arg(trafficText(what));
    }
    return {};
}

bool LoopNestView::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        const QString words = tip(toWhole(help->pos()));
        if (!words.isEmpty()) {
            QToolTip::showText(help->globalPos(), words, viewport());
            return true;
        }
    }
    if (event->type() == QEvent::Leave && hovered_) {
        hovered_.reset();
        viewport()->update();
    }
    return QAbstractScrollArea::viewportEvent(event);
}

bool LoopNestView::event(QEvent* event) {
    // Its single letters and Undo are its own while it has the keyboard, not the window's.
    if (event->type() == QEvent::ShortcutOverride) {
        auto* key = static_cast<QKeyEvent*>(event);
        const bool plain = key->modifiers() == Qt::NoModifier || key->modifiers() == Qt::KeypadModifier;
        const bool own = plain && (key->key() == Qt::Key_X || key->key() == Qt::Key_Y || key->key() == Qt::Key_T ||
                                   key->key() == Qt::Key_Plus || key->key() == Qt::Key_Minus);
        const bool moves =
            key->modifiers() == Qt::AltModifier && (key->key() == Qt::Key_Up || key->key() == Qt::Key_Down);
        if (own || moves || (key->matches(QKeySequence::Undo) && canUndo())) event->accept();
    }
    return QAbstractScrollArea::event(event);
}

}  // namespace orrery::ui
