#include "app/window/input_manners.h"

#include <QAbstractSpinBox>
#include <QComboBox>
#include <QKeyEvent>
#include <QLineEdit>
#include <QTimer>

namespace orrery::app {

namespace {

// The line in which one types: a field's own, or that of a box around it, which has the focus in its place.
QLineEdit* lineOf(QObject* watched) {
    if (auto* line = qobject_cast<QLineEdit*>(watched)) return line;
    if (auto* combo = qobject_cast<QComboBox*>(watched)) return combo->lineEdit();
    auto* box = qobject_cast<QAbstractSpinBox*>(watched);
    return box ? box->findChild<QLineEdit*>() : nullptr;
}

}  // namespace

bool InputManners::eventFilter(QObject* watched, QEvent* event) {
    switch (event->type()) {
        case QEvent::Wheel:
            if (!qobject_cast<QComboBox*>(watched) && !qobject_cast<QAbstractSpinBox*>(watched)) break;
            event->ignore();  // on to what scrolls around it
            return true;
        case QEvent::KeyPress: {
            const int key = static_cast<QKeyEvent*>(event)->key();
            const bool enters = key == Qt::Key_Return || key == Qt::Key_Enter;
            QLineEdit* line = enters && !qobject_cast<QLineEdit*>(watched) ? lineOf(watched) : nullptr;
            // Of a box: once the key has done its work, nothing is half typed. Fields by themselves say so.
            if (line) QTimer::singleShot(0, line, [line] { line->setModified(false); });
            break;
        }
        case QEvent::ShortcutOverride: {
            const auto* key = static_cast<QKeyEvent*>(event);
            if (!key->matches(QKeySequence::Undo) && !key->matches(QKeySequence::Redo)) break;
            const QLineEdit* line = lineOf(watched);
            if (!line || line->isModified()) break;
            event->ignore();
            return true;
        }
        default:
            break;
    }
    return QObject::eventFilter(watched, event);
}

}  // namespace orrery::app
