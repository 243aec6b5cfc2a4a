#include "study/study.h"

#include <algorithm>
#include <mutex>

namespace orrery {

namespace {

const Method* findIn(std::span<const Method> methods, std::string_view id) {
    const auto found = std::find_if(methods.begin(), methods.end(), [id](const Method& m) { return m.card.id == id; });
    return found == methods.end() ? nullptr : &*found;
}

Diagnostic unknownMethod(std::string_view id, std::span<const Method> methods) {
    std::string known;
    for (const auto& method : methods) known.append(known.empty() ? "" : ", ").append(method.card.id);
    return fail("method.unknown", "there is no method '" + std::string(id) + "'", "one of " + known).value();
}

}  // namespace

std::vector<StudyResult> runStudy(const Study& study, const StudyOptions& options) {
    const auto methods = options.methods.empty() ? builtinMethods() : options.methods;
    const auto perScenario = study.methods.size();
    const auto pairs = study.scenarios.size() * perScenario;
    std::vector<StudyResult> results(pairs);
    if (options.progress) options.progress->setTotal(pairs);
    std::mutex sink;
    const auto runPair = [&](std::size_t pair) {
        auto& result = results[pair];
        result.scenario = pair / perScenario;
        result.method = study.methods[pair % perScenario];
        const auto* method = findIn(methods, result.method);
        if (options.stop.stop_requested()) {
            result.failure = fail("study.cancelled", "cancelled before it began").value();
        } else if (!method) {
            result.failure = unknownMethod(result.method, methods);
        } else {
            EstimateContext context{*options.executor, options.stop, nullptr, study.seed, options.wantTimeline};
            auto answer = estimate(*method, study.scenarios[result.scenario], context);
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
