// Points that a search answers in a second, and fronts of many.

#include "base/random.h"
#include "store/project/search_file.h"
#include "study/exploration/agents.h"

#include <benchmark/benchmark.h>

using namespace orrery;

namespace {

// A grid of a cheap method over 238 operators; designs are made anew, the model is kept.
void BM_SearchGrid(benchmark::State& state) {
    const auto loaded = readSearch(
        "orrery: search/1\nhardware: h100-sxm\nworkload: {source: efficientnet-b0, batch: 8}\nmethod: roofline\n"
        "knobs:\n  hbm3.bandwidth: {from: 1 TB/s, to: 8 TB/s, steps: 20, scale: log}\n"
        "  sm.count: {from: 20, to: 219, steps: 200}\nobjectives: [time, energy]\n");
    if (!loaded) return state.SkipWithError(toText(loaded.error()).c_str());
    const auto executor = makeDefaultExecutor(static_cast<int>(state.range(0)));
    std::size_t points = 0;
    for (auto _ : state) {
        SearchOptions options{.executor = executor.get()};
        points += runSearch(loaded->problem, **searchAgent("grid"), options).size();
    }
    state.counters["points/s"] = benchmark::Counter(static_cast<double>(points), benchmark::Counter::kIsRate);
}
BENCHMARK(BM_SearchGrid)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void BM_FrontOf(benchmark::State& state) {
    RandomStream random(1);
    Costs costs{2, {}, {}, {}};
    for (std::int64_t i = 0; i < 2 * state.range(0); ++i) {
        costs.value.push_back(1 + random.uniform());
        costs.low.push_back(costs.value.back() * 0.95);
        costs.high.push_back(costs.value.back() * 1.05);
    }
    for (auto _ : state) benchmark::DoNotOptimize(frontOf(costs));
}
BENCHMARK(BM_FrontOf)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
