// Targets of one thread: a plan in closed form in 20 µs once its shard is priced, 50,000 plans a second searched.

#include "hardware/files/catalogue.h"
#include "study/planning/plan_search.h"

#include <benchmark/benchmark.h>

using namespace orrery;

namespace {

Scenario trainingOf(const char* preset, const char* model, std::int64_t batch, std::int64_t sequence) {
    WorkloadRecipe recipe;
    recipe.source = model;
    recipe.options.batch = batch;
    recipe.options.sequence = sequence;
    recipe.options.phase = Phase::TrainingForward;
    return {
        std::make_shared<const Hardware>(loadHardware(preset)->hardware), *loadWorkload(recipe), {}, TrainingStep{}};
}

void BM_ClosedFormPlan(benchmark::State& state, const char* text) {
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    const auto model =
        StepModel::make(*findMethod("tile-hybrid"), trainingOf("dgx-a100-superpod", "gpt-3-175b", 1536, 2048), context);
    const StepPlan plan{*parsePlan(text), Recompute::Selective};
    if (!(*model)->figures(plan)) return state.SkipWithError("the plan is refused");
    for (auto _ : state) benchmark::DoNotOptimize((*model)->figures(plan));
    state.counters["plans/s"] =
        benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(BM_ClosedFormPlan, one_stage, "tp=8,dp=64,mb=24,zero=1,sp=1")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_ClosedFormPlan, interleaved, "tp=8,pp=8,dp=16,vp=3,mb=96,zero=1,sp=1")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_ClosedFormPlan, divided, "tp=4,pp=4,dp=64,mb=24,zero=3,sp=1")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_ClosedFormPlan, deep, "tp=8,pp=96,mb=1536")->Unit(benchmark::kMicrosecond);

// Every plan priced, shards included.
void BM_PlanSearch(benchmark::State& state) {
    PlanSearchRequest request;
    request.scenario = trainingOf("dgx-h100-superpod", "llama-3-70b", 1024, 4096);
    request.rerun = 0;
    request.prune = false;
    const auto executor =
        state.range(0) == 1 ? makeSerialExecutor() : makeDefaultExecutor(static_cast<int>(state.range(0)));
    double plans = 0;
    for (auto _ : state) {
        const auto result = searchPlans(request, {*executor});
        if (!result) return state.SkipWithError(result.error().message.c_str());
        plans += static_cast<double>(result->priced);
    }
    state.counters["plans/s"] = benchmark::Counter(plans, benchmark::Counter::kIsRate);
}
BENCHMARK(BM_PlanSearch)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
