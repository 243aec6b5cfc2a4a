#pragma once

// What a page of the window is: a document of its own kind behind a tab, with its commands, menus and docks, the files
// that it opens and the answers that it shows. The window knows pages by this alone: a new page is a file pair and a
// line in pages.cpp.

#include "base/diagnostic.h"
#include "widgets/common/snapshot.h"
#include "widgets/welcome/command_palette.h"

#include <QKeySequence>
#include <QString>
#include <QStringList>
#include <QWidget>

#include <functional>
#include <vector>

class QMenu;
class QMimeData;
class QSettings;

namespace orrery::app {

class Studio;

/// Who a page is. The order of pages.cpp is the order of tabs, menu and keys.
struct PageCard {
    QString id;            ///< `hardware`; its action is `page.hardware`, its settings are the group of this name
    QString title;         ///< of its tab
    QString meaning;       ///< the tab's tooltip, the menu entry's tip
    QString icon;          ///< of the Breeze theme, in the menu; may be empty
    QKeySequence key;      ///< empty: Ctrl+Alt+number of the tab
    bool alone = false;    ///< fills the window: docks are put aside while it is in front
    QStringList docks;     ///< shown beside it when it comes to the front, by id
    bool answers = false;  ///< says an answer of its own: the headline of the live question gives way to it
};

/// A file that somebody wants to open. Orrery's own YAML says what it is: `orrery: serving/1`.
struct OpenFile {
    QString path;  ///< there, no folder, readable
    QString kind;  ///< `hardware`, `project`, …; empty: not YAML of Orrery
};

/// Files that the open dialog offers beside YAML.
struct FileFilter {
    QString name;
    QStringList endings;  ///< `.onnx`
};

/// What a page puts into a menu of the window (ids in menus.cpp), or a menu of its own beside them.
struct MenuPart {
    QString menu;                      ///< `menuEdit`
    QString title;                     ///< of a menu that is not there yet; `&Arrange`
    QString under;                     ///< that a new menu stands in, by its id; empty: in the menu bar
    QStringList actions;               ///< by id; `-` is a separator
    std::function<void(QMenu*)> fill;  ///< instead of `actions`, once
    bool fresh = false;                ///< `fill` is asked each time the menu opens, into the empty menu
};

class Page : public QWidget {
    Q_OBJECT
public:
    using QWidget::QWidget;

    virtual PageCard card() const = 0;
    /// Makes the page's views where they are not there yet: when it is first seen, or before something is put into
    /// them.
    void make();
    bool isMade() const { return made_; }
    /// Once, before the window is shown and its menus are built: adds actions and docks, connects itself. Pages to the
    /// left have joined already; `studio` outlives the page.
    virtual void join(Studio& /*studio*/) {}
    virtual std::vector<MenuPart> menus() { return {}; }

    /// Whether it is the page for this file; the first that says so opens it.
    virtual bool accepts(const OpenFile& /*file*/) const { return false; }
    virtual std::vector<FileFilter> filters() const { return {}; }
    /// Adds the file to the project and comes to the front; says by itself what is wrong with it, and opened() at the
    /// end.
    virtual void open(const QString& /*path*/) {}
    /// What else may be dropped on the window than files.
    virtual bool acceptsDrop(const QMimeData& /*data*/) const { return false; }
    virtual void drop(const QMimeData& /*data*/) {}
    /// What Ctrl+K finds beside commands; asked each time.
    virtual std::vector<ui::PaletteEntry> findable() { return {}; }

    /// Each new answer, after the result views, whether the page is seen or not; null: there is none.
    virtual void feed(const ui::SnapshotPtr& /*snapshot*/) {}
    /// Shows and selects what stands there; false if that is not on this page.
    virtual bool goTo(const Place& /*place*/) { return false; }
    /// Whether what it shows of the question is still being computed.
    virtual bool isBusy() const { return false; }
    /// Whether it shows an answer of its own that a report holds, even where the live question has none.
    virtual bool showsAnswer() const { return false; }
    /// Files of its own for the report folder; what was written, or why not.
    virtual Expected<QStringList> report(const QString& /*folder*/) { return QStringList(); }

    /// What is kept of its looks from one start to the next, in its own group.
    virtual void saveView(QSettings& /*settings*/) const {}
    virtual void restoreView(const QSettings& /*settings*/) {}

signals:
    void opened(const QString& path, bool added);  ///< after open(), which may take its time

protected:
    /// Makes the page: to be called before anything that an override does.
    void showEvent(QShowEvent* event) override;
    /// The page's views: some fifty controls with a style sheet each. What is made here does not delay the window;
    /// until then their pointers are null.
    virtual void build() {}

private:
    bool made_ = false;
};

}  // namespace orrery::app
