#include "app/window/explore/beside_facts.h"

#include "app/window/explore/explore_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>

namespace orrery::app {

QString besideText(const SearchProblem& problem, std::uint64_t point, const CalibrationSet* calibrations,
                   const std::stop_token& stop) {
    constexpr std::array<const char*, 4> wanted{"time", "power", "energy", "memory"};
    if (problem.source) return {};
    const auto scenario = problem.space.scenarioAt(point);
    const auto choice = methodChoice(problem.method, builtinMethods()).and_then([&](MethodChoice asked) {
        return problem.space.methodAt(point, std::move(asked));
    });
    if (!scenario || !choice) return {};
    const auto executor = makeSerialExecutor();
    EstimateContext context{.executor = *executor,
                            .stop = stop,
                            .seed = problem.seed,
                            .wantTimeline = false,
                            .options = choice->options,
                            .calibrations = calibrations};
    const auto answer = estimate(*findMethod(choice->id), *scenario, context);
    if (!answer) return {};
    QString text;
    for (const char* name : wanted) {
        if (std::ranges::any_of(problem.objectives, [&](const Objective& each) { return each.quantity == name; }))
            continue;
        const auto found = quantityOf(*scenario, *answer, name, problem.circumstances());
        if (!found) continue;
        text += QStringLiteral(" · %1 %2")
                    .arg(objectiveText(name), valueText(found->value, dimensionOf(*answer, name), name));
        if (!found->sure()) text += QCoreApplication::translate("ExploreText", " (no interval is known)");
    }
    return text;
}

}  // namespace orrery::app
