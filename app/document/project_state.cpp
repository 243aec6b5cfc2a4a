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

ui::PlacementsPtr ProjectState::placementsOf(int design) const {
    static const auto none = std::make_shared<const ui::Placements>();
    if (design < 0 || design >= static_cast<int>(placements.size())) return none;
    const ui::PlacementsPtr& found = placements[static_cast<std::size_t>(design)];
    return found ? found : none;
}

void ProjectState::setPlacements(int design, ui::Placements next) {
    if (*placementsOf(design) == next) return;
    placements.resize(hardware.size());
    placements[static_cast<std::size_t>(design)] = std::make_shared<const ui::Placements>(std::move(next));
}

OpenDesign openDesign(Hardware design) {
    ui::PlacementsPtr placements;
    if (!design.layoutYaml.empty()) {
        placements = std::make_shared<const ui::Placements>(ui::readPlacements(design.layoutYaml));
        design.layoutYaml.clear();
    }
    return {std::make_shared<const Hardware>(std::move(design)), std::move(placements)};
}

Hardware closedDesign(const ProjectState& state, int design) {
    Hardware closed = *state.hardware[static_cast<std::size_t>(design)];
    closed.layoutYaml = ui::writePlacements(*state.placementsOf(design));
    return closed;
}

ProjectState toState(Project project) {
    ProjectState state;
    state.name = std::move(project.name);
    state.description = std::move(project.description);
    state.hardware.reserve(project.hardware.size());
    state.placements.reserve(project.hardware.size());
    for (Hardware& design : project.hardware) {
        OpenDesign open = openDesign(std::move(design));
        state.hardware.push_back(std::move(open.hardware));
        state.placements.push_back(std::move(open.placements));
    }
    state.workloads = std::move(project.workloads);
    state.scenarios = std::move(project.scenarios);
    state.prices = std::move(project.prices);
    state.methods = std::move(project.methods);
    state.serving = std::move(project.serving);
    state.search = std::move(project.search);
    state.unknown = std::move(project.unknown);
    return state;
}

Project toProject(const ProjectState& state) {
    Project project;
    project.name = state.name;
    project.description = state.description;
    project.hardware.reserve(state.hardware.size());
    for (int i = 0; i < static_cast<int>(state.hardware.size()); ++i) {
        project.hardware.push_back(closedDesign(state, i));
    }
    project.workloads = state.workloads;
    project.scenarios = state.scenarios;
    project.prices = state.prices;
    project.methods = state.methods;
    project.serving = state.serving;
    project.search = state.search;
    project.unknown = state.unknown;
    return project;
}

bool sameContent(const ProjectState& a, const ProjectState& b) {
    if (a.hardware.size() != b.hardware.size()) return false;
    for (int i = 0; i < static_cast<int>(a.hardware.size()); ++i) {
        const HardwarePtr &one = a.hardware[static_cast<std::size_t>(i)],
                          &other = b.hardware[static_cast<std::size_t>(i)];
        const ui::PlacementsPtr places = a.placementsOf(i), others = b.placementsOf(i);
        if (one != other && !(*one == *other)) return false;
        if (places != others && !(*places == *others)) return false;
    }
    return a.name == b.name && a.description == b.description && a.workloads == b.workloads &&
           a.scenarios == b.scenarios && a.prices == b.prices && a.methods == b.methods && a.serving == b.serving && a.search == b.search &&
           a.unknown == b.unknown;
}

std::string freeHardwareName(const ProjectState& state, const std::string& name) {
    return freeName(name, [&](const std::string& candidate) { return state.hardwareIndex(candidate) >= 0; });
}

std::string freeWorkloadName(const ProjectState& state, const std::string& name) {
    return freeName(name, [&](const std::string& candidate) { return state.workloadIndex(candidate) >= 0; });
}

}  // namespace orrery::app
