#include "app/window/main_window.h"

#include "app/document/autosave.h"
#include "app/document/disk_watch.h"
#include "app/document/run_controller.h"
#include "app/window/about_dialog.h"
#include "app/window/actions.h"
#include "app/window/hardware/auto_arrange.h"
#include "app/window/hardware/canvas_editor.h"
#include "app/window/evidence/evidence_page.h"
#include "app/window/evidence/reference_shelf.h"
#include "app/window/example_pictures.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/headline.h"
#include "app/window/mapping/mapping_page.h"
#include "app/window/plurals.h"
#include "app/window/preferences_dialog.h"
#include "app/window/project_tree.h"
#include "app/window/scenario_bar.h"
#include "app/window/serving/serving_page.h"
#include "app/window/shortcuts_dialog.h"
#include "app/window/snapshot_feeder.h"
#include "app/window/workload/workload_page.h"
#include "widgets/common/theme.h"
#include "widgets/evidence/why_view.h"
#include "widgets/welcome/command_palette.h"
#include "widgets/comparison/comparison_view.h"
#include "widgets/library/component_palette.h"
#include "widgets/messages/history_panel.h"
#include "widgets/inspector/inspector.h"
#include "widgets/messages/jobs_panel.h"
#include "widgets/library/library.h"
#include "widgets/messages/log_panel.h"
#include "widgets/messages/notification_bar.h"
#include "widgets/comparison/operator_table.h"
#include "widgets/messages/problems_panel.h"
#include "widgets/welcome/welcome_page.h"
#include "widgets/plots/breakdown_view.h"
#include "widgets/plots/memory_view.h"
#include "widgets/plots/roofline_plot.h"
#include "widgets/plots/timeline_view.h"

#include <QListView>
#include <QTabWidget>
#include <QTableView>
#include <QTimer>
#include <QToolBar>
#include <QVBoxLayout>

namespace orrery::app {

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent),
      document_(new Document(this)),
      cache_(std::make_shared<WorkloadCache>()),
      live_(new LiveController(*document_, cache_, this)),
      runs_(new RunController(*document_, cache_, stateFolder(), this)),
      autosave_(new Autosave(*document_, autosaveFolder(), this)),
      diskWatch_(new DiskWatch(*document_, this)),
      actions_(new Actions(this)),
      docks_(new DockSet(this)),
      feeder_(new SnapshotFeeder(this)),
      pictures_(new ExamplePictures(cache_, this)),
      preferences_(readPreferences()) {
    EnglishPlurals::install();
    setObjectName(QStringLiteral("mainWindow"));
    setAccessibleName(tr("Orrery"));
    setAcceptDrops(true);
    resize(1440, 900);
    ui::Theme::instance().setMode(preferences_.dark ? ui::Mode::Dark : ui::Mode::Light);
    buildDocks();
    buildCentre();
    buildActions();
    buildToolbar();
    buildMenus();
    wireDocument();
    wireLive();
    wireRuns();
    applyPreferences(preferences_);
    refreshTitle();
    const auto settings = openSettings();
    restoreGeometry(settings->value("window/geometry").toByteArray());
    docks_->hideAll();
    // What is not needed for the first paint comes after it.
    QTimer::singleShot(0, this, &MainWindow::finishStart);
}

MainWindow::~MainWindow() {
    // The pages look at the selection and the editor to their end, and Qt would delete them after both.
    delete takeCentralWidget();
}

void MainWindow::buildCentre() {
    auto* centre = new QWidget(this);
    centre->setObjectName(QStringLiteral("centre"));
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    notifications_ = new ui::NotificationBar(centre);
    headline_ = new Headline(centre);
    documents_ = new QTabWidget(centre);
    documents_->setObjectName(QStringLiteral("documents"));
    documents_->setAccessibleName(tr("Documents"));
    documents_->setToolTip(tr("Ctrl+Tab goes to the next page"));
    documents_->setDocumentMode(true);
    documents_->tabBar()->setObjectName(QStringLiteral("documentTabs"));
    documents_->tabBar()->setAccessibleName(tr("Documents"));
    documents_->tabBar()->setExpanding(false);
    welcome_ = new ui::WelcomePage(documents_);
    hardwarePage_ = new HardwarePage(*document_, &components_, documents_);
    workloadPage_ = new WorkloadPage(&selection_, documents_);
    documents_->addTab(welcome_, tr("Welcome"));
    documents_->addTab(hardwarePage_, tr("Hardware"));
    documents_->addTab(workloadPage_, tr("Workload"));
    mappingPage_ = new MappingPage(&selection_, documents_);
    documents_->addTab(mappingPage_, tr("Mapping"));
    servingPage_ = new ServingPage(documents_);
    documents_->addTab(servingPage_, tr("Serving"));
    evidencePage_ = new EvidencePage(documents_);
    documents_->addTab(evidencePage_, tr("Evidence"));
    documents_->setTabToolTip(0, tr("Examples, recent projects, a new project"));
    documents_->setTabToolTip(1, tr("The design's parts"));
    documents_->setTabToolTip(2, tr("The model's operators"));
    documents_->setTabToolTip(3, tr("How an operator is placed on an array"));
    documents_->setTabToolTip(4, tr("A fleet under traffic: what its users will see"));
    documents_->setTabToolTip(5, tr("How far to trust each method: errors, references, calibration"));
    column->addWidget(notifications_);
    column->addWidget(headline_);
    column->addWidget(documents_, 1);
    setCentralWidget(centre);
    centre->installEventFilter(this);

    connect(welcome_, &ui::WelcomePage::exampleChosen, this, &MainWindow::openExample);
    connect(welcome_, &ui::WelcomePage::openRequested, this, &MainWindow::chooseFile);
    connect(welcome_, &ui::WelcomePage::recentChosen, this, &MainWindow::openFile);
    connect(welcome_, &ui::WelcomePage::newRequested, this, &MainWindow::drawYourOwn);
    connect(welcome_, &ui::WelcomePage::filesDropped, this, [this](const QStringList& files) {
        for (const QString& file : files) openFile(file);
    });
    wireHardwarePage();
    palette_ = new ui::CommandPalette(this);
    palette_->hide();
}

const QStringList& MainWindow::resultViewIds() {
    static const QStringList ids = {QStringLiteral("roofline"),   QStringLiteral("timeline"),
                                    QStringLiteral("comparison"), QStringLiteral("breakdown"),
                                    QStringLiteral("operators"),  QStringLiteral("memory"),
                                    QStringLiteral("why")};
    return ids;
}

ui::ResultView* MainWindow::resultView(const QString& id) {
    if (!resultViewIds().contains(id)) return nullptr;
    Dock* dock = docks_->dock(id);
    return dock ? dock->view() : nullptr;
}

void MainWindow::buildDocks() {
    const auto result = [this]<class View>(const QString& id, const QString& title, const QString& meaning, View*) {
        Dock* dock = docks_->add(id, title, meaning, [this](QWidget* parent) -> QWidget* {
            auto* view = new View(&selection_, parent);
            feeder_->add(view);
            connect(view, &ui::ResultView::emptyActionTriggered, this, &MainWindow::fillEmptyView);
            if constexpr (std::is_same_v<View, ui::ComparisonView>) {
                connect(view, &ui::ComparisonView::primaryMethodChosen, live_, &LiveController::setPrimary);
                connect(view, &ui::ComparisonView::methodChanged, this, &MainWindow::changeMethod);
            }
            if constexpr (std::is_same_v<View, ui::OperatorTableView>) {
                view->table()->setToolTip(tr("Selecting operators selects them in every view"));
                connect(view, &ui::OperatorTableView::operatorActivated, this, [this](int op) {
                    selection_.select({op});
                    docks_->reveal(QStringLiteral("inspector"));
                });
            }
            return view;
        });
        connect(dock, &Dock::exportRequested, this, &MainWindow::exportView);
    };
    docks_->add(QStringLiteral("parts"), tr("Palette"), tr("What designs are drawn from: drag it onto the canvas"),
                [this](QWidget* parent) {
                    auto* palette = new ui::ComponentPalette(parent);
                    wirePalette(palette);
                    return palette;
                });
    docks_->add(QStringLiteral("library"), tr("Library"), tr("Devices, models and methods that ship"),
                [this](QWidget* parent) {
                    library_ = new ui::LibraryPanel(parent);
                    wireLibrary(library_);
                    return library_;
                });
    docks_->add(QStringLiteral("project"), tr("Project"), tr("What the project holds"), [this](QWidget* parent) {
        auto* tree = new ProjectTree(*document_, parent);
        connect(tree, &ProjectTree::hardwareActivated, this, [this] {
            documents_->setCurrentWidget(hardwarePage_);
            inspectComponent({});
        });
        connect(tree, &ProjectTree::workloadActivated, this, [this] {
            documents_->setCurrentWidget(workloadPage_);
            inspectWorkload();
        });
        connect(tree, &ProjectTree::refused, this, [this](const QString& why) { say(Severity::Warning, why); });
        return tree;
    });
    docks_->add(QStringLiteral("inspector"), tr("Inspector"), tr("Numbers of what is selected"),
                [this](QWidget* parent) {
                    inspector_ = new ui::Inspector(parent);
                    wireInspector(inspector_);
                    return inspector_;
                });
    result(QStringLiteral("roofline"), tr("Roofline"), tr("Operators against what the device can do"),
           static_cast<ui::RooflinePlot*>(nullptr));
    result(QStringLiteral("timeline"), tr("Timeline"), tr("When each operator runs"),
           static_cast<ui::TimelineView*>(nullptr));
    result(QStringLiteral("comparison"), tr("Comparison"), tr("The methods side by side"),
           static_cast<ui::ComparisonView*>(nullptr));
    result(QStringLiteral("breakdown"), tr("Breakdown"), tr("Where the time goes"),
           static_cast<ui::BreakdownView*>(nullptr));
    result(QStringLiteral("operators"), tr("Operators"), tr("Every operator with its numbers"),
           static_cast<ui::OperatorTableView*>(nullptr));
    result(QStringLiteral("memory"), tr("Memory"), tr("What must fit, and whether it does"),
           static_cast<ui::MemoryView*>(nullptr));
    result(QStringLiteral("why"), tr("Why"), tr("The chain of terms behind the selected operator's time"),
           static_cast<ui::WhyView*>(nullptr));
    docks_->add(QStringLiteral("problems"), tr("Problems"), tr("What is wrong and what to do"),
                [this](QWidget* parent) {
                    problems_ = new ui::ProblemsPanel(parent);
                    problems_->list()->setToolTip(tr("Enter goes to the place; Ctrl+C copies"));
                    connect(problems_, &ui::ProblemsPanel::jumpTo, this, &MainWindow::jumpTo);
                    connect(problems_, &ui::ProblemsPanel::fixRequested, this, &MainWindow::applyFix);
                    connect(problems_, &ui::ProblemsPanel::countsChanged, this, [this](int errors, int warnings) {
                        QStringList parts;
                        if (errors > 0) parts << tr("%n error(s)", nullptr, errors);
                        if (warnings > 0) parts << tr("%n warning(s)", nullptr, warnings);
                        docks_->dock(QStringLiteral("problems"))->setTitleNote(parts.join(QStringLiteral(", ")));
                    });
                    QTimer::singleShot(0, this, &MainWindow::refreshProblems);
                    return problems_;
                });
    docks_->add(QStringLiteral("jobs"), tr("Jobs"), tr("Runs and their progress"), [this](QWidget* parent) {
        jobs_ = new ui::JobsPanel(parent);
        wireJobs(jobs_);
        return jobs_;
    });
    docks_->add(QStringLiteral("log"), tr("Log"), tr("What happened"), [this](QWidget* parent) {
        logPanel_ = new ui::LogPanel(parent);
        for (const LogLine& line : unlogged_) logPanel_->append(line.severity, line.text, line.when);
        unlogged_.clear();
        return logPanel_;
    });
    docks_->add(QStringLiteral("history"), tr("History"), tr("Edits; click one to go back to it"),
                [this](QWidget* parent) { return new ui::HistoryPanel(document_->undoStack(), parent); });
}

void MainWindow::buildToolbar() {
    auto* bar = addToolBar(tr("Main"));
    bar->setObjectName(QStringLiteral("mainToolbar"));
    bar->setAccessibleName(tr("Main toolbar"));
    bar->setMovable(false);
    bar->setToolButtonStyle(Qt::ToolButtonIconOnly);
    for (const char* id : {"fileOpen", "fileSave", "editUndo", "editRedo"})
        bar->addAction(actions_->find(QLatin1String(id)));
    bar->addSeparator();
    bar->addAction(actions_->find(QStringLiteral("runStart")));
    if (auto* run = qobject_cast<QToolButton*>(bar->widgetForAction(actions_->find(QStringLiteral("runStart"))))) {
        run->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    }
    liveButton_ = new LiveButton(bar);
    bar->addWidget(liveButton_);
    QAction* live = actions_->find(QStringLiteral("runLive"));
    connect(liveButton_, &QToolButton::toggled, live, &QAction::setChecked);
    connect(live, &QAction::toggled, liveButton_, &QToolButton::setChecked);
    bar->addSeparator();
    scenarioBar_ = new ScenarioBar(*document_, bar);
    bar->addWidget(scenarioBar_);
    connect(scenarioBar_, &ScenarioBar::catalogueHardwareChosen, this, &MainWindow::addCatalogueHardware);
    connect(scenarioBar_, &ScenarioBar::builtinWorkloadChosen, this, &MainWindow::addBuiltinWorkload);
    connect(scenarioBar_, &ScenarioBar::openRequested, this, &MainWindow::chooseFile);
    connect(scenarioBar_, &ScenarioBar::refused, this, &MainWindow::complain);
    auto* gap = new QWidget(bar);
    gap->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    bar->addWidget(gap);
    bar->addAction(actions_->find(QStringLiteral("viewDark")));
    bar->addAction(actions_->find(QStringLiteral("helpPalette")));
    if (auto* palette =
            qobject_cast<QToolButton*>(bar->widgetForAction(actions_->find(QStringLiteral("helpPalette"))))) {
        palette->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    }
    for (QToolButton* button : bar->findChildren<QToolButton*>()) {
        if (!button->defaultAction()) continue;
        button->setObjectName(button->defaultAction()->objectName() + QStringLiteral("Button"));
        button->setAccessibleName(button->defaultAction()->text().remove(QLatin1Char('&')));
    }
}

void MainWindow::finishStart() {
    fillWelcome();
    ready_ = true;
    emit ready();
    connect(pictures_, &ExamplePictures::ready, this, &MainWindow::fillWelcome);
    connect(&ui::Theme::instance(), &ui::Theme::changed, this, &MainWindow::fillWelcome);
    // Measured operators are marked in the roofline from the start, not only once Evidence was looked at.
    QTimer::singleShot(300, evidencePage_->shelf(), &ReferenceShelf::readShipped);
    // A start that goes straight to a project has no use for the gallery's pictures yet.
    QTimer::singleShot(200, this, [this] {
        if (documents_->currentWidget() == welcome_) pictures_->start();
    });
    connect(documents_, &QTabWidget::currentChanged, this, [this] {
        if (documents_->currentWidget() == welcome_) pictures_->start();
        docks_->setAside(documents_->currentWidget() == evidencePage_ || documents_->currentWidget() == servingPage_);
    });
}

void MainWindow::fillEmptyView() {
    showDocuments(true);
    documents_->setCurrentWidget(welcome_);
}

void MainWindow::showDocuments(bool shown) {
    documents_->setVisible(shown);
    fitCentre();
    if (QAction* action = actions_->find(QStringLiteral("viewDocuments"))) action->setChecked(shown);
}

void MainWindow::fitCentre() {
    // Without pages only the headline and notifications are left: the docks get the rest.
    const bool pages = documents_->isVisibleTo(centralWidget());
    centralWidget()->setMaximumHeight(pages ? QWIDGETSIZE_MAX : centralWidget()->layout()->sizeHint().height());
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
    if (watched == centralWidget() && event->type() == QEvent::LayoutRequest) fitCentre();
    return QMainWindow::eventFilter(watched, event);
}

void MainWindow::showProject() {
    if (!docks_->isShown()) setLayoutMode(docks_->layout());
    if (documents_->currentWidget() == welcome_) documents_->setCurrentWidget(hardwarePage_);
}

void MainWindow::setLayoutMode(Layout layout, bool asShipped) {
    docks_->remember();
    ui::Theme::instance().setPresenter(layout == Layout::Teach);
    // Explore and Draw work on documents; the other two are for looking, and give the docks their room.
    showDocuments(layout == Layout::Explore || layout == Layout::Draw);
    if (auto* palette = findChild<QToolButton*>(QStringLiteral("helpPaletteButton"))) {
        palette->setToolButtonStyle(layout == Layout::Teach ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextBesideIcon);
    }
    docks_->apply(layout, asShipped);
    setFocus(Qt::OtherFocusReason);  // else the window gives it to the first dock's menu button
    openSettings()->setValue("layout/last", toText(layout));
    for (const Layout each : {Layout::Explore, Layout::Teach, Layout::Compare, Layout::Draw}) {
        QAction* action = actions_->find(QStringLiteral("layout-") + toText(each));
        if (action) action->setChecked(each == layout);
    }
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
    autosave_->setInterval(preferences.autosaveSeconds);
    runs_->setThreads(preferences.threads);
    actions_->refreshIcons();
    if (QAction* dark = actions_->find(QStringLiteral("viewDark"))) dark->setChecked(preferences.dark);
}

}  // namespace orrery::app
