#include "app/window/about_dialog.h"
#include "app/window/bug_report.h"
#include "app/window/exports.h"
#include "app/window/help/handbook_places.h"
#include "app/window/jobs.h"
#include "app/window/lessons/lessons.h"
#include "app/window/main_window.h"
#include "app/window/other_programs.h"
#include "app/window/preferences_dialog.h"
#include "app/window/project_note.h"
#include "app/window/shortcuts_dialog.h"

#include <QUndoStack>

namespace orrery::app {

void MainWindow::buildActions() {
    const QString view = tr("View");
    Actions& a = studio_->actions;
    studio_->files.addActions();
    addExportActions(*studio_, *results_);
    a.add({"fileQuit", tr("File"), tr("&Quit"), tr("Close Orrery"), "application-exit", QKeySequence::Quit},
          [this] { close(); });
    addUndoActions();
    a.add({"editPreferences", tr("Edit"), tr("&Preferences…"),
           tr("Theme, motion, autosave, threads, size of exported plots"), "configure",
           QKeySequence(Qt::CTRL | Qt::Key_Comma)},
          [this] {
              if (!preferencesDialog_) {
                  preferencesDialog_ = new PreferencesDialog(this);
                  connect(preferencesDialog_, &PreferencesDialog::preferencesChanged, this,
                          &MainWindow::applyPreferences);
              }
              preferencesDialog_->show(preferences_);
          });
    studio_->layouts.addActions();
    a.addToggle({"viewDark", view, tr("Dar&k theme"), tr("Switch between light and dark"), "contrast",
                 QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_D)},
                preferences_.dark, [this](bool on) {
                    if (on != preferences_.dark) setTheme(on);
                });
    QAction* note = a.addToggle({"viewNote",
                                 view,
                                 tr("Project &note"),
                                 tr("The project's note, such as an example's instruction"),
                                 "documentinfo",
                                 {}},
                                true, [this](bool on) { note_->setWanted(on); });
    connect(note_, &ProjectNote::wantedChanged, note, &QAction::setChecked);
    a.add({"viewFullScreen", view, tr("&Full screen"), tr("Use the whole screen"), "view-fullscreen",
           QKeySequence(Qt::Key_F11)},
          [this] { isFullScreen() ? showNormal() : showFullScreen(); });
    jobs_->addActions();
    lessons_->addActions();
    a.add({"runPrograms",
           tr("Run"),
           tr("&Other programs…"),
           tr("Use installed tools as methods, or read their recorded output"),
           "utilities-terminal",
           {}},
          [this] {
              auto* programs = findChild<OtherPrograms*>();
              if (!programs) {
                  programs = new OtherPrograms(studio_->document, this);
                  connect(programs, &OtherPrograms::refused, &studio_->messages, &Messages::complain);
              }
              programs->show();
              programs->raise();
          });
    addHelpActions();
    studio_->router.join();
    studio_->router.addActions();
}

void MainWindow::addUndoActions() {
    const auto add = [this](const QString& id, const QString& text, const QString& icon, const QKeySequence& key,
                            bool undo) {
        QUndoStack* stack = studio_->document.undoStack();
        QAction* action = studio_->actions.add(
            {id, tr("Edit"), text, undo ? tr("Take the last edit back") : tr("Make the edit again"), icon, key},
            [stack, undo] { undo ? stack->undo() : stack->redo(); });
        action->setEnabled(false);
        connect(stack, undo ? &QUndoStack::canUndoChanged : &QUndoStack::canRedoChanged, action, &QAction::setEnabled);
        const QString keyText = key.toString(QKeySequence::NativeText);
        connect(stack, undo ? &QUndoStack::undoTextChanged : &QUndoStack::redoTextChanged, action,
                [action, text, keyText](const QString& what) {
                    action->setText(what.isEmpty() ? text : QStringLiteral("%1: %2").arg(text, what));
                    action->setToolTip(QStringLiteral("%1 (%2)").arg(action->text().remove(QLatin1Char('&')), keyText));
                });
    };
    add(QStringLiteral("editUndo"), tr("&Undo"), QStringLiteral("edit-undo"), QKeySequence::Undo, true);
    add(QStringLiteral("editRedo"), tr("&Redo"), QStringLiteral("edit-redo"),
        QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), false);
}

void MainWindow::addHelpActions() {
    const QString help = tr("Help");
    Actions& a = studio_->actions;
    a.add({"helpPalette", help, tr("&Find anything"),
           tr("Finds commands, pages, panels, methods, parameters, devices and handbook sections, by a few letters or "
              "by what they do"),
           "search", QKeySequence(Qt::CTRL | Qt::Key_K)},
          [this] { openPalette(); });
    a.add({"helpHandbook", help, tr("&Handbook"), tr("Opens the handbook page about the focused part"), "help-contents",
           QKeySequence(Qt::Key_F1)},
          [this] {
              QString place = handbookOf(focusWidget());
              if (place.isEmpty() && studio_->router.front()) place = handbookOf(studio_->router.front()->card().id);
              openHandbook(place);
          });
    a.add({"helpShortcuts", help, tr("&Keyboard shortcuts"), tr("All keys"), "input-keyboard",
           QKeySequence(Qt::CTRL | Qt::Key_Slash)},
          [this] {
              if (!shortcutsDialog_) shortcutsDialog_ = new ShortcutsDialog(studio_->actions, this);
              shortcutsDialog_->show();
              shortcutsDialog_->raise();
          });
    a.add({"helpBugReport",
           help,
           tr("&Bug report…"),
           tr("Save log and versions as one file to send, with the project if you allow it"),
           "tools-report-bug",
           {}},
          [this] { saveBugReport(*studio_); });
    a.add({"helpAbout", help, tr("&About Orrery"), tr("Version and licence"), "help-about", {}}, [this] {
        if (!aboutDialog_) aboutDialog_ = new AboutDialog(this);
        aboutDialog_->show();
        aboutDialog_->raise();
    });
}

}  // namespace orrery::app
