#pragma once

// Drag and drop without a window system, whose loop the offscreen platform does not play: what a view would drag is
// taken from its model, and the target gets the events that a drag sends.

#include <QtTest>
#include <QtWidgets>

namespace orrery::ui::fixture {

/// What a drag of these rows would carry; null if one of them cannot be dragged.
inline std::unique_ptr<QMimeData> dragged(QAbstractItemView* view, const QModelIndexList& rows) {
    if (!view->dragEnabled()) return nullptr;
    for (const QModelIndex& row : rows)
        if (!(row.flags() & Qt::ItemIsDragEnabled)) return nullptr;
    return std::unique_ptr<QMimeData>(view->model()->mimeData(rows));
}

/// Enters, moves and drops at `at`. Returns whether the target took it.
inline bool dropAt(QWidget* target, const QPoint& at, const QMimeData* data, Qt::DropAction wanted) {
    const Qt::DropActions offered = Qt::CopyAction | Qt::MoveAction;
    QDragEnterEvent enter(at, offered, data, Qt::LeftButton, {});
    enter.setDropAction(wanted);
    QApplication::sendEvent(target, &enter);
    if (!enter.isAccepted()) return false;
    QDragMoveEvent move(at, offered, data, Qt::LeftButton, {});
    // As QGuiApplication sends it: what was accepted on entering stays so, unless the target says otherwise.
    move.setDropAction(enter.dropAction());
    move.accept();
    QApplication::sendEvent(target, &move);
    if (!move.isAccepted()) {
        QDragLeaveEvent leave;
        QApplication::sendEvent(target, &leave);
        return false;
    }
    QDropEvent drop(at, offered, data, Qt::LeftButton, {});
    drop.setDropAction(wanted);
    QApplication::sendEvent(target, &drop);
    QCoreApplication::processEvents();  // owners are told after the drag
    return drop.isAccepted();
}

}  // namespace orrery::ui::fixture
