#pragma once

// What the page asks, read from the document.

#include "app/document/document.h"
#include "study/exploration/search_settings.h"
#include "widgets/common/snapshot.h"

#include <string>
#include <vector>

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
/// A constraint that may be added: `power <= 700 W`.
struct LimitOffer {
    std::string text;
    std::string value;  ///< its limit: what the question has now; empty of `fits` and `slo`
};
/// Of an answer to the current question; those that need no answer where it is null.
std::vector<LimitOffer> limitOffers(const Scenario& asked, const Estimate* answer, double deviceHour);
ExploreQuestion exploreQuestion(const Document& document);
/// What a first knob brings: aims that the drawing answers (silicon where it says in which process, else energy), and,
/// where the search's method refuses this question, the method whose answer is shown. `shown`: null where there is
/// none.
void startSearch(SearchSettings& settings, const Hardware& hardware, const ui::Snapshot* shown);
/// Of the whole question; the workload has been loaded.
Scenario scenarioOf(const ExploreQuestion& question, WorkloadPtr workload);

}  // namespace orrery::app
