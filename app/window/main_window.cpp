#include "app/window/main_window.h"

#include "app/window/exports.h"
#include "app/window/fidelity/fidelity_panel.h"
#include "app/window/headline.h"
#include "app/window/help/find_anything.h"
#include "app/window/help/handbook_window.h"
#include "app/window/input_manners.h"
#include "app/window/jobs.h"
#include "app/window/lessons/lessons.h"
#include "app/window/library_dock.h"
#include "app/window/menus.h"
#include "app/window/methods/methods_panel.h"
#include "app/window/plurals.h"
#include "app/window/project_note.h"
#include "app/window/project_tree.h"
#include "app/window/top_bar.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/theme.h"
#include "widgets/messages/history_panel.h"
#include "widgets/messages/log_panel.h"
#include "widgets/welcome/command_palette.h"

#include <QCloseEvent>
#include <QMimeData>
#include <QScreen>
#include <QTabWidget>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <iterator>

namespace orrery::app {

MainWindow::MainWindow(QWidget* parent, const PageList& pages)
    : QMainWindow(parent),
      studio_(std::make_unique<Studio>(this)),
      results_(std::make_unique<ResultDocks>(*studio_)),
      jobs_(std::make_unique<Jobs>(*studio_)),
      lessons_(std::make_unique<Lessons>(*studio_)),
      preferences_(readPreferences()) {
    EnglishPlurals::install();
    setObjectName(QStringLiteral("mainWindow"));
    setAccessibleName(tr("Orrery"));
    setAcceptDrops(true);
    // Four fifths of a large screen, which a small window leaves empty.
    resize((0.8 * screen()->availableSize()).boundedTo({2560, 1600}).expandedTo({1440, 900}));
    ui::Theme::instance().setMode(preferences_.dark ? ui::Mode::Dark : ui::Mode::Light);
    buildCentre(pages);
    buildActions();
    buildDocks();
    addToolBar(new TopBar(*studio_, this));
    addToolBarBreak();
    addToolBar(studio_->router.bar());
    buildMenus(*this, *studio_);
    qApp->installEventFilter(new InputManners(this));
    connect(&studio_->document, &Document::modifiedChanged, this, &MainWindow::refreshTitle);
    connect(&studio_->document, &Document::fileChanged, this, &MainWindow::refreshTitle);
    applyPreferences(preferences_);
    refreshTitle();
    restoreGeometry(openSettings()->value("window/geometry").toByteArray());
    studio_->docks.hideAll();
    // What is not needed for the first paint comes after it.
    QTimer::singleShot(0, this, &MainWindow::finishStart);
}

MainWindow::~MainWindow() {
    // The pages look at the studio to their end, and Qt would delete them after it.
    delete centralWidget();
}

void MainWindow::buildCentre(const PageList& pages) {
    auto* centre = new QWidget(this);
    centre->setObjectName(QStringLiteral("centre"));
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* notifications = new ui::NotificationBar(centre);
    headline_ = new Headline(centre);
    note_ = new ProjectNote(studio_->document, centre);
    studio_->messages.showIn(notifications);
    studio_->router.build(pages, centre);
    column->addWidget(note_);
    column->addWidget(headline_);
    column->addWidget(studio_->router.tabs(), 1);
    column->addWidget(notifications);  // below: what comes and goes moves nothing under the mouse
    setCentralWidget(centre);
    palette_ = new ui::CommandPalette(this);
    palette_->hide();
    connect(&studio_->live, &LiveController::snapshotReady, this, [this](const ui::SnapshotPtr& snapshot) {
        studio_->feeder.feed(snapshot);
        headline_->setSnapshot(snapshot, studio_->live.chosenMethod());
    });
    connect(&studio_->live, &LiveController::lateChanged, headline_, &Headline::setLate);
    connect(&studio_->router, &Router::frontChanged, headline_, &Headline::setAside);
    connect(&studio_->router, &Router::fileOpened, this, &MainWindow::fileOpened);
}

void MainWindow::buildDocks() {
    DockSet& docks = studio_->docks;
    addLibraryDock(*studio_);
    docks.add(QStringLiteral("project"), tr("Project"), tr("What the project holds"), [this](QWidget* parent) {
        auto* tree = new ProjectTree(studio_->document, parent);
        connect(tree, &ProjectTree::hardwareActivated, this, [this] {
            studio_->router.show(QStringLiteral("hardware"));
            studio_->inspection.showComponent({});
        });
        connect(tree, &ProjectTree::workloadActivated, this, [this] {
            studio_->router.show(QStringLiteral("workload"));
            studio_->inspection.showWorkload();
        });
        connect(tree, &ProjectTree::refused, this,
                [this](const QString& why) { studio_->messages.say(Severity::Warning, why); });
        return tree;
    });
    studio_->inspection.addDock();
    results_->add();
    addFidelityDock(*studio_);
    addMethodsDock(*studio_);
    studio_->problems.addDock();
    jobs_->addDock();
    lessons_->addDock();
    docks.add(QStringLiteral("log"), tr("Log"), tr("What happened"), [this](QWidget* parent) {
        auto* log = new ui::LogPanel(parent);
        studio_->messages.showIn(log);
        return log;
    });
    docks.add(QStringLiteral("history"), tr("History"), tr("Your edits; click one to go back to it"),
              [this](QWidget* parent) { return new ui::HistoryPanel(studio_->document.undoStack(), parent); });
}

void MainWindow::finishStart() {
    ready_ = true;
    emit studio_->ready();
    emit ready();
}

void MainWindow::openPalette() {
    palette_->setActions(studio_->actions.list());
    palette_->setProvider([this] {
        std::vector<ui::PaletteEntry> all = studio_->router.findable();
        std::ranges::move(findables(*studio_, [this](const QString& place) { openHandbook(place); }),
                          std::back_inserter(all));
        return all;
    });
    palette_->open();
}

void MainWindow::openHandbook(const QString& place) {
    if (!handbook_) handbook_ = new HandbookWindow(this);
    handbook_->open(place);
}

void MainWindow::refreshTitle() {
    setWindowTitle(QStringLiteral("%1[*] – Orrery").arg(studio_->document.title()));
    setWindowModified(studio_->document.isModified());
    setWindowFilePath(studio_->document.file());
}

void MainWindow::setTheme(bool dark) {
    preferences_.dark = dark;
    applyPreferences(preferences_);
}

void MainWindow::applyPreferences(const Preferences& preferences) {
    preferences_ = preferences;
    writePreferences(preferences);
    ui::Theme& theme = ui::Theme::instance();
    theme.setMode(preferences.dark ? ui::Mode::Dark : ui::Mode::Light);
    theme.setAnimated(preferences.animated);
    studio_->files.autosave().setEnabled(preferences.autosave);
    studio_->runs.setThreads(preferences.threads);
    ui::setPictureSize(ui::pictureSizeOf(preferences.pictureSize));
    ui::setPicturesOnPaper(preferences.onPaper);
    studio_->actions.refreshIcons();
    if (QAction* dark = studio_->actions.find(QStringLiteral("viewDark"))) dark->setChecked(preferences.dark);
}

Expected<QStringList> MainWindow::exportPictures(const QString& folder) {
    return app::exportPictures(*studio_, *results_, folder);
}

Expected<QStringList> MainWindow::exportReport(const QString& folder) {
    return app::exportReport(*studio_, *results_, folder);
}

LessonRun& MainWindow::lessons() {
    return lessons_->run();
}

QString MainWindow::openRun(int run) {
    return jobs_->open(run);
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (!studio_->files.maybeSave()) return event->ignore();
    studio_->docks.remember();
    studio_->router.saveViews();
    openSettings()->setValue("window/geometry", saveGeometry());
    // What the person chose to discard is not to come back as recovered work.
    studio_->files.autosave().forget();
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (studio_->router.acceptsDrop(*event->mimeData())) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    studio_->router.drop(*event->mimeData());
    event->acceptProposedAction();
}

}  // namespace orrery::app
