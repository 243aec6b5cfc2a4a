#pragma once

// The line of a page that says where its work stands: refusals, and files that were saved.

#include "base/diagnostic.h"

#include <QStringList>

#include <functional>

class QWidget;

namespace orrery::ui {
class Label;
}

namespace orrery::app {

/// The column of a tab: its controls, and below them the line, which is given back. What follows is added to the
/// layout.
ui::Label* addStateLine(QWidget* tab, QWidget* controls, const char* id);
/// Message and hint, in the colour of errors; the whole diagnostic in the tip.
void sayRefusal(ui::Label& line, const Diagnostic& why);

struct SaveQuestion {
    QString title;
    const char* id = "";  ///< object name of the dialog, for scripts
    QStringList filters;  ///< `CSV (*.csv)`; the first one's ending is given to names without one
};
/// Asks where, without waiting. `save` writes the file and says what went wrong, or nothing; the line then says either.
/// `asker` is the dialog's parent: where it goes, nothing is saved.
void askAndSave(QWidget* asker, const SaveQuestion& question, std::function<QString(const QString& file)> save,
                ui::Label& line);

}  // namespace orrery::app
