// What cards state of the cost of an answer, against the clock: an error where the worst question of a method is off by
// more than a factor of thirty, or where a method that is no live one answers sooner than one that is.

#include "evaluation/cost_measurement.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

using namespace orrery;

namespace {

constexpr double widestFactor = 30;

void BM_StatedCost(benchmark::State& state) {
    const auto& method = builtinMethods()[static_cast<std::size_t>(state.range(0))];
    state.SetLabel(std::string(method.card.id));
    const auto questions = costQuestions();
    if (!questions) return state.SkipWithError("no questions");
    for (auto _ : state) {
        const auto measured = measureCost(method, *questions);
        if (!measured || measured->samples.empty()) return state.SkipWithError("nothing was answered");
        state.counters["median_factor"] = measured->medianFactor;
        state.counters["worst_factor"] = measured->worstFactor;
        if (measured->worstFactor > widestFactor)
            return state.SkipWithError("the card is off by more than a factor of 30");
    }
}
void allMethods(benchmark::internal::Benchmark* bench) {
    for (std::size_t i = 0; i < builtinMethods().size(); ++i) bench->Arg(static_cast<std::int64_t>(i));
}
BENCHMARK(BM_StatedCost)->Apply(allMethods)->Iterations(1)->Unit(benchmark::kMillisecond);

// Live methods answer sooner than the others, as their cards say.
void BM_OrderOfCosts(benchmark::State& state) {
    auto questions = costQuestions();
    if (!questions) return state.SkipWithError("no questions");
    std::erase_if(*questions, [](const Scenario& each) { return each.name() != "ResNet-50 on Google TPU v3"; });
    if (questions->size() != 1) return state.SkipWithError("the question is asked no more");
    for (auto _ : state) {
        double live = 0, slow = HUGE_VAL;
        for (const Method& method : builtinMethods()) {
            const auto measured = measureCost(method, *questions);
            if (!measured) return state.SkipWithError(measured.error().message.c_str());
            for (const CostSample& each : measured->samples) {
                if (method.card.live) live = std::max(live, each.seconds);
                if (!method.card.live) slow = std::min(slow, each.seconds);
            }
        }
        state.counters["slowest_live_s"] = live;
        state.counters["fastest_other_s"] = slow;
        if (!(live > 0 && slow > live)) return state.SkipWithError("a live method is slower than one that is not");
    }
}
BENCHMARK(BM_OrderOfCosts)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
