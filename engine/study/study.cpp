#include "study/study.h"

#include <algorithm>
#include <mutex>

namespace orrery {

std::vector<StudyResult> runStudy(const Study& study, const StudyOptions& options) {
    const auto methods = options.methods.empty() ? builtinMethods() : options.methods;
    const auto perScenario = study.methods.size();
    const auto pairs = study.scenarios.size() * perScenario;
    std::vector<StudyResult> results(pairs);
    if (options.progress) options.progress->setTotal(pairs);
    std::vector<Expected<MethodChoice>> choices;
    for (const auto& text : study.methods) choices.push_back(methodChoice(text, methods));
    std::mutex sink;
    const auto runPair = [&](std::size_t pair) {
        auto& result = results[pair];
        result.scenario = pair / perScenario;
        result.method = study.methods[pair % perScenario];
        const auto& choice = choices[pair % perScenario];
        if (options.stop.stop_requested()) {
            result.failure = fail("study.cancelled", "cancelled before it began").value();
        } else if (!choice) {
            result.failure = choice.error();
        } else {
            EstimateContext context{*options.executor, options.stop,         nullptr,
                                    study.seed,        options.wantTimeline, choice->options,
                                    options.calibrations};
            const auto chosen = std::find_if(methods.begin(), methods.end(),
                                             [&](const Method& method) { return method.card.id == choice->id; });
            auto answer = estimate(*chosen, study.scenarios[result.scenario], context);
            if (answer) {
                result.estimate = std::make_shared<const Estimate>(std::move(*answer));
            } else {
                result.failure = std::move(answer.error());
            }
        }
        if (options.onResult) {
            const std::lock_guard lock(sink);
            options.onResult(result);
        }
        if (options.progress) options.progress->advance();
    };
    options.executor->forEach(pairs, runPair);
    return results;
}

}  // namespace orrery
