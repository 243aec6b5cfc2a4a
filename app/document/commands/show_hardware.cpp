#include "app/document/commands/show_hardware.h"

#include "app/document/commands/project_edits.h"

namespace orrery::app {

namespace {

bool inside(const ProjectState& state, int index) {
    return index >= 0 && index < static_cast<int>(state.hardware.size());
}

Unexpected noSuch() {
    return fail("document.no-hardware", "the design is no longer in the project", "one of the project's designs");
}

}  // namespace

Expected<Edit> showHardwareEdit(const ProjectState& state, int index) {
    if (!inside(state, index)) return noSuch();
    const std::string& name = state.hardware[static_cast<std::size_t>(index)]->name;
    if (state.currentWorkload() >= 0) return chooseScenarioEdit(state, {name, state.scenarios.front().workload, {}});
    Edit edit{state, QObject::tr("Show %1").arg(QString::fromStdString(name)), {}, {}, {}};
    if (edit.after.scenarios.empty()) edit.after.scenarios.push_back({name, {}, {}});
    edit.after.scenarios.front().hardware = name;
    return edit;
}

}  // namespace orrery::app
