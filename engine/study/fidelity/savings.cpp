#include "study/fidelity/savings.h"

#include "base/thread_clock.h"
#include "hardware/files/catalogue.h"
#include "workload/workload.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace orrery {

Expected<std::vector<SavingsCase>> budgetSavings(const std::vector<Scenario>& questions,
                                                 const SavingsOptions& options) {
    std::vector<SavingsCase> cases;
    for (const Scenario& question : questions) {
        BudgetOptions asked;
        asked.executor = options.executor;
        asked.stop = options.stop;
        asked.progress = options.progress;
        asked.methods = options.methods;
        asked.full = options.full;
        asked.clock = threadSeconds;
        const auto full = answerWithin(question, asked);
        if (!full) return Unexpected(full.error());
        if (!full->complete) return fail("study.cancelled", "the comparison was cancelled");
        const BudgetStep& last = full->steps.back();
        double once = 0, eachLaunch = 0, most = -1;
        std::string method;
        for (const BudgetAsked& each : full->asked) {
            if (!each.full) continue;
            once += each.seconds;
            eachLaunch += each.launchSeconds;
            if (each.seconds > most) most = each.seconds, method = each.method;
        }
        for (const double width : options.widths) {
            const auto half = [](const BudgetStep& s) { return (s.fullHigh - s.fullLow) / 2 / s.latency; };
            const auto found = std::find_if(full->steps.begin(), full->steps.end(),
                                            [&](const BudgetStep& step) { return half(step) <= width; });
            const BudgetStep& step = found == full->steps.end() ? last : *found;
            SavingsCase one;
            one.question = question.name();
            one.full = method;
            one.to = width;
            one.reached = half(step) <= width;
            one.kernels = full->kernels;
            one.asked = step.kernels;
            one.launches = full->launches;
            one.seconds = step.pricing;
            one.fullSeconds = once;
            one.eachSeconds = eachLaunch;
            one.error = step.latency / last.latency - 1;
            one.halfWidth = half(step);
            one.inside = step.fullLow <= last.latency * (1 + 1e-12) && last.latency <= step.fullHigh * (1 + 1e-12);
            cases.push_back(std::move(one));
        }
    }
    return cases;
}

SavingsCount differentAnswers(const std::vector<SavingsCase>& cases) {
    SavingsCount count;
    std::set<std::pair<std::string_view, std::size_t>> known;
    for (const SavingsCase& each : cases) {
        if (!known.emplace(each.question, each.asked).second) continue;
        ++count.answers;
        if (each.inside) ++count.inside;
    }
    return count;
}

Expected<std::vector<Scenario>> savingsQuestions(std::string_view hardware) {
    auto loaded = loadHardware(hardware);
    if (!loaded) return Unexpected(std::move(loaded.error()));
    const auto design = std::make_shared<const Hardware>(std::move(loaded->hardware));
    std::vector<Scenario> questions;
    for (const auto& [id, sequence] : std::vector<std::pair<std::string, std::int64_t>>{
             {"resnet-50", 0}, {"mobilenet-v2", 0}, {"bert-base", 128}, {"gpt-2", 128}, {"llama-2-7b", 128}}) {
        const WorkloadInfo* info = builtinWorkload(id);
        if (!info) return fail("workload.unknown", "there is no built-in model " + id, "a built-in model");
        WorkloadRecipe recipe{.source = id, .options = info->usual};
        if (sequence > 0) recipe.options.sequence = sequence;
        auto workload = loadWorkload(recipe);
        if (!workload) return Unexpected(std::move(workload.error()));
        questions.push_back({design, std::move(*workload)});
    }
    return questions;
}

}  // namespace orrery
