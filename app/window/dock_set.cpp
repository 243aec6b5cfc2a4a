#include "app/window/dock_set.h"

#include "app/window/settings.h"

#include <QLayout>
#include <QTabBar>

#include <algorithm>

namespace orrery::app {

namespace {

constexpr int lowWindow = 850;   ///< pixels of height
constexpr int stateVersion = 4;  ///< of QMainWindow::saveState: grows when docks or bars are added or renamed

/// What was arranged in a high window takes a low one's room, so each has its own.
QString keyOf(Layout layout, bool low) {
    return (low ? QStringLiteral("layout/low/") : QStringLiteral("layout/")) + toText(layout);
}

QString keyOfDocks(Layout layout, bool low) {
    return (low ? QStringLiteral("layout/docks/low/") : QStringLiteral("layout/docks/")) + toText(layout);
}

QStringList standing(const std::vector<Dock*>& docks) {
    QStringList ids;
    for (const Dock* dock : docks)
        if (!dock->isHidden()) ids << dock->objectName();
    return ids;
}

// QMainWindow::restoreState() also brings docks back that were no part of what was saved.
void leaveOnly(const QStringList& ids, const std::vector<Dock*>& docks, QMainWindow* window) {
    for (Dock* dock : docks)
        if (!dock->isHidden() && !ids.contains(dock->objectName())) window->removeDockWidget(dock);
}

Qt::DockWidgetArea areaOf(const char* name) {
    const QLatin1String area(name);
    return area == QLatin1String("left")    ? Qt::LeftDockWidgetArea
           : area == QLatin1String("right") ? Qt::RightDockWidgetArea
                                            : Qt::BottomDockWidgetArea;
}

}  // namespace

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
    // A layout may have no place for it: then a person who wants it still gets it into the window.
    connect(dock->toggleViewAction(), &QAction::triggered, this, [this, id](bool on) {
        if (on) reveal(id);
    });
    return dock;
}

Dock* DockSet::dock(const QString& id) const {
    const auto at = byId_.find(id);
    return at == byId_.end() ? nullptr : at->second;
}

void DockSet::revealSmall(const QString& id) {
    Dock* shown = dock(id);
    const bool was = shown && shown->isVisible();
    reveal(id);
    if (!shown || was) return;
    const bool across = window_->dockWidgetArea(shown) == Qt::BottomDockWidgetArea ||
                        window_->dockWidgetArea(shown) == Qt::TopDockWidgetArea;
    if (across) window_->resizeDocks({shown}, {window_->height() / 5}, Qt::Vertical);
}

void DockSet::reveal(const QString& id) {
    if (Dock* shown = dock(id)) {
        if (window_->dockWidgetArea(shown) == Qt::NoDockWidgetArea)
            window_->addDockWidget(Qt::RightDockWidgetArea, shown);
        shown->show();
        shown->raise();
    }
}

void DockSet::hideAll() {
    for (Dock* dock : docks_) dock->hide();
    shown_ = later_ = false;
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
    if (!shown_) return;
    if (aside) emit pageAlone();
    if (later_) return aside ? void() : apply(layout_);
    if (aside == !aside_.isEmpty()) return;
    window_->setUpdatesEnabled(false);
    const bool animated = window_->isAnimated();
    window_->setAnimated(false);
    const QSize before = window_->size();
    if (aside) {
        aside_ = window_->saveState(stateVersion);
        window_->setProperty("docksAside", standing(docks_));
        for (Dock* dock : docks_) dock->hide();
    } else {
        window_->restoreState(std::exchange(aside_, {}), stateVersion);
        leaveOnly(window_->property("docksAside").toStringList(), docks_, window_);
        for (Dock* dock : docks_) dock->refreshHeader();
        // On the way the docks that do not stand here may have needed more room.
        window_->layout()->activate();
        if (window_->size() != before && !window_->isMaximized() && !window_->isFullScreen()) window_->resize(before);
    }
    nameTabBars();
    window_->setAnimated(animated);
    window_->setUpdatesEnabled(true);
}

void DockSet::remember() {
    if (!shown_ || later_ || !aside_.isEmpty()) return;
    const auto settings = openSettings();
    settings->setValue(keyOf(layout_, low_), window_->saveState(stateVersion));
    settings->setValue(keyOfDocks(layout_, low_), standing(docks_));
}

void DockSet::apply(Layout layout, bool asShipped) {
    window_->setUpdatesEnabled(false);
    const bool animated = window_->isAnimated();
    window_->setAnimated(false);
    layout_ = layout;
    shown_ = true;
    later_ = false;
    aside_.clear();
    const LayoutPlan& plan = planOf(layout);
    low_ = (plan.pages || plan.presents) && window_->height() < lowWindow;
    place(plan);
    const auto settings = openSettings();
    const QByteArray state = asShipped ? QByteArray() : settings->value(keyOf(layout, low_)).toByteArray();
    const QVariant stood = settings->value(keyOfDocks(layout, low_));
    if (state.isEmpty() || !window_->restoreState(state, stateVersion))
        size(plan);
    else if (stood.isValid())
        leaveOnly(stood.toStringList(), docks_, window_);
    for (Dock* dock : docks_) {
        dock->refreshHeader();
        dock->hold(false);
    }
    nameTabBars();
    emit arranged();
    window_->setAnimated(animated);
    window_->setUpdatesEnabled(true);
}

void DockSet::applyLater(Layout layout) {
    layout_ = layout;
    shown_ = later_ = true;
}

void DockSet::place(const LayoutPlan& plan) {
    // One arrangement at the end instead of one after every dock.
    QLayout* const arrangement = window_->layout();
    // In a low window two rows of panels would leave a page, or a plot in large type, no room: the lower row then
    // stands behind the upper one (`low_`).
    std::map<const Dock*, Dock*> fronts;  // of what is stacked so
    arrangement->setEnabled(false);
    for (Dock* dock : docks_) {
        dock->hold(true);
        dock->setFloating(false);
        window_->removeDockWidget(dock);
    }
    for (const DockPlace& each : plan.places) {
        Dock* placed = dock(QLatin1String(each.dock));
        Dock* other = dock(QLatin1String(each.where));
        window_->addDockWidget(other ? window_->dockWidgetArea(other) : areaOf(each.where), placed);
        const bool stacked =
            low_ && each.how == DockPlace::Below && window_->dockWidgetArea(other) == Qt::BottomDockWidgetArea;
        const DockPlace::How how = stacked ? DockPlace::Behind : each.how;
        switch (how) {
            case DockPlace::Into:
                break;
            case DockPlace::Below:
                window_->splitDockWidget(other, placed, Qt::Vertical);
                break;
            case DockPlace::Beside:
                window_->splitDockWidget(other, placed, Qt::Horizontal);
                break;
            case DockPlace::Behind:
                window_->tabifyDockWidget(other, placed);
                break;
        }
        placed->show();
        if (how != DockPlace::Behind) continue;
        Dock* front = fronts.contains(other) ? fronts.at(other) : other;
        if (stacked) fronts[placed] = front;
        front->raise();
    }
    arrangement->setEnabled(true);
    arrangement->activate();
}

void DockSet::size(const LayoutPlan& plan) {
    for (const DockShare& share : plan.shares) {
        const int whole = share.along == Qt::Horizontal ? window_->width() : window_->height();
        QList<QDockWidget*> docks;
        QList<int> sizes;
        for (const auto& [id, percent] : share.docks) {
            Dock* sized = dock(QLatin1String(id));
            const auto stacked = window_->tabifiedDockWidgets(sized);
            if (std::ranges::any_of(stacked, [&](QDockWidget* each) { return docks.contains(each); })) continue;
            docks << sized;
            sizes << whole * percent / 100;
        }
        window_->resizeDocks(docks, sizes, share.along);
    }
}

}  // namespace orrery::app
