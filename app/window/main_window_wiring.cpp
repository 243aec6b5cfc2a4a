#include "app/document/commands/component_edits.h"
#include "app/document/commands/project_edits.h"
#include "app/document/commands/set_attribute.h"
#include "app/document/commands/set_replication.h"
#include "app/document/disk_watch.h"
#include "app/document/run_controller.h"
#include "app/document/workload_cache.h"
#include "app/window/hardware_page.h"
#include "app/window/headline.h"
#include "app/window/main_window.h"
#include "app/window/scenario_bar.h"
#include "app/window/snapshot_feeder.h"
#include "app/window/workload_page.h"
#include "hardware/catalogue.h"
#include "hardware/hardware_yaml.h"
#include "widgets/panels/component_tree.h"
#include "widgets/panels/inspector.h"
#include "widgets/panels/jobs_panel.h"
#include "widgets/panels/library.h"
#include "widgets/panels/log_panel.h"
#include "widgets/panels/notification_bar.h"
#include "widgets/panels/problems_panel.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QInputDialog>
#include <QRegularExpression>
#include <QTabWidget>

namespace orrery::app {

namespace {

/// The component whose bandwidth decides most: what a person is shown first. The root if a design has no memory.
ComponentPath mainMemory(const HardwarePtr& design) {
    if (!design) return {};
    const Expected<DeviceView> view = deviceView(*design);
    const Expected<ComponentPath> path =
        view ? findComponent(design->root, view->main().path) : Expected<ComponentPath>(ComponentPath{});
    return path.value_or(ComponentPath{});
}

}  // namespace

void MainWindow::wireDocument() {
    connect(document_, &Document::hardwareChanged, this, [this] {
        hardwarePage_->setHardware(document_->hardware());
        if (std::exchange(freshDesign_, false)) {
            component_ = mainMemory(document_->hardware());
            hardwarePage_->setCurrent(component_);
        }
        if (const HardwarePtr design = document_->hardware(); design && !componentAt(design->root, component_)) {
            component_.clear();
        }
        if (inspected_ == Inspected::Component) refreshInspector();
    });
    connect(document_, &Document::scenarioChanged, this, [this] { freshDesign_ = true; });
    connect(document_, &Document::workloadChanged, this, [this] {
        if (inspected_ == Inspected::Workload) refreshInspector();
    });
    connect(document_, &Document::methodsChanged, this, [this] {
        if (!library_) return;
        QStringList ids;
        for (const std::string& id : document_->state()->methods) ids << QString::fromStdString(id);
        library_->setMethodSet(ids);
    });
    connect(document_, &Document::problemsChanged, this, &MainWindow::refreshProblems);
    connect(document_, &Document::modifiedChanged, this, &MainWindow::refreshTitle);
    connect(document_, &Document::fileChanged, this, &MainWindow::refreshTitle);
    connect(document_, &Document::replaced, this, [this] {
        selection_.clear();
        component_.clear();
        freshDesign_ = true;
        liveProblem_.reset();
        inspected_ = Inspected::Component;
    });
    connect(&selection_, &ui::Selection::changed, this, &MainWindow::inspectSelection);
    connect(diskWatch_, &DiskWatch::changedOnDisk, this, [this](const QString& file) {
        ui::Notification notice;
        notice.severity = Severity::Warning;
        notice.text = tr("%1 was changed by another program").arg(QFileInfo(file).fileName());
        notice.key = QStringLiteral("disk");
        notice.dismissAfterMs = 0;
        notice.actions.push_back({document_->isModified() ? tr("Read it, losing my changes") : tr("Read it"), [this] {
                                      notifications_->dismissKey(QStringLiteral("disk"));
                                      reloadFromDisk();
                                  }});
        notice.actions.push_back({tr("Keep mine"), [this] { notifications_->dismissKey(QStringLiteral("disk")); }});
        notifications_->notify(notice);
    });
    connect(diskWatch_, &DiskWatch::removedFromDisk, this, [this](const QString& file) {
        say(Severity::Warning, tr("%1 is no longer on disk").arg(QFileInfo(file).fileName()),
            tr("The project is still open: save it to write the file again."), QStringLiteral("disk"));
    });
}

void MainWindow::wireLive() {
    connect(live_, &LiveController::snapshotReady, this, [this](const ui::SnapshotPtr& snapshot) {
        feeder_->feed(snapshot);
        headline_->setSnapshot(snapshot);
        if (snapshot) {
            liveProblem_.reset();
            double cost = 0;
            for (const ui::Answer& answer : snapshot->answers)
                cost += answer.estimate ? answer.estimate->cost.value : 0;
            liveButton_->setCost(cost, static_cast<int>(snapshot->scenario.workload->graph.operators.size()));
        }
        refreshProblems();
        if (inspected_ == Inspected::Operator) refreshInspector();
    });
    connect(live_, &LiveController::workloadReady, this, [this](const WorkloadPtr& workload) {
        workloadPage_->setWorkload(workload);
        if (inspected_ == Inspected::Workload) refreshInspector();
    });
    connect(live_, &LiveController::failed, this, [this](const Diagnostic& why) {
        liveProblem_ = why;
        refreshProblems();
    });
    connect(live_, &LiveController::busyChanged, this, [this](bool busy) {
        using State = LiveButton::State;
        const auto& snapshot = live_->snapshot();
        const bool answered = snapshot && snapshot->primaryEstimate();
        const bool asked = document_->hardware() && document_->workload();
        liveButton_->setState(!live_->isEnabled()  ? State::Off
                              : busy               ? State::Busy
                              : answered || !asked ? State::Idle
                                                   : State::Failed);
    });
    connect(liveButton_, &QToolButton::toggled, this,
            [this](bool on) { liveButton_->setState(on ? LiveButton::State::Idle : LiveButton::State::Off); });
}

void MainWindow::wireRuns() {
    connect(runs_, &RunController::started, this, [this](int run) {
        docks_->dock(QStringLiteral("jobs"))->content();
        const int job = jobs_->addJob(runs_->name(run), tr("results"), runs_->progress(run));
        jobs_->setState(job, ui::JobState::Running);
        jobOfRun_[run] = job;
        runOfJob_[job] = run;
        docks_->reveal(QStringLiteral("jobs"));
    });
    connect(runs_, &RunController::finished, this, [this](int run, RunState state, const QString& message) {
        const ui::JobState shown = state == RunState::Done        ? ui::JobState::Done
                                   : state == RunState::Cancelled ? ui::JobState::Cancelled
                                                                  : ui::JobState::Failed;
        jobs_->setState(jobOfRun_[run], shown, message);
        log(state == RunState::Failed ? Severity::Error : Severity::Note,
            tr("Run %1: %2").arg(runs_->name(run), message));
    });
    connect(runs_, &RunController::failed, this, &MainWindow::complain);
}

void MainWindow::wireJobs(ui::JobsPanel* jobs) {
    connect(jobs, &ui::JobsPanel::cancelRequested, this, [this](int job) { runs_->cancel(runOfJob_[job]); });
    connect(jobs, &ui::JobsPanel::openRequested, this, [this](int job) { openRun(runOfJob_[job]); });
    connect(jobs, &ui::JobsPanel::runningChanged, this, [this](int running) {
        docks_->dock(QStringLiteral("jobs"))
            ->setTitleNote(running > 0 ? tr("%n running", nullptr, running) : QString());
    });
}

void MainWindow::wireLibrary(ui::LibraryPanel* library) {
    library->setHardware(hardwareCatalogue());
    library->setWorkloads(builtinWorkloads());
    library->setMethods(builtinMethods());
    QStringList ids;
    for (const std::string& id : document_->state()->methods) ids << QString::fromStdString(id);
    library->setMethodSet(ids);
    connect(library, &ui::LibraryPanel::hardwareChosen, this, &MainWindow::addCatalogueHardware);
    connect(library, &ui::LibraryPanel::workloadChosen, this, &MainWindow::addBuiltinWorkload);
    connect(library, &ui::LibraryPanel::methodToggled, this, [this](const QString& id, bool on) {
        std::vector<std::string> methods = document_->state()->methods;
        std::erase(methods, id.toStdString());
        if (on) methods.push_back(id.toStdString());
        report(document_->apply(setMethodsEdit(*document_->state(), std::move(methods))));
    });
}

void MainWindow::wireInspector(ui::Inspector* inspector) {
    connect(inspector, &ui::Inspector::attributeEdited, this, &MainWindow::editComponent);
    connect(inspector, &ui::Inspector::attributeRemoved, this,
            [this](const ComponentPath& path, const QString& attribute) {
                report(document_->apply(
                    setAttributeEdit(*document_->state(), document_->hardwareIndex(), path, attribute, {})));
            });
    connect(inspector, &ui::Inspector::workloadEdited, this,
            [this](const WorkloadOptions& options, ui::EditPhase phase) {
                const int gesture = gestureOf(phase);
                if (phase == ui::EditPhase::Begin) return;
                if (!report(document_->apply(
                        setWorkloadOptionsEdit(*document_->state(), document_->workloadIndex(), options), gesture))) {
                    refreshInspector();
                }
            });
    inspector->setProblems(document_->problems());
    refreshInspector();
}

int MainWindow::gestureOf(ui::EditPhase phase) {
    if (phase == ui::EditPhase::Begin) gesture_ = document_->newGesture();
    const int gesture = gesture_;
    if (phase == ui::EditPhase::Commit) gesture_ = 0;
    return gesture;
}

void MainWindow::editComponent(const ComponentPath& path, const QString& attribute, const QString& text,
                               ui::EditPhase phase) {
    const int gesture = gestureOf(phase);
    if (phase == ui::EditPhase::Begin) return;  // carries the value that is there
    const ProjectState& state = *document_->state();
    const int design = document_->hardwareIndex();
    Expected<Edit> edit;
    if (attribute == QLatin1String("name")) {
        edit = renameComponentEdit(state, design, path, text);
    } else if (attribute == QLatin1String("count")) {
        bool whole = false;
        const qint64 count = text.trimmed().toLongLong(&whole);
        edit = setCountEdit(state, design, path, whole ? count : 0);
    } else if (attribute == QLatin1String("mesh")) {
        static const QRegularExpression between(QStringLiteral("[^0-9-]+"));
        std::vector<std::int64_t> mesh;
        for (const QString& part : text.split(between, Qt::SkipEmptyParts)) mesh.push_back(part.toLongLong());
        edit = setMeshEdit(state, design, path, mesh);
    } else {
        edit = setAttributeEdit(state, design, path, attribute, text);
    }
    if (!report(document_->apply(std::move(edit), gesture))) refreshInspector();
}

void MainWindow::wireHardwarePage() {
    const auto design = [this] { return document_->hardwareIndex(); };
    ui::ComponentTreeView* tree = hardwarePage_->tree();
    connect(hardwarePage_, &HardwarePage::componentSelected, this, &MainWindow::inspectComponent);
    connect(tree, &ui::ComponentTreeView::componentActivated, this, [this](const ComponentPath& path) {
        inspectComponent(path);
        docks_->reveal(QStringLiteral("inspector"));
    });
    const auto copyOf = [this](const ComponentPath& path) -> std::optional<Component> {
        const HardwarePtr hardware = document_->hardware();
        const Component* component = hardware ? componentAt(hardware->root, path) : nullptr;
        return component ? std::optional(*component) : std::nullopt;
    };
    connect(tree, &ui::ComponentTreeView::duplicateRequested, this, [this, design, copyOf](const ComponentPath& path) {
        std::optional<Component> copy = copyOf(path);
        if (!copy || path.empty()) return;
        const ComponentPath parent(path.begin(), path.end() - 1);
        report(document_->apply(addComponentEdit(*document_->state(), design(), parent, std::move(*copy))));
    });
    connect(tree, &ui::ComponentTreeView::deleteRequested, this, [this, design](const ComponentPath& path) {
        report(document_->apply(removeComponentEdit(*document_->state(), design(), path)));
    });
    connect(tree, &ui::ComponentTreeView::renameRequested, this, [this, design, copyOf](const ComponentPath& path) {
        const std::optional<Component> component = copyOf(path);
        if (!component) return;
        bool given = false;
        const QString name = QInputDialog::getText(this, tr("Rename"), tr("New name"), QLineEdit::Normal,
                                                   QString::fromStdString(component->name), &given);
        if (given) report(document_->apply(renameComponentEdit(*document_->state(), design(), path, name)));
    });
    connect(tree, &ui::ComponentTreeView::copyRequested, this, [copyOf](const ComponentPath& path) {
        if (const auto component = copyOf(path)) {
            QGuiApplication::clipboard()->setText(QString::fromStdString(writeComponent(*component)));
        }
    });
    connect(tree, &ui::ComponentTreeView::pasteRequested, this, [this, design](const ComponentPath& parent) {
        Expected<Component> pasted = readComponent(QGuiApplication::clipboard()->text().toStdString());
        if (!pasted) return complain(pasted.error());
        report(document_->apply(addComponentEdit(*document_->state(), design(), parent, std::move(*pasted))));
    });
    connect(tree, &ui::ComponentTreeView::addRequested, this,
            [this, design](const ComponentPath& parent, ComponentKind kind) {
                Component component;
                component.kind = kind;
                report(document_->apply(addComponentEdit(*document_->state(), design(), parent, std::move(component))));
            });
}

void MainWindow::inspectComponent(const ComponentPath& path) {
    inspected_ = Inspected::Component;
    component_ = path;
    hardwarePage_->setCurrent(path);
    refreshInspector();
}

void MainWindow::inspectWorkload() {
    inspected_ = Inspected::Workload;
    refreshInspector();
}

void MainWindow::inspectSelection() {
    if (selection_.operators().size() == 1) {
        inspected_ = Inspected::Operator;
    } else if (inspected_ == Inspected::Operator) {
        inspected_ = Inspected::Component;
    } else {
        return;
    }
    refreshInspector();
}

void MainWindow::refreshInspector() {
    if (!inspector_) return;
    switch (inspected_) {
        case Inspected::Nothing:
            return inspector_->clear();
        case Inspected::Component: {
            const HardwarePtr design = document_->hardware();
            if (!design) return inspector_->clear();
            ui::DeviceViewPtr device;
            if (Expected<DeviceView> view = deviceView(*design))
                device = std::make_shared<const DeviceView>(std::move(*view));
            if (design->name != presetName_) {  // a design that keeps its preset's name can be put back to it
                presetName_ = design->name;
                Expected<LoadedHardware> preset = loadHardware(presetName_);
                inspector_->setPreset(preset ? std::make_shared<const Hardware>(std::move(preset->hardware)) : nullptr);
            }
            return inspector_->showComponent(design, component_, device);
        }
        case Inspected::Workload: {
            const ProjectWorkload* workload = document_->workload();
            if (!workload) return inspector_->clear();
            const WorkloadPtr loaded = live_->workload();
            const bool current = loaded && loaded->recipe.source == workload->recipe.source;
            return inspector_->showWorkload(workload->recipe, builtinWorkload(workload->recipe.source),
                                            current ? loaded : nullptr);
        }
        case Inspected::Operator: {
            const auto& snapshot = live_->snapshot();
            if (!snapshot || selection_.operators().isEmpty()) return inspector_->clear();
            const int op = *selection_.operators().begin();
            const auto count = static_cast<int>(snapshot->scenario.workload->graph.operators.size());
            if (op < 0 || op >= count) return inspector_->clear();
            return inspector_->showOperator(snapshot->scenario.workload, op, snapshot->primaryEstimate());
        }
    }
}

Diagnostics MainWindow::currentProblems() const {
    Diagnostics all = fileProblems_;
    all.insert(all.end(), document_->problems().begin(), document_->problems().end());
    if (liveProblem_) all.push_back(*liveProblem_);
    if (const auto& snapshot = live_->snapshot()) {
        for (const ui::Answer& answer : snapshot->answers) {
            if (answer.failure) all.push_back(*answer.failure);
        }
        const Diagnostics& warnings = snapshot->scenario.workload->warnings;
        all.insert(all.end(), warnings.begin(), warnings.end());
        if (const Estimate* primary = snapshot->primaryEstimate()) {
            all.insert(all.end(), primary->warnings.begin(), primary->warnings.end());
        }
    }
    return all;
}

void MainWindow::refreshProblems() {
    if (inspector_) inspector_->setProblems(document_->problems());
    if (problems_) problems_->setDiagnostics(currentProblems());
}

void MainWindow::jumpTo(const Place& place) {
    const HardwarePtr design = document_->hardware();
    if (!design || place.path.empty()) return;
    // `system/h100/hbm3.bandwidth`: the component stands before the last dot.
    std::string names = place.path.substr(0, place.path.find_last_of('.'));
    Expected<ComponentPath> path = findComponent(design->root, names);
    if (!path) path = findComponent(design->root, place.path);
    if (path) {
        documents_->setCurrentWidget(hardwarePage_);
        docks_->reveal(QStringLiteral("inspector"));
        return inspectComponent(*path);
    }
    const auto& snapshot = live_->snapshot();
    if (!snapshot) return;
    const auto& operators = snapshot->scenario.workload->graph.operators;
    for (std::size_t at = 0; at < operators.size(); ++at) {
        if (operators[at].name == place.path) return selection_.select({static_cast<int>(at)});
    }
}

void MainWindow::refreshTitle() {
    setWindowTitle(QStringLiteral("%1[*] – Orrery").arg(document_->title()));
    setWindowModified(document_->isModified());
    setWindowFilePath(document_->file());
}

bool MainWindow::report(Expected<void> done) {
    if (!done) complain(done.error());
    return done.has_value();
}

void MainWindow::say(Severity severity, const QString& text, const QString& detail, const QString& key) {
    ui::Notification notification;
    notification.severity = severity;
    notification.text = text;
    notification.detail = detail;
    notification.key = key;
    notifications_->notify(notification);
    log(severity, text);
}

void MainWindow::complain(const Diagnostic& why) {
    notifications_->notify(why);
    if (!why.place.file.empty()) {
        std::erase(fileProblems_, why);
        fileProblems_.push_back(why);
        refreshProblems();
    }
    log(why.severity, QString::fromStdString(orrery::toText(why)));
}

void MainWindow::log(Severity severity, const QString& text) {
    if (logPanel_) {
        logPanel_->append(severity, text);
    } else {
        unlogged_.push_back({severity, text, QDateTime::currentDateTime()});
    }
}

}  // namespace orrery::app
