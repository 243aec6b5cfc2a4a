#include "app/document/commands/component_edits.h"
#include "app/document/commands/project_edits.h"
#include "app/document/commands/set_attribute.h"
#include "app/document/commands/set_replication.h"
#include "app/document/disk_watch.h"
#include "app/document/run_controller.h"
#include "app/document/workload_cache.h"
#include "app/window/hardware/canvas_editor.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/headline.h"
#include "app/window/main_window.h"
#include "app/window/scenario_bar.h"
#include "app/window/snapshot_feeder.h"
#include "app/window/workload/workload_page.h"
#include "hardware/files/catalogue.h"
#include "widgets/inspector/inspector.h"
#include "widgets/messages/jobs_panel.h"
#include "widgets/library/library.h"
#include "widgets/messages/log_panel.h"
#include "widgets/messages/notification_bar.h"
#include "widgets/messages/problems_panel.h"

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
        const HardwarePtr design = document_->hardware();
        if (std::exchange(freshDesign_, false)) {
            components_.select({mainMemory(design)});
        } else if (design) {
            ComponentPaths there = components_.paths();
            std::erase_if(there, [&](const ComponentPath& path) { return !componentAt(design->root, path); });
            if (there.size() != components_.paths().size()) components_.select(std::move(there));
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
        components_.clear();
        freshDesign_ = true;
        liveProblem_.reset();
        inspected_ = Inspected::Component;
    });
    connect(&selection_, &ui::Selection::changed, this, &MainWindow::inspectSelection);
    connect(&selection_, &ui::Selection::changed, this, &MainWindow::showLimiters);
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
    wireWorkloadPage();
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
    connect(library, &ui::LibraryPanel::hardwareDeriveRequested, this, &MainWindow::derivePreset);
    connect(library, &ui::LibraryPanel::hardwareInsertRequested, this, [this](const QString& id) {
        if (!document_->hardware()) return addCatalogueHardware(id);
        showProject();
        documents_->setCurrentWidget(hardwarePage_);
        addDevice(*hardwarePage_->canvas(), id, components_.current(), std::nullopt);
    });
    connect(library, &ui::LibraryPanel::workloadChosen, this, &MainWindow::addBuiltinWorkload);
    connect(library, &ui::LibraryPanel::methodToggled, this, [this](const QString& id, bool on) {
        std::vector<std::string> methods = document_->state()->methods;
        std::erase(methods, id.toStdString());
        if (on) methods.push_back(id.toStdString());
        report(document_->apply(setMethodsEdit(*document_->state(), std::move(methods))));
    });
}

void MainWindow::changeMethod(const QString& before, const QString& after) {
    std::vector<std::string> methods = document_->state()->methods;
    const std::string now = after.toStdString();
    const bool there = std::ranges::find(methods, now) != methods.end();
    const auto at = std::ranges::find(methods, before.toStdString());
    if (there) {
        if (at == methods.end()) return;  // asked already
        methods.erase(at);
    } else if (at != methods.end()) {
        *at = now;
    } else {
        methods.push_back(now);
    }
    report(document_->apply(setMethodsEdit(*document_->state(), std::move(methods))));
}

void MainWindow::wireInspector(ui::Inspector* inspector) {
    connect(inspector, &ui::Inspector::attributesEdited, this, &MainWindow::editComponents);
    connect(inspector, &ui::Inspector::attributesRemoved, this,
            [this](const ComponentPaths& paths, const QString& attribute) {
                report(editor_->setAttribute(paths, attribute, {}));
            });
    connect(inspector, &ui::Inspector::addRequested, this,
            [this](const ComponentPath& parent, const std::vector<Component>& parts) {
                report(editor_->add(parent, parts, {}).map([](const ComponentPaths&) {}));
            });
    connect(inspector, &ui::Inspector::removeRequested, this,
            [this](const ComponentPaths& paths) { report(editor_->remove(paths)); });
    connect(inspector, &ui::Inspector::moveRequested, this,
            [this](const ComponentPath& path, const ComponentPath& parent, int index) {
                report(document_->apply(
                    moveComponentEdit(*document_->state(), document_->hardwareIndex(), path, parent, index)));
            });
    connect(inspector, &ui::Inspector::selectRequested, this, &MainWindow::inspectComponent);
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

void MainWindow::editComponents(const ComponentPaths& paths, const QString& attribute, const QString& text,
                                ui::EditPhase phase) {
    const int gesture = gestureOf(phase);
    if (phase == ui::EditPhase::Begin || paths.empty()) return;  // Begin carries the value that is there
    const ProjectState& state = *document_->state();
    const int design = document_->hardwareIndex();
    Expected<void> done;
    if (paths.size() > 1) {
        done = editor_->setAttribute(paths, attribute, text, gesture);
    } else if (attribute == QLatin1String("name")) {
        done = editor_->rename(paths.front(), text);
    } else if (attribute == QLatin1String("count")) {
        bool whole = false;
        const qint64 count = text.trimmed().toLongLong(&whole);
        done = document_->apply(setCountEdit(state, design, paths.front(), whole ? count : 0), gesture);
    } else if (attribute == QLatin1String("mesh")) {
        static const QRegularExpression between(QStringLiteral("[^0-9-]+"));
        std::vector<std::int64_t> mesh;
        for (const QString& part : text.split(between, Qt::SkipEmptyParts)) mesh.push_back(part.toLongLong());
        done = document_->apply(setMeshEdit(state, design, paths.front(), mesh), gesture);
    } else {
        done = document_->apply(setAttributeEdit(state, design, paths.front(), attribute, text), gesture);
    }
    if (!report(done)) refreshInspector();
}

void MainWindow::inspectComponent(const ComponentPath& path) {
    components_.select({path});
    inspected_ = Inspected::Component;
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
            return inspector_->showComponents(design, components_.paths(), device);
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
            if (!answer.failure) continue;
            all.push_back(*answer.failure);
            // Nothing is wrong with a model that a method is not made for.
            if (answer.failure->code == "method.not-applicable") all.back().severity = Severity::Note;
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
    if (!problems_) return;
    problems_->setDesign(document_->hardware());
    problems_->setDiagnostics(currentProblems());
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
        inspectComponent(*path);
        return hardwarePage_->canvas()->ensureVisible(*path);
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
