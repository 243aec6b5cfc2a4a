#include "app/document/document.h"

#include "app/document/project_command.h"
#include "hardware/check/validate.h"
#include "hardware/walk.h"

#include <QFile>
#include <QFileInfo>

#include <algorithm>
#include <utility>

namespace orrery::app {

namespace {

/// What is wrong with the project itself, beyond its designs.
void checkScenario(const ProjectState& state, Diagnostics& problems) {
    if (state.scenarios.empty()) return;
    const ScenarioRef& current = state.scenarios.front();
    const auto report = [&](const std::string& kind, const std::string& name) {
        problems.push_back({Severity::Error,
                            "project.unknown-" + kind,
                            "the scenario names the " + kind + " " + name + ", which the project has not",
                            "one of the project's",
                            "choose another in the toolbar",
                            {{}, 0, 0, "scenarios"}});
    };
    if (!current.hardware.empty() && state.currentHardware() < 0) report("hardware", current.hardware);
    if (!current.workload.empty() && state.currentWorkload() < 0) report("workload", current.workload);
}

/// Components that are checked within an edit; more are checked in the background.
constexpr int checkedAtOnce = 4000;

bool countsBeyond(const Component& component, int& left) {
    if (--left < 0) return true;
    return std::ranges::any_of(partsIn(component),
                               [&left](const Component& child) { return countsBeyond(child, left); });
}

bool hasMoreThan(const Component& root, int components) {
    return countsBeyond(root, components);
}

std::string textOf(const QString& file) {
    QFile text(file);
    return text.open(QIODevice::ReadOnly) ? text.readAll().toStdString() : std::string();
}

}  // namespace

Document::Document(QObject* parent) : QObject(parent), state_(std::make_shared<const ProjectState>()) {
    undo_.setUndoLimit(0);
    connect(&undo_, &QUndoStack::cleanChanged, this, &Document::tellModified);
}

HardwarePtr Document::hardware() const {
    const int index = hardwareIndex();
    return index < 0 ? nullptr : state_->hardware[static_cast<std::size_t>(index)];
}

ui::PlacementsPtr Document::placements() const {
    return state_->placementsOf(hardwareIndex());
}

const ProjectWorkload* Document::workload() const {
    const int index = workloadIndex();
    return index < 0 ? nullptr : &state_->workloads[static_cast<std::size_t>(index)];
}

Expected<void> Document::apply(Expected<Edit> edit, int gesture) {
    if (!edit) return Unexpected(edit.error());
    if (sameContent(*state_, edit->after)) return {};
    undo_.push(new ProjectCommand(*this, state_, std::move(*edit), gesture));
    return {};
}

void Document::show(ProjectStatePtr state) {
    const ProjectStatePtr before = std::exchange(state_, std::move(state));
    ++revision_;
    static const ScenarioRef noPair;
    const auto pair = [](const ProjectState& of) -> const ScenarioRef& {
        return of.scenarios.empty() ? noPair : of.scenarios.front();
    };
    const auto design = [](const ProjectState& of) {
        const int index = of.currentHardware();
        return index < 0 ? HardwarePtr() : of.hardware[static_cast<std::size_t>(index)];
    };
    static const ProjectWorkload noWorkload;
    const auto recipe = [](const ProjectState& of) -> const ProjectWorkload& {
        const int index = of.currentWorkload();
        return index < 0 ? noWorkload : of.workloads[static_cast<std::size_t>(index)];
    };
    const bool layout = before->placements != state_->placements;
    const bool designs = before->hardware != state_->hardware;
    const bool scenario = before->scenarios != state_->scenarios;
    const bool workloads = !(before->workloads == state_->workloads);
    const bool designChanged = (designs || scenario) && design(*before) != design(*state_);
    if (scenario && !(pair(*before) == pair(*state_))) emit scenarioChanged();
    if (layout) emit layoutChanged();
    if (designChanged) emit hardwareChanged();
    if ((workloads || scenario) && !(recipe(*before) == recipe(*state_))) emit workloadChanged();
    if (before->methods != state_->methods) emit methodsChanged();
    if (before->prices != state_->prices) emit pricesChanged();
    if (before->search != state_->search) emit searchChanged();
    if (before->serving != state_->serving) emit servingChanged();
    if (designs || scenario || workloads) validate();
    emit projectChanged();
}

void Document::validate() {
    const HardwarePtr design = hardware();
    if (design && hasMoreThan(design->root, checkedAtOnce)) {
        wanted_ = design;
        if (!running_) startCheck();
        return;
    }
    wanted_.reset();
    setProblems(design ? orrery::validate(*design) : Diagnostics());
}

void Document::startCheck() {
    running_ = wanted_;
    checker_.ask([design = running_](std::stop_token, Progress&) { return orrery::validate(*design); },
                 [this](Diagnostics found) { checked(std::move(found)); });
}

// One check at a time: the design may have become another one meanwhile.
void Document::checked(Diagnostics found) {
    const HardwarePtr done = std::exchange(running_, nullptr);
    if (!wanted_) return;
    if (done != wanted_) return startCheck();
    wanted_.reset();
    setProblems(std::move(found));
}

void Document::setProblems(Diagnostics found) {
    checkScenario(*state_, found);
    if (found == problems_) return;
    problems_ = std::move(found);
    emit problemsChanged();
}

void Document::tellModified() {
    if (isModified() == toldModified_) return;
    toldModified_ = isModified();
    emit modifiedChanged(toldModified_);
}

void Document::reset(Project project, const QString& file, bool modified) {
    undo_.clear();
    forced_ = modified;
    file_ = file;
    savedText_.clear();
    auto next = std::make_shared<const ProjectState>(toState(std::move(project)));
    state_ = std::make_shared<const ProjectState>();
    emit replaced();
    show(std::move(next));
    emit fileChanged(file_);
    tellModified();
}

Expected<Diagnostics> Document::load(const QString& file) {
    Expected<LoadedProject> loaded = readProjectFile(file.toStdString());
    if (!loaded) return Unexpected(loaded.error());
    reset(std::move(loaded->project), QFileInfo(file).absoluteFilePath(), !loaded->migratedFrom.empty());
    savedText_ = textOf(file);
    return std::move(loaded->warnings);
}

Expected<void> Document::save() {
    if (file_.isEmpty()) {
        return fail("document.no-file", "the project has no file yet", {}, "use File, Save As");
    }
    return saveAs(file_);
}

Expected<void> Document::saveAs(const QString& file) {
    if (Expected<void> saved = saveProjectFile(file.toStdString(), toProject(*state_)); !saved) return saved;
    savedText_ = textOf(file);
    const QString absolute = QFileInfo(file).absoluteFilePath();
    const bool moved = absolute != file_;
    file_ = absolute;
    forced_ = false;
    undo_.setClean();
    tellModified();
    if (moved) emit fileChanged(file_);
    return {};
}

QString Document::title() const {
    if (!state_->name.empty()) return QString::fromStdString(state_->name);
    if (!file_.isEmpty()) return QFileInfo(file_).completeBaseName();
    return tr("Untitled");
}

bool Document::isBlank() const {
    return file_.isEmpty() && !isModified() && state_->hardware.empty() && state_->workloads.empty();
}

std::string Document::yaml() const {
    return writeProject(toProject(*state_));
}

}  // namespace orrery::app
