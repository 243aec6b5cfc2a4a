#pragma once

// Edits of what a search turns and wants, and of the question when a point that was found is used.

#include "app/document/commands/edit.h"
#include "study/exploration/search_settings.h"

namespace orrery::app {

Expected<Edit> setSearchEdit(const ProjectState& state, const SearchSettings& settings, const QString& words);
/// A question of its own with its search, named: its design and model are added and asked for, with its plan, task,
/// software and serving run. One step of the undo list.
Expected<Edit> openSearchEdit(const ProjectState& state, const Scenario& base, const SearchSettings& settings,
                              const QString& name);
/// What was learned (`surrogate(file=…)`) answers the search, and stands among the methods of the project. One step of
/// the undo list.
Expected<Edit> useLearnedEdit(const ProjectState& state, const std::string& method);
/// The design, the workload, the plan, the serving run, the software and the method of the search, with these values
/// set: one step of the undo list.
/// `knobs` and `values` go together.
Expected<Edit> usePointEdit(const ProjectState& state, std::span<const Knob> knobs,
                            std::span<const std::string> values);

}  // namespace orrery::app
