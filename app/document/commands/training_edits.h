#pragma once

// The question of the training page: the plan and the step of the scenario that is shown, and a first question from a
// model and a cluster.

#include "app/document/commands/edit.h"

#include <optional>

namespace orrery::app {

/// Plan and task of the scenario that is shown, as one step of the undo list, named by what a person has changed:
/// `Tensor parallelism 4 → 8`, also where copies and micro-batches follow. Edits of the same thing in one gesture
/// merge. Fails as setPlanEdit() and setTaskEdit().
Expected<Edit> setTrainingEdit(const ProjectState& state, const Plan& plan, const std::string& task);

/// What a first question about training is made of. What the project has already is found by its name.
struct TrainingStart {
    std::optional<Hardware> hardware;         ///< to be added
    std::string hardwareName;                 ///< else of this design
    std::optional<ProjectWorkload> workload;  ///< to be added
    std::string workloadName;                 ///< else of this workload
    std::optional<WorkloadOptions> options;   ///< of the workload from now on
    Plan plan;
    std::string task = "training-step";
    std::vector<std::string> methods;  ///< if the project has none
};
/// Adds what is missing and asks about it, as one step. Fails as the edits that it is made of.
Expected<Edit> startTrainingEdit(const ProjectState& state, const TrainingStart& start);

}  // namespace orrery::app
