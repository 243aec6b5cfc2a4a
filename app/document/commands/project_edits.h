#pragma once

// Edits of what the project is made of: designs, workloads, methods, and which pair the live views show.

#include "app/document/commands/edit.h"

namespace orrery::app {

/// Adds a design under a free name. `show`: it stands in a new current scenario; the others stay.
Expected<Edit> addHardwareEdit(const ProjectState& state, Hardware design, bool show = true);
/// Fails for the last design. Scenarios that name it go with it.
Expected<Edit> removeHardwareEdit(const ProjectState& state, int index);
/// The design's content; keeps the scenario on it (its name may change).
Expected<Edit> replaceHardwareEdit(const ProjectState& state, int index, Hardware design);
/// A copy to be changed, under this or a free name, that remembers what it is derived from; shown as in
/// addHardwareEdit.
Expected<Edit> deriveHardwareEdit(const ProjectState& state, int index, const QString& name = {});
/// Scenarios and what was derived from it follow. Fails if another design has the name.
Expected<Edit> renameHardwareEdit(const ProjectState& state, int index, const QString& name);
/// Puts a design at another place among the designs; which one is shown stays.
Expected<Edit> reorderHardwareEdit(const ProjectState& state, int from, int to);

Expected<Edit> addWorkloadEdit(const ProjectState& state, ProjectWorkload workload, bool show = true);
Expected<Edit> removeWorkloadEdit(const ProjectState& state, int index);
Expected<Edit> replaceWorkloadEdit(const ProjectState& state, int index, ProjectWorkload workload);
/// Changes to the loaded graph (fused, retyped, reshaped operators), named by `words`.
Expected<Edit> setWhatIfsEdit(const ProjectState& state, int index, std::vector<WhatIf> whatIfs, const QString& words);
Expected<Edit> setWorkloadOptionsEdit(const ProjectState& state, int index, const WorkloadOptions& options);

Expected<Edit> setMethodsEdit(const ProjectState& state, std::vector<std::string> methods);
/// Puts the pair first among the scenarios, adding it if it is new.
Expected<Edit> chooseScenarioEdit(const ProjectState& state, const ScenarioRef& scenario);
/// Shows a question and the methods that answer it, as one step. A design or workload that the project has already is
/// not added again.
Expected<Edit> askQuestionEdit(const ProjectState& state, const Scenario& question, std::vector<std::string> methods,
                               const QString& words);
/// Of the scenario that is shown. Fails where there is none; a plan as checkPlan().
Expected<Edit> setPlanEdit(const ProjectState& state, const Plan& plan);
/// Dollars that an hour of a device costs, by the name of its kind; the empty name: of all that have none of their own.
/// Fails for a price below 0 or from a million on.
Expected<Edit> setPriceEdit(const ProjectState& state, const std::string& kind, double dollars);
/// `pass`, `training-step`, … , `serving-run` (the project's own). Fails as taskOf().
Expected<Edit> setTaskEdit(const ProjectState& state, const std::string& task);
/// Whose kernels they are and what its host does, as parseSoftware() reads it; empty: not said. Fails like it.
Expected<Edit> setSoftwareEdit(const ProjectState& state, const std::string& software);
Expected<Edit> renameProjectEdit(const ProjectState& state, const QString& name);

}  // namespace orrery::app
