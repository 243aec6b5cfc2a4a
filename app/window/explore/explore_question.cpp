#include "app/window/explore/explore_question.h"

#include "store/project/study_file.h"
#include "widgets/common/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::app {

ExploreQuestion exploreQuestion(const Document& document) {
    ExploreQuestion asked;
    const ProjectState& state = *document.state();
    if (state.search) asked.settings = *state.search;
    asked.hardware = document.hardware();
    if (!asked.hardware || state.scenarios.empty()) {
        asked.lacks = Diagnostic{
            Severity::Note, "explore.hardware", "No design is open", {}, "choose a device in the library", {}};
        return asked;
    }
    asked.design = QString::fromStdString(asked.hardware->name);
    const ProjectWorkload* workload = document.workload();
    if (!workload) {
        asked.lacks =
            Diagnostic{Severity::Note, "explore.workload", "No model is chosen", {}, "choose one in the library", {}};
        return asked;
    }
    asked.model = QString::fromStdString(workload->name);
    asked.recipe = workload->recipe;
    const ScenarioRef& shown = state.scenarios.front();
    asked.plan = shown.plan;
    asked.software = shown.software;
    auto task = taskOf(shown, state.serving);
    if (!task) {
        asked.lacks = task.error();
        return asked;
    }
    asked.task = std::move(*task);
    return asked;
}

std::vector<LimitOffer> limitOffers(const Scenario& asked, const Estimate* answer, double deviceHour) {
    std::vector<LimitOffer> offers{{"fits", {}}};
    if (kindOf(asked.task) == TaskKind::ServingRun) offers.push_back({"slo", {}});
    if (!answer) return offers;
    const auto drawn = areaOf(*asked.hardware);
    const Circumstances circumstances{deviceHour, drawn ? &*drawn : nullptr};
    const auto offer = [&](const std::string& quantity, bool atLeast) {
        const auto found = quantityOf(asked, *answer, quantity, circumstances);
        if (!found || !(found->value > 0)) return;
        const Dimension dimension = dimensionOf(*answer, quantity);
        std::string value = dimension == Dimension::Number || dimension == Dimension::Count
                                ? fmt::format("{:.4g}", found->value)
                                : formatMeasure(found->value, dimension, 4);
        std::string text = quantity + (atLeast ? " >= " : " <= ") + value;
        if (readConstraint(text)) offers.push_back({std::move(text), std::move(value)});
    };
    for (const QuantityInfo& each : searchQuantities())
        if (each.name != "capacity") offer(std::string(each.name), false);  // that takes runs of its own
    for (const Figure& each : answer->figures) {
        offer(each.label, false);
        offer(each.label, true);
    }
    return offers;
}

void startSearch(SearchSettings& settings, const Hardware& hardware, const ui::Snapshot* shown) {
    const Estimate* primary = shown ? shown->primaryEstimate() : nullptr;
    if (settings.objectives.size() < 2) {
        settings.objectives = {"time"};
        // What a gain costs: silicon where the parts say their process, else energy.
        if (areaOf(hardware))
            settings.objectives.emplace_back("area");
        else if (primary && primary->energy)
            settings.objectives.emplace_back("energy");
    }
    if (!primary) return;
    const bool refused = std::ranges::any_of(shown->answers, [&](const ui::Answer& each) {
        return each.failure && !each.notAsked() && each.method == ui::qs(settings.method);
    });
    if (refused) settings.method = primary->method;
}

Scenario scenarioOf(const ExploreQuestion& question, WorkloadPtr workload) {
    return {question.hardware, std::move(workload), question.plan, question.task, question.software};
}

}  // namespace orrery::app
