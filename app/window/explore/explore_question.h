#pragma once

// What the page asks, read from the document.

#include "app/document/document.h"
#include "study/exploration/search_settings.h"

namespace orrery::app {

struct ExploreQuestion {
    HardwarePtr hardware;  ///< null: nothing is drawn
    QString design, model;
    std::optional<WorkloadRecipe> recipe;  ///< none: no model is chosen
    Plan plan;
    Software software;
    Task task = Pass{};
    SearchSettings settings;          ///< empty ones where the project has none
    std::optional<Diagnostic> lacks;  ///< why nothing can be asked
};
ExploreQuestion exploreQuestion(const Document& document);
/// Of the whole question; the workload has been loaded.
Scenario scenarioOf(const ExploreQuestion& question, WorkloadPtr workload);

}  // namespace orrery::app
