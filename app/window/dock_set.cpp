#include "app/window/dock_set.h"

#include "app/window/settings.h"

#include <QTabBar>

#include <algorithm>

namespace orrery::app {

namespace {

constexpr int stateVersion = 3;  ///< of QMainWindow::saveState: grows when docks are added or renamed

QString keyOf(Layout layout) {
    return QStringLiteral("layout/") + toText(layout);
}

}  // namespace

QString toText(Layout layout) {
    switch (layout) {
        case Layout::Explore:
            return QStringLiteral("explore");
        case Layout::Teach:
            return QStringLiteral("teach");
        case Layout::Compare:
            return QStringLiteral("compare");
        case Layout::Draw:
            return QStringLiteral("draw");
    }
    return {};
}

std::optional<Layout> layoutOf(const QString& text) {
    for (const Layout layout : {Layout::Explore, Layout::Teach, Layout::Compare, Layout::Draw}) {
        if (toText(layout) == text) return layout;
    }
    return std::nullopt;
}

DockSet::DockSet(QMainWindow* window) : QObject(window), window_(window) {
    window_->setDockNestingEnabled(true);
    window_->setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    window_->setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    window_->setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    window_->setCorner(Qt::TopLeftCorner, Qt::LeftDockWidgetArea);
    window_->setCorner(Qt::TopRightCorner, Qt::RightDockWidgetArea);
}

Dock* DockSet::add(const QString& id, const QString& title, const QString& meaning, Dock::Make make) {
    auto* dock = new Dock(id, title, meaning, std::move(make), window_);
    byId_[id] = dock;
    docks_.push_back(dock);
    dock->hide();
    return dock;
}

Dock* DockSet::dock(const QString& id) const {
    const auto at = byId_.find(id);
    return at == byId_.end() ? nullptr : at->second;
}

void DockSet::reveal(const QString& id) {
    if (Dock* shown = dock(id)) {
        shown->show();
        shown->raise();
    }
}

void DockSet::hideAll() {
    for (Dock* dock : docks_) dock->hide();
    shown_ = false;
    aside_.clear();
}

void DockSet::nameTabBars() {
    // Qt makes these bars as docks are stacked. Cut titles tell nothing: the bar scrolls instead.
    int number = 0;
    for (QTabBar* bar : window_->findChildren<QTabBar*>(Qt::FindDirectChildrenOnly)) {
        bar->setElideMode(Qt::ElideNone);
        bar->setUsesScrollButtons(true);
        bar->setObjectName(QStringLiteral("dockTabs%1").arg(++number));
        bar->setAccessibleName(tr("Panels stacked here"));
        bar->setToolTip(tr("Click brings a panel to the front"));
    }
}

void DockSet::setAside(bool aside) {
    if (aside == !aside_.isEmpty() || !shown_) return;
    window_->setUpdatesEnabled(false);
    if (aside) {
        aside_ = window_->saveState(stateVersion);
        for (Dock* dock : docks_) dock->hide();
    } else {
        window_->restoreState(std::exchange(aside_, {}), stateVersion);
        for (Dock* dock : docks_) dock->refreshHeader();
    }
    nameTabBars();
    window_->setUpdatesEnabled(true);
}

void DockSet::remember() {
    if (shown_ && aside_.isEmpty()) openSettings()->setValue(keyOf(layout_), window_->saveState(stateVersion));
}

void DockSet::apply(Layout layout, bool asShipped) {
    window_->setUpdatesEnabled(false);
    layout_ = layout;
    shown_ = true;
    aside_.clear();
    place(layout);
    const QByteArray state = asShipped ? QByteArray() : openSettings()->value(keyOf(layout)).toByteArray();
    if (state.isEmpty() || !window_->restoreState(state, stateVersion)) size(layout);
    for (Dock* dock : docks_) dock->refreshHeader();
    nameTabBars();
    window_->setUpdatesEnabled(true);
}

void DockSet::place(Layout layout) {
    for (Dock* dock : docks_) {
        dock->setFloating(false);
        window_->removeDockWidget(dock);
    }
    const auto put = [&](Qt::DockWidgetArea area, const char* id) {
        Dock* placed = dock(QLatin1String(id));
        window_->addDockWidget(area, placed);
        placed->show();
        return placed;
    };
    const auto tab = [&](Dock* first, std::initializer_list<const char*> ids) {
        for (const char* id : ids) {
            Dock* next = dock(QLatin1String(id));
            window_->addDockWidget(Qt::BottomDockWidgetArea, next);
            window_->tabifyDockWidget(first, next);
            next->show();
        }
        first->raise();
    };
    const auto below = [&](Dock* above, const char* id, Qt::Orientation how) {
        Dock* placed = dock(QLatin1String(id));
        window_->addDockWidget(Qt::BottomDockWidgetArea, placed);
        window_->splitDockWidget(above, placed, how);
        placed->show();
        return placed;
    };
    switch (layout) {
        case Layout::Explore: {
            Dock* library = put(Qt::LeftDockWidgetArea, "library");
            Dock* project = dock(QStringLiteral("project"));
            window_->addDockWidget(Qt::LeftDockWidgetArea, project);
            window_->splitDockWidget(library, project, Qt::Vertical);
            project->show();
            Dock* parts = dock(QStringLiteral("parts"));
            window_->addDockWidget(Qt::LeftDockWidgetArea, parts);
            window_->tabifyDockWidget(library, parts);
            parts->show();
            library->raise();
            put(Qt::RightDockWidgetArea, "inspector");
            Dock* roofline = put(Qt::BottomDockWidgetArea, "roofline");
            Dock* comparison = below(roofline, "comparison", Qt::Horizontal);
            Dock* timeline = below(roofline, "timeline", Qt::Vertical);
            tab(comparison, {"why", "breakdown", "memory", "operators"});
            tab(timeline, {"problems", "jobs", "log", "history"});
            break;
        }
        case Layout::Teach: {
            put(Qt::RightDockWidgetArea, "inspector");
            Dock* roofline = put(Qt::BottomDockWidgetArea, "roofline");
            Dock* timeline = below(roofline, "timeline", Qt::Vertical);
            tab(timeline, {"why", "breakdown", "memory"});
            break;
        }
        case Layout::Compare: {
            put(Qt::RightDockWidgetArea, "inspector");
            Dock* comparison = put(Qt::BottomDockWidgetArea, "comparison");
            Dock* roofline = below(comparison, "roofline", Qt::Horizontal);
            Dock* operators = below(comparison, "operators", Qt::Vertical);
            Dock* breakdown = below(roofline, "breakdown", Qt::Vertical);
            tab(operators, {"problems", "jobs", "log", "history"});
            tab(breakdown, {"why", "memory", "timeline"});
            break;
        }
        case Layout::Draw: {
            Dock* parts = put(Qt::LeftDockWidgetArea, "parts");
            Dock* library = dock(QStringLiteral("library"));
            window_->addDockWidget(Qt::LeftDockWidgetArea, library);
            window_->tabifyDockWidget(parts, library);
            library->show();
            parts->raise();
            put(Qt::RightDockWidgetArea, "inspector");
            Dock* problems = put(Qt::BottomDockWidgetArea, "problems");
            Dock* roofline = below(problems, "roofline", Qt::Horizontal);
            tab(problems, {"history", "jobs", "log"});
            tab(roofline, {"comparison", "timeline", "breakdown"});
            break;
        }
    }
}

void DockSet::size(Layout layout) {
    const int width = window_->width(), height = window_->height();
    const auto of = [this](const char* id) -> QDockWidget* { return dock(QLatin1String(id)); };
    switch (layout) {
        case Layout::Explore:
            window_->resizeDocks({of("library"), of("inspector")}, {width * 15 / 100, width * 22 / 100},
                                 Qt::Horizontal);
            window_->resizeDocks({of("library"), of("project")}, {height * 62 / 100, height * 30 / 100}, Qt::Vertical);
            window_->resizeDocks({of("roofline"), of("comparison")}, {width * 35 / 100, width * 28 / 100},
                                 Qt::Horizontal);
            window_->resizeDocks({of("roofline"), of("timeline")}, {height * 32 / 100, height * 17 / 100},
                                 Qt::Vertical);
            break;
        case Layout::Teach:
            window_->resizeDocks({of("inspector")}, {width * 28 / 100}, Qt::Horizontal);
            window_->resizeDocks({of("roofline"), of("timeline")}, {height * 64 / 100, height * 22 / 100},
                                 Qt::Vertical);
            break;
        case Layout::Compare:
            window_->resizeDocks({of("inspector")}, {width * 20 / 100}, Qt::Horizontal);
            window_->resizeDocks({of("comparison"), of("roofline")}, {width * 44 / 100, width * 36 / 100},
                                 Qt::Horizontal);
            window_->resizeDocks({of("comparison"), of("operators")}, {height * 52 / 100, height * 32 / 100},
                                 Qt::Vertical);
            window_->resizeDocks({of("roofline"), of("breakdown")}, {height * 48 / 100, height * 34 / 100},
                                 Qt::Vertical);
            break;
        case Layout::Draw:
            window_->resizeDocks({of("parts"), of("inspector")}, {width * 16 / 100, width * 20 / 100}, Qt::Horizontal);
            window_->resizeDocks({of("problems"), of("roofline")}, {height * 24 / 100, height * 24 / 100},
                                 Qt::Vertical);
            break;
    }
}

}  // namespace orrery::app
