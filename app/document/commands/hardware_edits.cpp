#include "app/document/commands/project_edits.h"

namespace orrery::app {

namespace {

Unexpected noSuch() {
    return fail("document.no-hardware", "the design is no longer in the project", "one of the project's designs");
}

bool inside(const ProjectState& state, int index) {
    return index >= 0 && index < static_cast<int>(state.hardware.size());
}

}  // namespace

Expected<Edit> addHardwareEdit(const ProjectState& state, Hardware design, bool show) {
    if (design.name.empty()) design.name = "Design";
    design.name = freeHardwareName(state, design.name);
    Edit edit{state, QObject::tr("Add %1").arg(QString::fromStdString(design.name)), {}, {}, {}};
    if (edit.after.scenarios.empty()) {
        const std::string workload = state.workloads.empty() ? std::string() : state.workloads.front().name;
        edit.after.scenarios.push_back({design.name, workload});
    } else if (show && state.currentWorkload() >= 0) {
        // The pair of before stays: a run covers both, which is what a second device is added for.
        const std::string workload = state.scenarios.front().workload;
        edit.after.scenarios.insert(edit.after.scenarios.begin(), {design.name, workload, {}});
    } else if (show) {
        edit.after.scenarios.front().hardware = design.name;
    }
    edit.after.hardware.push_back(std::make_shared<const Hardware>(std::move(design)));
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
    edit.after.hardware[static_cast<std::size_t>(index)] = std::make_shared<const Hardware>(std::move(design));
    for (ScenarioRef& scenario : edit.after.scenarios) {
        if (scenario.hardware == before) scenario.hardware = name;
    }
    return edit;
}

}  // namespace orrery::app
