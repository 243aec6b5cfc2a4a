#include "app/window/input_manners.h"

#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>
#include <QLineEdit>
#include <QTabBar>
#include <QTimer>

#include <algorithm>

namespace orrery::app {

namespace {

// The line in which one types: a field's own, or that of a box around it, which has the focus in its place.
QLineEdit* lineOf(QObject* watched) {
    if (auto* line = qobject_cast<QLineEdit*>(watched)) return line;
    if (auto* combo = qobject_cast<QComboBox*>(watched)) return combo->lineEdit();
    auto* box = qobject_cast<QAbstractSpinBox*>(watched);
    return box ? box->findChild<QLineEdit*>() : nullptr;
}

// The popup of a choice lies in it, two levels down.
QComboBox* choiceAround(QObject* watched) {
    for (QObject* each = watched; each; each = each->parent())
        if (auto* box = qobject_cast<QComboBox*>(each)) return box;
    return nullptr;
}

// The first choice from `from` on, around the end, one of whose words begins so; or else one that has it anywhere.
int choiceOf(const QComboBox& box, const QString& typed, int from) {
    int within = -1;
    for (int i = 0; i < box.count(); ++i) {
        const int at = (from + i) % box.count();
        if (!(box.model()->flags(box.model()->index(at, box.modelColumn(), box.rootModelIndex())) & Qt::ItemIsEnabled))
            continue;
        const QString text = box.itemText(at);
        for (qsizetype found = 0; (found = text.indexOf(typed, found, Qt::CaseInsensitive)) >= 0; ++found) {
            if (found == 0 || !text[found - 1].isLetterOrNumber()) return at;
            if (within < 0) within = at;
        }
    }
    return within;
}

}  // namespace

bool InputManners::search(QComboBox& box, QAbstractItemView* popup, const QKeyEvent& key) {
    const QString letter = key.text();
    if (box.isEditable() || letter.isEmpty() || !letter[0].isPrint()) return false;
    if (key.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) return false;
    const bool goesOn =
        in_ == &box && since_.isValid() && !since_.hasExpired(QApplication::keyboardInputInterval() * 2);
    if (!goesOn && letter[0].isSpace()) return false;  // opens the list
    const int now = popup ? popup->currentIndex().row() : box.currentIndex();
    if (!goesOn) typed_.clear();
    const QString typed = typed_ + letter;
    const int found = choiceOf(box, typed, std::max(0, now + (goesOn ? 0 : 1)));
    in_ = &box;
    since_.start();
    if (found < 0) return goesOn;  // a slip takes nothing away: Qt would look for what begins with it
    typed_ = typed;
    if (popup) {
        popup->setCurrentIndex(box.model()->index(found, box.modelColumn(), box.rootModelIndex()));
    } else if (found != now) {
        box.setCurrentIndex(found);
        Q_EMIT box.textActivated(box.currentText());
        Q_EMIT box.activated(found);
    }
    return true;
}

bool InputManners::eventFilter(QObject* watched, QEvent* event) {
    switch (event->type()) {
        case QEvent::Wheel:
            if (!qobject_cast<QComboBox*>(watched) && !qobject_cast<QAbstractSpinBox*>(watched) &&
                !qobject_cast<QTabBar*>(watched))
                break;
            event->ignore();  // on to what scrolls around it
            return true;
        case QEvent::KeyPress: {
            auto* popup = qobject_cast<QAbstractItemView*>(watched);
            auto* box = popup ? choiceAround(popup) : qobject_cast<QComboBox*>(watched);
            if (box && search(*box, popup, *static_cast<QKeyEvent*>(event))) return true;
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
