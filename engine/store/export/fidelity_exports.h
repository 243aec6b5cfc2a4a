#pragma once

// Ladders, budgets and advice as JSON.

#include "study/fidelity/advice.h"
#include "study/fidelity/budget.h"
#include "study/fidelity/ladder_answer.h"

#include <string>

namespace orrery {

/// `orrery-fidelity` version 1, see resources/schema/fidelity.schema.json.
std::string ladderJson(const Scenario& scenario, const LadderAnswer& ladder);
std::string budgetJson(const Scenario& scenario, const BudgetAnswer& answer);
/// `orrery-advice` version 1, see resources/schema/advice.schema.json.
std::string adviceJson(const Scenario& scenario, const AdviceAnswer& answer);

}  // namespace orrery
