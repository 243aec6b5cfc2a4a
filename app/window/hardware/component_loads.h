#pragma once

// Which component of the design limits each operator, from the live answer: what ties the canvas to the other views.

#include "hardware/edit/tree_edit.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/common/snapshot.h"

#include <QSet>

#include <optional>
#include <vector>

namespace orrery::app {

/// One per operator of the primary answer; nothing where launch overhead or nothing limits, or where the design has no
/// component of that name. Memory levels are found by their path in the device, compute limits go to the unit that the
/// operator runs on (tensor unit or array for matrix products, vector unit else), network limits to the design's first
/// network.
std::vector<std::optional<ComponentPath>> limiters(const ui::Snapshot& snapshot);

/// The share of the primary answer's time that each limits, largest first; empty without an answer.
std::vector<ui::ComponentLoad> componentLoads(const ui::Snapshot& snapshot);
/// How much longer (vermilion) or shorter (blue) each limits than in another answer, called `name`, largest first.
/// Parts are matched by the names on their way, else with the first of their kind. `share` is of the larger of both
/// times.
std::vector<ui::ComponentLoad> loadsAgainst(const ui::Snapshot& before, const ui::Snapshot& now, const QString& name);
/// Components that no shown answer read, with nothing inside that was read: their numbers change no answer. Empty
/// where no answer says what it read.
std::vector<ComponentPath> ignoredComponents(const ui::Snapshot& snapshot);
/// Operators that the component, or one inside it, limits.
QSet<int> operatorsLimitedBy(const ui::Snapshot& snapshot, const ComponentPath& component);
/// Without double entries.
ComponentPaths componentsLimiting(const ui::Snapshot& snapshot, const QSet<int>& operators);

}  // namespace orrery::app
