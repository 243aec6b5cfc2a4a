#pragma once

// Edits of what is compared: the scenarios of the project are the cases, the first is the question of the window, one
// of the others may be the baseline.

#include "app/document/commands/edit.h"
#include "hardware/component.h"
#include "store/project/scenario_baseline.h"

namespace orrery::app {

/// The question as it stands becomes a case of its own: a copy of its design and its workload under free names, so that
/// later edits leave it alone, with the plan and the task. What a case keeps already is not copied again. The first one
/// kept is the baseline. Fails where nothing is asked, and where the same question is kept already.
Expected<Edit> keepCaseEdit(const ProjectState& state);
/// A design beside the question of the window, with the same workload, plan and task; the question stays.
Expected<Edit> addCaseEdit(const ProjectState& state, Hardware design);
/// A design of the project beside the question of the window.
Expected<Edit> addCaseOfDesignEdit(const ProjectState& state, int design);
/// `scenario`: its place among the scenarios. Designs and workloads stay. Fails for the question of the window.
Expected<Edit> removeCaseEdit(const ProjectState& state, int scenario);
/// The others are held against it. The same again: against none.
Expected<Edit> pinCaseEdit(const ProjectState& state, int scenario);
/// A break-even of a case with the baseline stays in the project; nothing: no longer.
Expected<Edit> keepBreakEvenEdit(const ProjectState& state, int scenario, std::optional<KeptBreakEven> kept);
/// Makes it the question of the window.
Expected<Edit> openCaseEdit(const ProjectState& state, int scenario);

}  // namespace orrery::app
