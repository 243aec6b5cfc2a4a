#include "app/window/compare/compare_run.h"

namespace orrery::app {

Expected<CompareViewPtr> compareNow(const CompareQuestion& question, WorkloadCache& cache,
                                    const CalibrationSet* calibrations, std::stop_token stop, Progress& progress) {
    std::vector<ComparedCase> cases;
    for (const CaseQuestion& each : question.cases) {
        auto workload = cache.get(each.recipe);
        if (!workload) return Unexpected(workload.error());
        Scenario scenario{each.hardware, std::move(*workload), each.plan, each.task, each.software};
        const auto hour = deviceHourOf(question.prices, scenario);
        cases.push_back({each.name, std::move(scenario), hour});
        if (stop.stop_requested()) return fail("study.cancelled", "cancelled");
    }
    const auto executor = makeDefaultExecutor();
    auto compared =
        compareCases(std::move(cases), question.baseline, question.methods,
                     {.executor = executor.get(), .stop = stop, .progress = &progress, .calibrations = calibrations});
    if (!compared) return Unexpected(compared.error());
    auto view = std::make_shared<CompareView>();
    view->question = question;
    view->comparison = std::move(*compared);
    const CaseComparison& all = view->comparison;
    view->differences.resize(all.cases.size());
    for (std::size_t i = 0; i < all.cases.size(); ++i) {
        if (i == all.baseline || !all.base().estimate || !all.cases[i].estimate) continue;
        for (std::size_t by = 0; by < view->differences[i].size(); ++by) {
            auto difference =
                timeDifference(all.base(), all.cases[i], static_cast<DifferenceBy>(by), mostWaterfallTerms);
            if (difference) view->differences[i][by] = std::move(*difference);
        }
    }
    return CompareViewPtr(std::move(view));
}

}  // namespace orrery::app
