#include "app/document/project_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace orrery::app {

namespace {

template <class IsTaken>
std::string freeName(const std::string& name, const IsTaken& isTaken) {
    if (!isTaken(name)) return name;
    for (int number = 2;; ++number) {
        std::string candidate = fmt::format("{} {}", name, number);
        if (!isTaken(candidate)) return candidate;
    }
}

}  // namespace

int ProjectState::hardwareIndex(std::string_view wanted) const {
    const auto at = std::ranges::find_if(hardware, [&](const HardwarePtr& design) { return design->name == wanted; });
    return at == hardware.end() ? -1 : static_cast<int>(at - hardware.begin());
}

int ProjectState::workloadIndex(std::string_view wanted) const {
    const auto at = std::ranges::find(workloads, wanted, &ProjectWorkload::name);
    return at == workloads.end() ? -1 : static_cast<int>(at - workloads.begin());
}

int ProjectState::currentHardware() const {
    return scenarios.empty() ? -1 : hardwareIndex(scenarios.front().hardware);
}

int ProjectState::currentWorkload() const {
    return scenarios.empty() ? -1 : workloadIndex(scenarios.front().workload);
}

ProjectState toState(Project project) {
    ProjectState state;
    state.name = std::move(project.name);
    state.description = std::move(project.description);
    state.hardware.reserve(project.hardware.size());
    for (Hardware& design : project.hardware) {
        state.hardware.push_back(std::make_shared<const Hardware>(std::move(design)));
    }
    state.workloads = std::move(project.workloads);
    state.scenarios = std::move(project.scenarios);
    state.methods = std::move(project.methods);
    state.unknown = std::move(project.unknown);
    return state;
}

Project toProject(const ProjectState& state) {
    Project project;
    project.name = state.name;
    project.description = state.description;
    for (const HardwarePtr& design : state.hardware) project.hardware.push_back(*design);
    project.workloads = state.workloads;
    project.scenarios = state.scenarios;
    project.methods = state.methods;
    project.unknown = state.unknown;
    return project;
}

bool sameContent(const ProjectState& a, const ProjectState& b) {
    const auto same = [](const HardwarePtr& one, const HardwarePtr& other) { return one == other || *one == *other; };
    return a.name == b.name && a.description == b.description && a.workloads == b.workloads &&
           a.scenarios == b.scenarios && a.methods == b.methods && a.unknown == b.unknown &&
           std::ranges::equal(a.hardware, b.hardware, same);
}

std::string freeHardwareName(const ProjectState& state, const std::string& name) {
    return freeName(name, [&](const std::string& candidate) { return state.hardwareIndex(candidate) >= 0; });
}

std::string freeWorkloadName(const ProjectState& state, const std::string& name) {
    return freeName(name, [&](const std::string& candidate) { return state.workloadIndex(candidate) >= 0; });
}

}  // namespace orrery::app
