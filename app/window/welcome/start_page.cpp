#include "app/window/welcome/start_page.h"

#include "app/window/settings.h"
#include "app/window/studio.h"
#include "widgets/common/theme.h"
#include "widgets/welcome/welcome_page.h"

#include <QFileInfo>
#include <QMenu>
#include <QTimer>
#include <QVBoxLayout>

namespace orrery::app {

StartPage::StartPage(Studio& studio, QWidget* parent)
    : Page(parent), studio_(studio), view_(new ui::WelcomePage(this)), pictures_(studio.cache, this) {
    setObjectName(QStringLiteral("startPage"));
    setAccessibleName(tr("Welcome"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(view_);
}

PageCard StartPage::card() const {
    return {QStringLiteral("welcome"),
            tr("Welcome"),
            tr("Examples, recent projects, a new project"),
            QStringLiteral("go-home"),
            QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_H),
            true,
            {},
            true};
}

void StartPage::join(Studio& studio) {
    connect(view_, &ui::WelcomePage::exampleChosen, &studio.files, &ProjectFiles::openExample);
    connect(view_, &ui::WelcomePage::openRequested, &studio.files, &ProjectFiles::chooseFile);
    connect(view_, &ui::WelcomePage::recentChosen, &studio.router, &Router::open);
    connect(view_, &ui::WelcomePage::newRequested, this,
            [this] { studio_.actions.find(QStringLiteral("fileNew"))->trigger(); });
    connect(view_, &ui::WelcomePage::lessonsRequested, this,
            [this] { studio_.actions.find(QStringLiteral("helpLessons"))->trigger(); });
    connect(view_, &ui::WelcomePage::filesDropped, this, [this](const QStringList& files) {
        for (const QString& file : files) studio_.router.open(file);
    });
    connect(&studio.files, &ProjectFiles::recentChanged, this, &StartPage::fill);
    connect(&studio, &Studio::ready, this, [this] {
        fill();
        connect(&pictures_, &ExamplePictures::ready, this, &StartPage::fill);
        connect(&ui::Theme::instance(), &ui::Theme::changed, this, &StartPage::fill);
        // A start that goes straight to a project has no use for the gallery's pictures yet.
        QTimer::singleShot(200, this, [this] {
            ready_ = true;
            if (isVisible()) pictures_.start();
        });
    });
}

void StartPage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    if (ready_) pictures_.start();
}

void StartPage::fill() {
    std::vector<ui::ExampleCard> cards;
    for (const Example& example : examples()) {
        cards.push_back({example.id, example.title, example.description, pictures_.picture(example.id), example.file});
    }
    view_->setExamples(cards);
    std::vector<ui::RecentProject> recent;
    for (const QString& file : recentFiles()) recent.push_back({file, {}, {}, QFileInfo::exists(file)});
    view_->setRecent(recent);
}

std::vector<MenuPart> StartPage::menus() {
    const QString file = QStringLiteral("menuFile");
    return {
        {QStringLiteral("menuRecent"), tr("Open &recent"), file, {}, [this](QMenu* menu) { fillRecent(menu); }, true},
        {QStringLiteral("menuExamples"),
         tr("Open e&xample"),
         file,
         {},
         [this](QMenu* menu) { fillExamples(menu); },
         true},
    };
}

void StartPage::fillExamples(QMenu* menu) {
    for (const Example& example : examples()) {
        QAction* action =
            menu->addAction(example.title, this, [this, id = example.id] { studio_.files.openExample(id); });
        action->setToolTip(example.description);
    }
}

void StartPage::fillRecent(QMenu* menu) {
    for (const QString& file : recentFiles()) {
        QAction* action =
            menu->addAction(QFileInfo(file).fileName(), this, [this, file] { studio_.router.open(file); });
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
        fill();
    });
}

std::vector<ui::PaletteEntry> StartPage::findable() {
    std::vector<ui::PaletteEntry> entries;
    for (const Example& example : examples()) {
        entries.push_back(
            {example.title, tr("Example"), example.description + QStringLiteral(" · ") + example.id, {},
             [this, id = example.id] { studio_.files.openExample(id); }});
    }
    return entries;
}

}  // namespace orrery::app
