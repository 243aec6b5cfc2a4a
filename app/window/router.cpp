#include "app/window/router.h"

#include "app/window/file_kind.h"
#include "app/window/page_frame.h"
#include "app/window/settings.h"
#include "app/window/studio.h"
#include "app/window/study_files.h"
#include "widgets/common/tab_stack.h"

#include <QAction>
#include <QCoreApplication>
#include <QEvent>
#include <QMimeData>
#include <QTabBar>
#include <QTabWidget>
#include <QToolBar>
#include <QUrl>

#include <algorithm>

namespace orrery::app {

namespace {

QString actionOf(const Page& page) {
    return QStringLiteral("page.") + page.card().id;
}

}  // namespace

void Router::build(const PageList& pages, QWidget* parent) {
    auto* tabs = new ui::BarlessTabs(parent);
    tabs_ = tabs;
    tabs_->setObjectName(QStringLiteral("documents"));
    tabs_->setAccessibleName(tr("Documents"));
    tabs_->setToolTip(tr("Ctrl+Tab goes to the next page"));
    tabs_->tabBar()->setToolTip(tabs_->toolTip());
    tabs_->setDocumentMode(true);
    tabs_->tabBar()->setObjectName(QStringLiteral("documentTabs"));
    tabs_->tabBar()->setAccessibleName(tr("Documents"));
    tabs_->tabBar()->setExpanding(false);
    for (const auto& make : pages) {
        auto* frame = new PageFrame([&](QWidget* inside) { return make(studio_, inside); }, ui::stackOf(tabs_));
        Page* page = pages_.emplace_back(frame->page());
        const PageCard card = page->card();
        tabs_->setTabToolTip(tabs_->addTab(frame, card.title), card.meaning);
        connect(page, &Page::opened, this, &Router::fileOpened);
    }
    bar_ = new QToolBar(tr("Pages"), parent);
    bar_->setObjectName(QStringLiteral("pagesToolbar"));
    bar_->setAccessibleName(tr("Pages"));
    bar_->setMovable(false);
    bar_->toggleViewAction()->setVisible(false);
    bar_->addWidget(ui::tabsApart(tabs, bar_));
    // A tool bar takes its margins when it is made, before the rule of its name holds.
    bar_->ensurePolished();
    QEvent restyled(QEvent::StyleChange);
    QCoreApplication::sendEvent(bar_, &restyled);
    // A layout that is restored brings tool bars back, and some layouts show no pages.
    connect(&studio_.docks, &DockSet::arranged, this, [this] { bar_->setVisible(!tabs_->isHidden()); });
}

void Router::join() {
    const auto settings = openSettings();
    for (Page* page : pages_) {
        page->join(studio_);
        studio_.feeder.addFollower([page](const ui::SnapshotPtr& snapshot) { page->feed(snapshot); });
        settings->beginGroup(page->card().id);
        page->restoreView(*settings);
        settings->endGroup();
    }
    connect(&studio_, &Studio::ready, this,
            [this] { connect(tabs_, &QTabWidget::currentChanged, this, &Router::comeToFront); });
}

void Router::addActions() {
    const auto turn = [this](int by) {
        const int count = tabs_->count();
        studio_.layouts.showPages(true);
        tabs_->setCurrentIndex((tabs_->currentIndex() + by + count) % count);
    };
    studio_.actions.add({"pageNext",
                         tr("Pages"),
                         tr("Next page"),
                         tr("The page after this one"),
                         {},
                         QKeySequence(Qt::CTRL | Qt::Key_Tab)},
                        [turn] { turn(1); });
    studio_.actions.add({"pagePrevious",
                         tr("Pages"),
                         tr("Previous page"),
                         tr("The page before this one"),
                         {},
                         QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Tab)},
                        [turn] { turn(-1); });
    int number = 0;
    for (Page* page : pages_) {
        const PageCard card = page->card();
        ++number;  // the tenth has the key right of 9
        const auto digit = static_cast<Qt::Key>(number == 10 ? Qt::Key_0 : Qt::Key_0 + number);
        const QKeySequence usual = number > 10 ? QKeySequence() : QKeySequence(Qt::CTRL | Qt::ALT | digit);
        studio_.actions.add(
            {actionOf(*page), tr("Pages"), card.title, card.meaning, card.icon, card.key.isEmpty() ? usual : card.key},
            [this, page] {
                studio_.layouts.showPages(true);
                show(page);
            });
    }
}

QList<QAction*> Router::actions() const {
    QList<QAction*> found;
    for (const Page* page : pages_) found << studio_.actions.find(actionOf(*page));
    return found;
}

Page* Router::page(const QString& id) const {
    const auto found = std::ranges::find_if(pages_, [&](const Page* page) { return page->card().id == id; });
    return found == pages_.end() ? nullptr : *found;
}

Page* Router::front() const {
    const int at = tabs_->currentIndex();
    return at < 0 ? nullptr : pages_[static_cast<std::size_t>(at)];
}

void Router::show(Page* page) {
    if (page) tabs_->setCurrentIndex(tabOf(page));
}

int Router::tabOf(const Page* page) const {
    const auto at = std::ranges::find(pages_, page);
    return at == pages_.end() ? -1 : static_cast<int>(at - pages_.begin());
}

void Router::leaveFirst() {
    if (front() == pages_.front() && pages_.size() > 1) show(pages_[1]);
}

void Router::showPages(bool shown) {
    tabs_->setVisible(shown);
    bar_->setVisible(shown);
    tellFront();
}

void Router::tellFront() {
    emit frontChanged(front() && !tabs_->isHidden() && front()->card().answers);
}

void Router::comeToFront() {
    tellFront();
    const PageCard card = front()->card();
    studio_.docks.setAside(card.alone);
    bar_->setVisible(!tabs_->isHidden());  // as when a layout is arranged
    for (const QString& id : card.docks) {
        Dock* dock = studio_.docks.dock(id);
        if (dock && !dock->isVisible()) studio_.docks.reveal(id);
    }
}

void Router::open(const QString& path) {
    const Expected<OpenFile> file = openFile(path);
    if (!file) return studio_.messages.complain(file.error());
    if (file->kind == QLatin1String("project")) return studio_.files.openProject(path);
    if (file->kind == QLatin1String("study")) return openStudy(studio_, path);
    const auto found = std::ranges::find_if(pages_, [&](const Page* page) { return page->accepts(*file); });
    if (found != pages_.end()) return (*found)->open(path);
    studio_.messages.complain(notOpened(*file, filters()));
}

std::vector<FileFilter> Router::filters() const {
    std::vector<FileFilter> all;
    for (const Page* page : pages_) std::ranges::move(page->filters(), std::back_inserter(all));
    return all;
}

bool Router::acceptsDrop(const QMimeData& data) const {
    return data.hasUrls() || std::ranges::any_of(pages_, [&](const Page* page) { return page->acceptsDrop(data); });
}

void Router::drop(const QMimeData& data) {
    for (Page* page : pages_) {
        if (page->acceptsDrop(data)) page->drop(data);
    }
    for (const QUrl& url : data.urls()) open(url.toLocalFile());
}

void Router::goTo(const Place& place) {
    for (Page* page : pages_) {
        if (page->goTo(place)) return;
    }
}

std::vector<ui::PaletteEntry> Router::findable() const {
    std::vector<ui::PaletteEntry> all;
    for (Page* page : pages_) std::ranges::move(page->findable(), std::back_inserter(all));
    return all;
}

std::vector<MenuPart> Router::menus() const {
    std::vector<MenuPart> all;
    for (Page* page : pages_) std::ranges::move(page->menus(), std::back_inserter(all));
    return all;
}

void Router::saveViews() const {
    const auto settings = openSettings();
    for (const Page* page : pages_) {
        settings->beginGroup(page->card().id);
        page->saveView(*settings);
        settings->endGroup();
    }
}

}  // namespace orrery::app
