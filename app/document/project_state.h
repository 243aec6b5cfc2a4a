#pragma once

// The open project as an immutable value. Designs are shared between states, so that a state costs a few pointers, an
// edit copies one design, and undo is going back to the state of before: exactly, not approximately.

#include "methods/method.h"
#include "store/project/project.h"
#include "widgets/canvas/placements.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::app {

struct ProjectState {
    std::string name;
    std::string description;
    std::vector<HardwarePtr> hardware;  ///< never null; names are unique; layoutYaml is empty, see placements
    /// Where a person has put the components of each design, in the order of `hardware`; null: nowhere yet.
    std::vector<ui::PlacementsPtr> placements;
    std::vector<ProjectWorkload> workloads;
    std::vector<ScenarioRef> scenarios;    ///< the first is what the live views show
    std::map<std::string, double> prices;  ///< of a device's hour, as Project has them
    std::vector<std::string> methods;
    std::optional<ServingStudy> serving;  ///< what the serving page asks; none: it was never asked
    std::optional<SearchSettings> search;  ///< designs to be tried; none: the page was never used
    std::vector<UnknownKey> unknown;

    /// Index by name, -1 if there is none.
    int hardwareIndex(std::string_view name) const;
    int workloadIndex(std::string_view name) const;
    /// Of the current scenario; -1 if the project has none or it names something that is not there.
    int currentHardware() const;
    int currentWorkload() const;
    /// Of a design by index; never null.
    ui::PlacementsPtr placementsOf(int design) const;
    /// Keeps the present ones where they are equal.
    void setPlacements(int design, ui::Placements placements);
};
using ProjectStatePtr = std::shared_ptr<const ProjectState>;

/// A design as a state holds it: the canvas's lines taken out of it.
struct OpenDesign {
    HardwarePtr hardware;
    ui::PlacementsPtr placements;
};
OpenDesign openDesign(Hardware design);
/// As a file holds it, its layout in it again.
Hardware closedDesign(const ProjectState& state, int design);

ProjectState toState(Project project);
Project toProject(const ProjectState& state);

/// Equal in every value, whether or not designs are shared.
bool sameContent(const ProjectState& a, const ProjectState& b);

/// `name`, or `name 2`, `name 3` … whichever is free.
std::string freeHardwareName(const ProjectState& state, const std::string& name);
std::string freeWorkloadName(const ProjectState& state, const std::string& name);

}  // namespace orrery::app
