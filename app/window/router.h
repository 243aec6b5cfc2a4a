#pragma once

// The pages of the window behind their tabs: makes them, brings one to the front, and passes to them what is theirs: a
// file to open, a drop, a place to go to, a new answer, their settings. Knows pages by `Page` alone.

#include "app/window/pages.h"

#include <QObject>

class QTabWidget;
class QToolBar;

namespace orrery::app {

class Router : public QObject {
    Q_OBJECT
public:
    explicit Router(Studio& studio) : studio_(studio) {}
    /// Makes the pages into tabs within `parent`. After that, in this order: join, addActions.
    void build(const PageList& pages, QWidget* parent);
    void join();        ///< lets every page join the studio
    void addActions();  ///< one command per page, after the pages' own

    QTabWidget* tabs() const { return tabs_; }
    QToolBar* bar() const { return bar_; }  ///< their tabs, across the window: they stay where docks come and go
    const std::vector<Page*>& pages() const { return pages_; }
    Page* page(const QString& id) const;  ///< null if there is none
    template <class P>
    P* page() const;
    Page* front() const;
    int tabOf(const Page* page) const;  ///< −1: no page of this window
    void show(Page* page);
    void show(const QString& id) { show(page(id)); }
    void showPages(bool shown);
    void leaveFirst();                ///< for the page after it, if the first is in front
    QList<QAction*> actions() const;  ///< that bring pages to the front, in their order

    /// Opens by kind: a project replaces the open one, everything else goes to the page that accepts it.
    void open(const QString& path);
    std::vector<FileFilter> filters() const;  ///< beside YAML
    bool acceptsDrop(const QMimeData& data) const;
    void drop(const QMimeData& data);
    void goTo(const Place& place);
    std::vector<ui::PaletteEntry> findable() const;
    std::vector<MenuPart> menus() const;

    void saveViews() const;

signals:
    void fileOpened(const QString& path, bool added);  ///< by a page, when it is done
    void frontChanged(bool answers);                   ///< whether what is in front says an answer of its own

private:
    void comeToFront();
    void tellFront();

    Studio& studio_;
    QTabWidget* tabs_ = nullptr;
    QToolBar* bar_ = nullptr;
    std::vector<Page*> pages_;
};

template <class P>
P* Router::page() const {
    for (Page* each : pages_) {
        if (auto* found = qobject_cast<P*>(each)) return found;
    }
    return nullptr;
}

}  // namespace orrery::app
