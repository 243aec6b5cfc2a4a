#include "app/window/inspection.h"

#include "app/document/commands/component_edits.h"
#include "app/document/commands/project_edits.h"
#include "app/document/commands/set_attribute.h"
#include "app/document/commands/set_replication.h"
#include "app/document/commands/work_in_type.h"
#include "app/window/hardware/canvas_editor.h"
#include "app/window/studio.h"
#include "hardware/files/catalogue.h"
#include "widgets/common/text.h"
#include "widgets/inspector/inspector.h"

#include <QRegularExpression>

#include <utility>

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

/// Null where nothing drawn is a device.
ui::DeviceViewPtr deviceOf(const HardwarePtr& design) {
    Expected<DeviceView> view = design ? deviceView(*design) : fail("inspection.no-design", "nothing is drawn");
    return view ? std::make_shared<const DeviceView>(std::move(*view)) : nullptr;
}

}  // namespace

Inspection::Inspection(Studio& studio)
    : studio_(studio), editor_(std::make_unique<DocumentCanvasEditor>(studio.document)) {
    const Document* document = &studio.document;
    connect(document, &Document::hardwareChanged, this, &Inspection::followDesign);
    // Of another plan or workload the design is the same, and so is what is inspected.
    connect(document, &Document::scenarioChanged, this, [this] {
        const int design = studio_.document.hardwareIndex();
        if (property("design").toInt() != design) freshDesign_ = true;
        setProperty("design", design);
    });
    connect(document, &Document::workloadChanged, this, [this] {
        if (shown_ == Shown::Workload) refresh();
    });
    connect(document, &Document::problemsChanged, this, [this] {
        if (inspector_) inspector_->setProblems(studio_.document.problems());
    });
    connect(document, &Document::replaced, this, [this] {
        studio_.selection.clear();
        studio_.components.clear();
        freshDesign_ = true;
        setProperty("design", studio_.document.hardwareIndex());
        shown_ = Shown::Component;
    });
    connect(&studio.selection, &ui::Selection::changed, this, &Inspection::followOperators);
    connect(&studio.components, &ui::ComponentSelection::changed, this, &Inspection::showSelected);
    connect(&studio.live, &LiveController::snapshotReady, this, [this] {
        if (shown_ == Shown::Operator) refresh();
    });
    connect(&studio.live, &LiveController::workloadReady, this, [this] {
        if (shown_ == Shown::Workload) refresh();
    });
}

Inspection::~Inspection() = default;

void Inspection::addDock() {
    studio_.docks.add(QStringLiteral("inspector"), tr("Inspector"), tr("Numbers of the selection"),
                      [this](QWidget* parent) {
                          inspector_ = new ui::Inspector(parent);
                          wire();
                          return inspector_.data();
                      });
}

void Inspection::reveal() {
    studio_.docks.reveal(QStringLiteral("inspector"));
}

void Inspection::wire() {
    Document& document = studio_.document;
    connect(inspector_, &ui::Inspector::attributesEdited, this, &Inspection::editComponents);
    connect(inspector_, &ui::Inspector::attributesRemoved, this,
            [this](const ComponentPaths& paths, const QString& attribute) {
                studio_.messages.report(editor_->setAttribute(paths, attribute, {}));
            });
    connect(inspector_, &ui::Inspector::addRequested, this,
            [this](const ComponentPath& parent, const std::vector<Component>& parts) {
                studio_.messages.report(editor_->add(parent, parts, {}).map([](const ComponentPaths&) {}));
            });
    connect(inspector_, &ui::Inspector::removeRequested, this,
            [this](const ComponentPaths& paths) { studio_.messages.report(editor_->remove(paths)); });
    connect(inspector_, &ui::Inspector::moveRequested, this,
            [this, &document](const ComponentPath& path, const ComponentPath& parent, int index) {
                studio_.apply(moveComponentEdit(*document.state(), document.hardwareIndex(), path, parent, index));
            });
    connect(inspector_, &ui::Inspector::turnRequested, this, &Inspection::turnRequested);
    connect(inspector_, &ui::Inspector::knobRequested, this, &Inspection::knobRequested);
    connect(inspector_, &ui::Inspector::selectRequested, this, &Inspection::showComponent);
    connect(inspector_, &ui::Inspector::workloadEdited, this,
            [this, &document](const WorkloadOptions& options, ui::EditPhase phase) {
                const int gesture = gestureOf(phase);
                if (phase == ui::EditPhase::Begin) return;
                auto edit = setWorkloadOptionsEdit(*document.state(), document.workloadIndex(), options);
                if (!studio_.apply(std::move(edit), gesture)) refresh();
            });
    connect(inspector_, &ui::Inspector::typeRequested, this, [this, &document](DType from, DType to) {
        if (const WorkloadPtr loaded = studio_.live.workload())
            studio_.apply(workInTypeEdit(*document.state(), document.workloadIndex(), *loaded, from, to));
    });
    connect(inspector_, &ui::Inspector::whatIfsEdited, this,
            [this, &document](const std::vector<WhatIf>& all, const QString& type) {
                const ProjectWorkload* workload = document.workload();
                if (!workload || workload->recipe.whatIfs == all) return;
                studio_.apply(setWhatIfsEdit(*document.state(), document.workloadIndex(), all,
                                             tr("%1: type %2").arg(ui::qs(workload->name), type)));
            });
    inspector_->setProblems(document.problems());
    refresh();
}

void Inspection::followDesign() {
    const HardwarePtr design = studio_.document.hardware();
    ui::ComponentSelection& components = studio_.components;
    if (std::exchange(freshDesign_, false)) {
        components.select({mainMemory(design)});
    } else if (design) {
        ComponentPaths there = components.paths();
        std::erase_if(there, [&](const ComponentPath& path) { return !componentAt(design->root, path); });
        if (there.size() != components.paths().size()) components.select(std::move(there));
    }
    if (shown_ == Shown::Component || shown_ == Shown::Workload) refresh();
}

void Inspection::followOperators() {
    if (studio_.selection.operators().size() == 1) {
        shown_ = Shown::Operator;
    } else if (shown_ == Shown::Operator) {
        shown_ = Shown::Component;
    } else {
        return;
    }
    refresh();
}

int Inspection::gestureOf(ui::EditPhase phase) {
    if (phase == ui::EditPhase::Begin) gesture_ = studio_.document.newGesture();
    const int gesture = gesture_;
    if (phase == ui::EditPhase::Commit) gesture_ = 0;
    return gesture;
}

void Inspection::editComponents(const ComponentPaths& paths, const QString& attribute, const QString& text,
                                ui::EditPhase phase) {
    const int gesture = gestureOf(phase);
    if (phase == ui::EditPhase::Begin || paths.empty()) return;  // Begin carries the value that is there
    Document& document = studio_.document;
    const ProjectState& state = *document.state();
    const int design = document.hardwareIndex();
    Expected<void> done;
    if (paths.size() > 1) {
        done = editor_->setAttribute(paths, attribute, text, gesture);
    } else if (attribute == QLatin1String("name")) {
        done = editor_->rename(paths.front(), text);
    } else if (attribute == QLatin1String("count") && !text.contains(QLatin1Char('x'), Qt::CaseInsensitive)) {
        bool whole = false;
        const qint64 count = text.trimmed().toLongLong(&whole);
        done = document.apply(setCountEdit(state, design, paths.front(), whole ? count : 0), gesture);
    } else if (attribute == QLatin1String("mesh")) {
        static const QRegularExpression between(QStringLiteral("[^0-9-]+"));
        std::vector<std::int64_t> mesh;
        for (const QString& part : text.split(between, Qt::SkipEmptyParts)) mesh.push_back(part.toLongLong());
        done = document.apply(setMeshEdit(state, design, paths.front(), mesh), gesture);
    } else {
        done = document.apply(setAttributeEdit(state, design, paths.front(), attribute, text), gesture);
    }
    if (!studio_.messages.report(done)) refresh();
}

void Inspection::showComponent(const ComponentPath& path) {
    studio_.components.select({path});
    showSelected();
}

void Inspection::editAttribute(const QString& id) {
    if (inspector_) inspector_->editAttribute(id);
}

void Inspection::showSelected() {
    shown_ = Shown::Component;
    refresh();
}

void Inspection::showWorkload() {
    shown_ = Shown::Workload;
    refresh();
}

void Inspection::refresh() {
    if (!inspector_) return;
    switch (shown_) {
        case Shown::Nothing:
            return inspector_->clear();
        case Shown::Component:
            return showComponents();
        case Shown::Workload: {
            const ProjectWorkload* workload = studio_.document.workload();
            if (!workload) return inspector_->clear();
            const WorkloadPtr loaded = studio_.live.workload();
            const bool current = loaded && loaded->recipe.source == workload->recipe.source;
            return inspector_->showWorkload(workload->recipe, builtinWorkload(workload->recipe.source),
                                            current ? loaded : nullptr, deviceOf(studio_.document.hardware()));
        }
        case Shown::Operator: {
            const auto& snapshot = studio_.live.snapshot();
            const auto& selected = studio_.selection.operators();
            if (!snapshot || selected.isEmpty()) return inspector_->clear();
            const int op = *selected.begin();
            const auto count = static_cast<int>(snapshot->scenario.workload->graph.operators.size());
            if (op < 0 || op >= count) return inspector_->clear();
            return inspector_->showOperator(snapshot->scenario.workload, op, snapshot->primaryEstimate());
        }
    }
}

void Inspection::showComponents() {
    const HardwarePtr design = studio_.document.hardware();
    if (!design) return inspector_->clear();
    const ui::DeviceViewPtr device = deviceOf(design);
    if (design->name != presetName_) {  // a design that keeps its preset's name can be put back to it
        presetName_ = design->name;
        Expected<LoadedHardware> preset = loadHardware(presetName_);
        inspector_->setPreset(preset ? std::make_shared<const Hardware>(std::move(preset->hardware)) : nullptr);
    }
    inspector_->showComponents(design, studio_.components.paths(), device);
}

}  // namespace orrery::app
