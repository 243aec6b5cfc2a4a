#include "app/document/run_controller.h"
#include "app/window/about_dialog.h"
#include "app/window/actions.h"
#include "app/window/examples.h"
#include "app/window/main_window.h"
#include "app/window/preferences_dialog.h"
#include "app/window/shortcuts_dialog.h"
#include "hardware/files/catalogue.h"
#include "widgets/common/theme.h"
#include "widgets/welcome/command_palette.h"

#include <QActionGroup>
#include <QFileInfo>
#include <QMenuBar>
#include <QTabWidget>

namespace orrery::app {

namespace {

constexpr auto ctrlShift = Qt::CTRL | Qt::SHIFT;

}  // namespace

void MainWindow::buildActions() {
    const QString file = tr("File"), edit = tr("Edit"), view = tr("View"), run = tr("Run"), help = tr("Help");
    Actions& a = *actions_;
    a.add({"fileNew", file, tr("&New project"), tr("Start an empty project and draw its hardware"), "document-new",
           QKeySequence::New},
          [this] { drawYourOwn(); });
    a.add({"fileOpen", file, tr("&Open…"), tr("Open a project, a hardware file, an ONNX model or a config.json"),
           "document-open", QKeySequence::Open},
          [this] { chooseFile(); });
    a.add({"fileSave", file, tr("&Save"), tr("Save the project"), "document-save", QKeySequence::Save},
          [this] { save(); });
    a.add({"fileSaveAs", file, tr("Save &as…"), tr("Save the project in another file"), "document-save-as",
           QKeySequence(ctrlShift | Qt::Key_S)},
          [this] { saveAs(); });
    a.add(
        {"fileExport", file, tr("&Export pictures…"), tr("Write every picture as PNG, SVG or PDF, and the data as CSV"),
         "document-export", QKeySequence(ctrlShift | Qt::Key_E)},
        [this] { exportAll(); });
    a.add({"fileReport", file, tr("Export &report…"), tr("Write a folder with an HTML report, pictures, CSV and JSON"),
           "document-export", QKeySequence(ctrlShift | Qt::Key_R)},
          [this] { exportReportInteractive(); });
    a.add({"fileQuit", file, tr("&Quit"), tr("Close Orrery"), "application-exit", QKeySequence::Quit},
          [this] { close(); });

    const auto undoable = [&](const QString& id, const QString& text, const QString& icon, const QKeySequence& key,
                              bool undo) {
        QUndoStack* stack = document_->undoStack();
        QAction* action =
            a.add({id, edit, text, undo ? tr("Take the last edit back") : tr("Make the edit again"), icon, key},
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
    undoable(QStringLiteral("editUndo"), tr("&Undo"), QStringLiteral("edit-undo"), QKeySequence::Undo, true);
    undoable(QStringLiteral("editRedo"), tr("&Redo"), QStringLiteral("edit-redo"), QKeySequence(ctrlShift | Qt::Key_Z),
             false);
    a.add({"editPreferences", edit, tr("&Preferences…"), tr("Theme, motion, autosave, threads"), "configure",
           QKeySequence(Qt::CTRL | Qt::Key_Comma)},
          [this] {
              if (!preferencesDialog_) {
                  preferencesDialog_ = new PreferencesDialog(this);
                  connect(preferencesDialog_, &PreferencesDialog::preferencesChanged, this,
                          &MainWindow::applyPreferences);
              }
              preferencesDialog_->show(preferences_);
          });

    auto* layouts = new QActionGroup(this);
    const auto layout = [&](Layout which, const QString& text, const QString& meaning, int key) {
        QAction* action =
            a.add({QStringLiteral("layout-") + toText(which), view, text, meaning, {}, QKeySequence(Qt::ALT | key)},
                  [this, which] { setLayoutMode(which); });
        action->setCheckable(true);
        layouts->addAction(action);
    };
    layout(Layout::Explore, tr("&Explore"), tr("Documents, library, inspector and results"), Qt::Key_1);
    layout(Layout::Teach, tr("&Teach"), tr("Large type and few panels, for presenting"), Qt::Key_2);
    layout(Layout::Compare, tr("&Compare"), tr("Methods and operators side by side"), Qt::Key_3);
    layout(Layout::Draw, tr("&Draw"), tr("Room for the canvas, with palette, inspector and problems"), Qt::Key_4);
    a.add({"layoutReset", view, tr("&Reset layout"), tr("Arrange the docks as they ship"), {}, {}},
          [this] { setLayoutMode(docks_->layout(), true); });
    a.addToggle({"viewDocuments",
                 view,
                 tr("&Documents"),
                 tr("Show the document pages above the results"),
                 {},
                 QKeySequence(Qt::ALT | Qt::Key_0)},
                true, [this](bool on) { showDocuments(on); });
    a.add({"viewWelcome", view, tr("&Welcome page"), tr("Examples and recent projects"), "go-home",
           QKeySequence(ctrlShift | Qt::Key_H)},
          [this] {
              showDocuments(true);
              documents_->setCurrentIndex(0);
          });
    a.addToggle({"viewDark", view, tr("Dar&k theme"), tr("Switch between light and dark"), "contrast",
                 QKeySequence(ctrlShift | Qt::Key_D)},
                preferences_.dark, [this](bool on) {
                    if (on != preferences_.dark) setTheme(on);
                });
    a.add({"viewFullScreen", view, tr("&Full screen"), tr("Use the whole screen"), "view-fullscreen",
           QKeySequence(Qt::Key_F11)},
          [this] { isFullScreen() ? showNormal() : showFullScreen(); });

    a.add({"runStart", run, tr("&Run"), tr("Run all methods on all scenarios of the project and keep the results"),
           "media-playback-start", QKeySequence(Qt::Key_F5)},
          [this] { runs_->start(); });
    a.addToggle({"runLive",
                 run,
                 tr("&Live"),
                 tr("Evaluate the live methods on every edit"),
                 {},
                 QKeySequence(Qt::CTRL | Qt::Key_L)},
                true, [this](bool on) { live_->setEnabled(on); });
    a.add({"runCancel", run, tr("&Cancel runs"), tr("Stop all runs; what has come so far is kept"), "process-stop",
           QKeySequence(Qt::SHIFT | Qt::Key_F5)},
          [this] { runs_->cancelAll(); });

    a.add({"helpPalette", help, tr("&Find anything"), tr("Commands, devices, models and examples by a few letters"),
           "search", QKeySequence(Qt::CTRL | Qt::Key_K)},
          [this] { openPalette(); });
    QAction* keys = a.add(
        {"helpShortcuts", help, tr("&Keyboard shortcuts"), tr("All keys"), "input-keyboard", QKeySequence(Qt::Key_F1)},
        [this] {
            if (!shortcutsDialog_) shortcutsDialog_ = new ShortcutsDialog(*actions_, this);
            shortcutsDialog_->show();
            shortcutsDialog_->raise();
        });
    keys->setShortcuts({QKeySequence(Qt::Key_F1), QKeySequence(Qt::CTRL | Qt::Key_Slash)});
    buildCanvasActions();
    a.add({"helpAbout", help, tr("&About Orrery"), tr("Version and licence"), "help-about", {}}, [this] {
        if (!aboutDialog_) aboutDialog_ = new AboutDialog(this);
        aboutDialog_->show();
        aboutDialog_->raise();
    });
}

void MainWindow::buildMenus() {
    const auto menu = [this](const QString& id, const QString& title) {
        QMenu* made = menuBar()->addMenu(title);
        made->setObjectName(id);
        made->setToolTipsVisible(true);
        return made;
    };
    const auto put = [this](QMenu* into, std::initializer_list<const char*> ids) {
        for (const char* id : ids) {
            if (*id == '-') {
                into->addSeparator();
            } else {
                into->addAction(actions_->find(QLatin1String(id)));
            }
        }
    };
    menuBar()->setObjectName(QStringLiteral("menuBar"));
    menuBar()->setAccessibleName(tr("Menu"));
    QMenu* file = menu(QStringLiteral("menuFile"), tr("&File"));
    put(file, {"fileNew", "fileOpen"});
    QMenu* recent = file->addMenu(tr("Open &recent"));
    connect(recent, &QMenu::aboutToShow, this, [this, recent] { buildRecentMenu(recent); });
    QMenu* gallery = file->addMenu(tr("Open e&xample"));
    connect(gallery, &QMenu::aboutToShow, this, [this, gallery] {
        gallery->clear();
        for (const Example& example : examples()) {
            QAction* action = gallery->addAction(example.title, this, [this, id = example.id] { openExample(id); });
            action->setToolTip(example.description);
        }
    });
    put(file, {"-", "fileSave", "fileSaveAs", "-"});
    QMenu* exports = file->addMenu(tr("&Export"));
    exports->setObjectName(QStringLiteral("menuExport"));
    exports->setToolTipsVisible(true);
    put(exports, {"fileExportDrawing", "fileExportDesign", "-", "fileExport", "fileReport"});
    put(file, {"-", "fileQuit"});
    put(menu(QStringLiteral("menuEdit"), tr("&Edit")),
        {"editUndo", "editRedo", "-", "editCut", "editCopy", "editPaste", "editDuplicate", "editDelete", "-",
         "editRename", "editSelectAll", "editFind", "editCopyPicture", "-", "editPreferences"});
    QMenu* view = menu(QStringLiteral("menuView"), tr("&View"));
    put(view, {"layout-explore", "layout-teach", "layout-compare", "layout-draw", "layoutReset", "-", "viewDocuments",
               "viewWelcome"});
    QMenu* panels = view->addMenu(tr("&Panels"));
    for (Dock* dock : docks_->all()) panels->addAction(dock->toggleViewAction());
    QMenu* canvas = view->addMenu(tr("&Canvas"));
    canvas->setObjectName(QStringLiteral("menuCanvas"));
    canvas->setToolTipsVisible(true);
    put(canvas, {"canvasFit", "canvasFitSelection", "canvasZoomIn", "canvasZoomOut", "canvasZoomOne", "-",
                 "canvasEnter", "canvasLeave", "canvasOperators", "-", "canvasGrid", "canvasSnap", "canvasMap",
                 "canvasTree", "-", "toolSelect", "toolLink", "toolPan", "toolMeasure"});
    put(view, {"-", "viewDark", "viewFullScreen"});
    fillInsertMenu(menu(QStringLiteral("menuInsert"), tr("&Insert")));
    put(menu(QStringLiteral("menuArrange"), tr("&Arrange")),
        {"editGroup", "editUngroup", "arrangeFold", "arrangeOpen", "-", "alignLeft", "alignCentre", "alignRight",
         "alignTop", "alignMiddle", "alignBottom", "-", "distributeAcross", "distributeDown", "-", "arrangeAuto",
         "arrangeForget"});
    QMenu* design = menu(QStringLiteral("menuDesign"), tr("&Design"));
    put(design, {"designNew", "designDerive", "designDuplicate"});
    QMenu* presets = design->addMenu(tr("Derive from a &preset"));
    presets->setObjectName(QStringLiteral("menuPresets"));
    presets->setToolTipsVisible(true);
    connect(presets, &QMenu::aboutToShow, this, [this, presets] { fillPresetMenu(presets); });
    put(design, {"-", "designRename", "designDelete"});
    put(menu(QStringLiteral("menuRun"), tr("&Run")), {"runStart", "runCancel", "-", "runLive"});
    put(menu(QStringLiteral("menuHelp"), tr("&Help")), {"helpPalette", "helpShortcuts", "-", "helpAbout"});
}

void MainWindow::buildRecentMenu(QMenu* menu) {
    menu->clear();
    for (const QString& file : recentFiles()) {
        QAction* action = menu->addAction(QFileInfo(file).fileName(), this, [this, file] { openFile(file); });
        action->setToolTip(file);
        action->setEnabled(QFileInfo::exists(file));
    }
    if (menu->isEmpty()) {
        menu->addAction(tr("Nothing yet"))->setEnabled(false);
        return;
    }
    menu->addSeparator();
    menu->addAction(tr("Clear"), this, [this] {
        clearRecentFiles();
        fillWelcome();
    });
}

void MainWindow::openPalette() {
    palette_->setActions(actions_->list());
    palette_->setProvider([this] {
        std::vector<ui::PaletteEntry> entries;
        for (const Example& example : examples()) {
            entries.push_back({example.title, tr("Example"), {}, {}, [this, id = example.id] { openExample(id); }});
        }
        for (const CatalogueEntry& entry : hardwareCatalogue()) {
            entries.push_back({QString::fromStdString(entry.name),
                               tr("Device"),
                               QString::fromStdString(entry.group),
                               {},
                               [this, id = entry.id] { addCatalogueHardware(QString::fromStdString(id)); }});
        }
        for (const WorkloadInfo& info : builtinWorkloads()) {
            entries.push_back({QString::fromStdString(info.name),
                               tr("Model"),
                               QString::fromStdString(info.group),
                               {},
                               [this, id = info.id] { addBuiltinWorkload(QString::fromStdString(id)); }});
        }
        return entries;
    });
    palette_->open();
}

}  // namespace orrery::app
