#include "study/study.h"

#include <algorithm>
#include <mutex>

namespace orrery {

namespace {

StudyResult cancelled(const Study& study, std::size_t pair) {
    const auto width = study.methods.size();
    return {pair / width, study.methods[pair % width], nullptr,
            fail("study.cancelled", "cancelled before it began").value()};
}

// Places of what is known, the others in order.
std::vector<std::size_t> takeKnown(const Study& study, std::span<const StudyResult> known,
                                   std::vector<StudyResult>& results) {
    std::vector<std::size_t> open;
    const auto width = study.methods.size();
    auto next = known.begin();
    for (std::size_t pair = 0; pair < results.size(); ++pair) {
        if (next != known.end() && next->scenario == pair / width && next->method == study.methods[pair % width]) {
            results[pair] = *next++;
        } else {
            open.push_back(pair);
        }
    }
    return open;
}

}  // namespace

StudyResult answerPair(const Study& study, const StudyOptions& options, std::size_t pair) {
    if (options.stop.stop_requested()) return cancelled(study, pair);
    const auto methods = options.methods.empty() ? builtinMethods() : options.methods;
    StudyResult result{pair / study.methods.size(), study.methods[pair % study.methods.size()], nullptr, std::nullopt};
    const auto choice = methodChoice(result.method, methods);
    if (!choice) {
        result.failure = choice.error();
        return result;
    }
    EstimateContext context{*options.executor, options.stop,        nullptr, study.seed, options.wantTimeline,
                            choice->options,   options.calibrations};
    const auto chosen = std::find_if(methods.begin(), methods.end(),
                                     [&](const Method& method) { return method.card.id == choice->id; });
    // What was chosen and is not in the list is another program, asked by its adapter.
    const Method* method = chosen == methods.end() ? findMethod(choice->id) : &*chosen;
    auto answer = estimate(*method, study.scenarios[result.scenario], context);
    if (answer) {
        result.estimate = std::make_shared<const Estimate>(std::move(*answer));
    } else {
        result.failure = std::move(answer.error());
    }
    return result;
}

std::vector<StudyResult> runStudy(const Study& study, const StudyOptions& options) {
    const auto pairs = study.scenarios.size() * study.methods.size();
    std::vector<StudyResult> results(pairs);
    if (options.progress) options.progress->setTotal(pairs);
    const std::vector<std::size_t> open = takeKnown(study, options.known, results);
    if (options.progress) options.progress->advance(pairs - open.size());
    const auto tell = [&](std::span<const StudyResult> came) {
        if (options.onResults) options.onResults(came);
        for (const StudyResult& each : came)
            if (options.onResult) options.onResult(each);
    };
    if (options.elsewhere) {
        for (const std::size_t pair : open) results[pair] = cancelled(study, pair);
        options.elsewhere(open, [&](std::span<StudyResult> came, std::span<const std::size_t> places) {
            tell(came);
            for (std::size_t i = 0; i < came.size(); ++i) results[places[i]] = std::move(came[i]);
            if (options.progress) options.progress->advance(came.size());
        });
        return results;
    }
    std::mutex sink;
    options.executor->forEach(open.size(), [&](std::size_t i) {
        auto& result = results[open[i]];
        result = answerPair(study, options, open[i]);
        {
            const std::lock_guard lock(sink);
            tell({&result, 1});
        }
        if (options.progress) options.progress->advance();
    });
    return results;
}

}  // namespace orrery
