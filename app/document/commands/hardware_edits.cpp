#include "app/document/commands/project_edits.h"

#include <algorithm>

namespace orrery::app {

namespace {

Unexpected noSuch() {
    return fail("document.no-hardware", "the design is no longer in the project", "one of the project's designs");
}

bool inside(const ProjectState& state, int index) {
    return index >= 0 && index < static_cast<int>(state.hardware.size());
}

/// A design has another name: scenarios and what was derived from it follow.
void follow(ProjectState& state, const std::string& before, const std::string& name) {
    if (before == name) return;
    for (ScenarioRef& scenario : state.scenarios) {
        if (scenario.hardware == before) scenario.hardware = name;
    }
    for (HardwarePtr& design : state.hardware) {
        if (design->derivedFrom != before) continue;
        Hardware derived = *design;
        derived.derivedFrom = name;
        design = std::make_shared<const Hardware>(std::move(derived));
    }
}

}  // namespace

Expected<Edit> addHardwareEdit(const ProjectState& state, Hardware design, bool show) {
    if (design.name.empty()) design.name = "Design";
    design.name = freeHardwareName(state, design.name);
    Edit edit{state, QObject::tr("Add %1").arg(QString::fromStdString(design.name)), {}, {}, {}};
    if (edit.after.scenarios.empty()) {
        const std::string workload = state.workloads.empty() ? std::string() : state.workloads.front().name;
        edit.after.scenarios.push_back({design.name, workload});
    } else if (state.hardware.empty()) {
        // Models that came before any device waited for this one.
        for (ScenarioRef& scenario : edit.after.scenarios)
            if (scenario.hardware.empty()) scenario.hardware = design.name;
    } else if (show && state.currentWorkload() >= 0) {
        // The pair of before stays: a run covers both, which is what a second device is added for.
        const std::string workload = state.scenarios.front().workload;
        edit.after.scenarios.insert(edit.after.scenarios.begin(), {design.name, workload, {}});
    } else if (show) {
        edit.after.scenarios.front().hardware = design.name;
    }
    edit.after.placements.resize(edit.after.hardware.size());
    OpenDesign open = openDesign(std::move(design));
    edit.after.hardware.push_back(std::move(open.hardware));
    edit.after.placements.push_back(std::move(open.placements));
    return edit;
}

Expected<Edit> removeHardwareEdit(const ProjectState& state, int index) {
    if (!inside(state, index)) return noSuch();
    if (state.hardware.size() == 1) {
        return fail("document.last-hardware", "a project keeps at least one design", {},
                    "add another device first, or replace this one");
    }
    const std::string name = state.hardware[static_cast<std::size_t>(index)]->name;
    Edit edit{state, QObject::tr("Remove %1").arg(QString::fromStdString(name)), {}, {}, {}};
    edit.after.hardware.erase(edit.after.hardware.begin() + index);
    edit.after.placements.resize(state.hardware.size());
    edit.after.placements.erase(edit.after.placements.begin() + index);
    const std::string workload = state.scenarios.empty() ? std::string() : state.scenarios.front().workload;
    std::erase_if(edit.after.scenarios, [&](const ScenarioRef& scenario) { return scenario.hardware == name; });
    if (edit.after.scenarios.empty()) edit.after.scenarios.push_back({edit.after.hardware.front()->name, workload});
    return edit;
}

Expected<Edit> replaceHardwareEdit(const ProjectState& state, int index, Hardware design) {
    if (!inside(state, index)) return noSuch();
    const std::string before = state.hardware[static_cast<std::size_t>(index)]->name;
    if (design.name.empty()) design.name = before;
    if (design.name != before) design.name = freeHardwareName(state, design.name);
    const std::string name = design.name;
    const QString subject =
        QObject::tr("Replace %1 by %2").arg(QString::fromStdString(before), QString::fromStdString(name));
    Edit edit{state, subject, {}, {}, {}};
    OpenDesign open = openDesign(std::move(design));
    edit.after.hardware[static_cast<std::size_t>(index)] = std::move(open.hardware);
    edit.after.placements.resize(state.hardware.size());
    edit.after.placements[static_cast<std::size_t>(index)] = std::move(open.placements);
    follow(edit.after, before, name);
    return edit;
}

Expected<Edit> deriveHardwareEdit(const ProjectState& state, int index, const QString& name) {
    if (!inside(state, index)) return noSuch();
    Hardware design = closedDesign(state, index);
    const QString from = QString::fromStdString(design.name);
    design.derivedFrom = design.name;
    if (!name.trimmed().isEmpty()) design.name = name.trimmed().toStdString();
    Expected<Edit> edit = addHardwareEdit(state, std::move(design));
    if (edit) {
        edit->subject =
            QObject::tr("Derive %1 from %2").arg(QString::fromStdString(edit->after.hardware.back()->name), from);
    }
    return edit;
}

Expected<Edit> renameHardwareEdit(const ProjectState& state, int index, const QString& name) {
    if (!inside(state, index)) return noSuch();
    const std::string wanted = name.trimmed().toStdString();
    const std::string& before = state.hardware[static_cast<std::size_t>(index)]->name;
    if (wanted.empty()) return fail("document.name", "a design needs a name", "a short name like H100 with 96 GB");
    if (const int other = state.hardwareIndex(wanted); other >= 0 && other != index) {
        return fail("project.duplicate", "the project has another design called " + wanted,
                    "a name that no other design has");
    }
    Edit edit{state, QObject::tr("Rename design"), QString::fromStdString(before), QString::fromStdString(wanted), {}};
    Hardware design = *state.hardware[static_cast<std::size_t>(index)];
    design.name = wanted;
    edit.after.hardware[static_cast<std::size_t>(index)] = std::make_shared<const Hardware>(std::move(design));
    follow(edit.after, before, wanted);
    return edit;
}

Expected<Edit> reorderHardwareEdit(const ProjectState& state, int from, int to) {
    if (!inside(state, from) || !inside(state, to)) return noSuch();
    const QString name = QString::fromStdString(state.hardware[static_cast<std::size_t>(from)]->name);
    Edit edit{state, QObject::tr("Move design %1 to place %2").arg(name).arg(to + 1), {}, {}, {}};
    edit.after.placements.resize(state.hardware.size());
    const auto shift = [&](auto& list) {
        const auto at = list.begin() + from;
        from < to ? std::rotate(at, at + 1, list.begin() + to + 1) : std::rotate(list.begin() + to, at, at + 1);
    };
    shift(edit.after.hardware);
    shift(edit.after.placements);
    return edit;
}

}  // namespace orrery::app
