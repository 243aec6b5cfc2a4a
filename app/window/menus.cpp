#include "app/window/menus.h"

#include "app/window/studio.h"

#include <QCoreApplication>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>

#include <map>

namespace orrery::app {

namespace {

QString words(const char* text) {
    return QCoreApplication::translate("Menus", text);
}

class Builder {
public:
    Builder(QMenuBar& bar, Studio& studio) : bar_(bar), studio_(studio) {}

    QMenu* menu(const QString& id, const QString& title, const QString& under = {}) {
        QMenu*& made = menus_[id];
        if (made) return made;
        made = under.isEmpty() ? bar_.addMenu(title) : menu(under, {})->addMenu(title);
        made->setObjectName(id);
        made->setToolTipsVisible(true);
        return made;
    }
    void put(QMenu* into, const QStringList& ids) {
        for (const QString& id : ids) {
            if (id == QLatin1String("-")) {
                into->addSeparator();
            } else {
                into->addAction(studio_.actions.find(id));
            }
        }
    }
    /// What pages put into `id`, and into menus under it.
    void pages(const QString& id) {
        for (const MenuPart& part : parts_) {
            if (part.menu == id || part.under == id) add(part);
        }
    }
    /// Menus of pages that stand in the bar.
    void barOfPages() {
        for (const MenuPart& part : parts_) {
            if (menus_.contains(part.menu) || part.title.isEmpty() || !part.under.isEmpty()) continue;
            menu(part.menu, part.title);
            pages(part.menu);
        }
    }

private:
    void add(const MenuPart& part) {
        QMenu* into = menu(part.menu, part.title, part.under);
        put(into, part.actions);
        if (!part.fill) return;
        if (!part.fresh) return part.fill(into);
        QObject::connect(into, &QMenu::aboutToShow, into, [into, fill = part.fill] {
            into->clear();
            fill(into);
        });
    }

    QMenuBar& bar_;
    Studio& studio_;
    std::vector<MenuPart> parts_ = studio_.router.menus();
    std::map<QString, QMenu*> menus_;
};

}  // namespace

void buildMenus(QMainWindow& window, Studio& studio) {
    window.menuBar()->setObjectName(QStringLiteral("menuBar"));
    window.menuBar()->setAccessibleName(words("Menu"));
    Builder build(*window.menuBar(), studio);
    const QString file = QStringLiteral("menuFile"), edit = QStringLiteral("menuEdit"),
                  view = QStringLiteral("menuView"), exports = QStringLiteral("menuExport");

    QMenu* files = build.menu(file, words("&File"));
    build.put(files, {"fileNew", "fileOpen"});
    build.pages(file);
    build.put(files, {"-", "fileSave", "fileSaveAs", "-"});
    QMenu* out = build.menu(exports, words("&Export"), file);
    build.pages(exports);
    build.put(out, {"fileExport", "fileReport"});
    build.put(files, {"-", "fileQuit"});

    QMenu* edits = build.menu(edit, words("&Edit"));
    build.put(edits, {"editUndo", "editRedo", "-"});
    build.pages(edit);
    build.put(edits, {"editPreferences"});

    QMenu* views = build.menu(view, words("&View"));
    build.put(views,
              {"layout-explore", "layout-teach", "layout-compare", "layout-draw", "layoutReset", "-", "viewDocuments"});
    QMenu* pages = build.menu(QStringLiteral("menuPages"), words("Pa&ges"), view);
    pages->addActions(studio.router.actions());
    QMenu* panels = build.menu(QStringLiteral("menuPanels"), words("&Panels"), view);
    for (Dock* dock : studio.docks.all()) panels->addAction(dock->toggleViewAction());
    build.pages(view);
    build.put(views, {"-", "viewDark", "viewNote", "viewFullScreen"});

    build.barOfPages();
    const QString run = QStringLiteral("menuRun"), help = QStringLiteral("menuHelp");
    build.put(build.menu(run, words("&Run")),
              {"runStart", "runCancel", "-", "runLive", "-", "runMethods", "-", "fidelity.ladder", "fidelity.budget",
               "fidelity.advice", "-", "runPrograms"});
    build.pages(run);
    QMenu* helps = build.menu(help, words("&Help"));
    build.put(helps, {"helpHandbook", "helpLessons", "helpPalette", "helpShortcuts", "-"});
    build.pages(help);
    build.put(helps, {"helpBugReport", "helpAbout"});
}

}  // namespace orrery::app
