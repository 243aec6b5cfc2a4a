// What a whole model costs to price with calibrated kernel methods, and one kernel.

#include "hardware/files/catalogue.h"
#include "methods/kernel_method.h"
#include "methods/method.h"
#include "methods/model/compose.h"
#include "workload/workload.h"

#include <benchmark/benchmark.h>

using namespace orrery;

namespace {

HardwarePtr gpu() {
    auto loaded = loadHardware("h100-sxm");
    return loaded ? std::make_shared<const Hardware>(std::move(loaded->hardware)) : nullptr;
}

WorkloadPtr gpt3(Phase phase) {
    WorkloadOptions options;
    options.phase = phase;
    options.weights = options.activations = options.kv = DType::BF16;
    auto workload = loadWorkload({"gpt-3-175b", options});
    return workload ? *workload : nullptr;
}

const KernelMethod* methodAt(std::int64_t i) {
    const auto all = kernelMethods();
    return static_cast<std::size_t>(i) < all.size() ? &all[static_cast<std::size_t>(i)] : nullptr;
}

// The whole estimate of GPT-3 175B, as the studio asks for it on every edit: ≤ 1 ms.
void BM_Gpt3Estimate(benchmark::State& state) {
    const KernelMethod* kernels = methodAt(state.range(0));
    const auto hardware = gpu();
    const auto workload = gpt3(static_cast<Phase>(state.range(1)));
    const Method* method = kernels ? findMethod(kernels->id) : nullptr;
    if (method && asksForFile(method->card)) return state.SkipWithError("needs a recording");
    if (!method || !hardware || !workload) return state.SkipWithError("nothing to ask");
    state.SetLabel(std::string(kernels->id));
    const auto executor = makeSerialExecutor();
    for (auto _ : state) {
        EstimateContext context{*executor, {}};
        context.wantTimeline = false;
        auto answer = estimate(*method, {hardware, workload}, context);
        if (!answer) return state.SkipWithError(answer.error().message.c_str());
        benchmark::DoNotOptimize(answer->latency);
    }
}
BENCHMARK(BM_Gpt3Estimate)
    ->ArgNames({"method", "phase"})
    ->Apply([](benchmark::internal::Benchmark* bench) {
        for (std::size_t i = 0; i < kernelMethods().size(); ++i) {
            for (const Phase phase : {Phase::Prefill, Phase::Decode}) {
                bench->Args({static_cast<std::int64_t>(i), static_cast<std::int64_t>(phase)});
            }
        }
    })
    ->Unit(benchmark::kMicrosecond);

// One training step of the same graph, four times as many launches.
void BM_Gpt3Launches(benchmark::State& state) {
    const auto workload = gpt3(Phase::Forward);
    ModelOptions options;
    options.fusion = static_cast<Fusion>(state.range(0));
    options.step = Step::Training;
    std::size_t launches = 0;
    for (auto _ : state) {
        const LaunchList list = launchesOf(*workload, options);
        launches = list.launches.size();
        benchmark::DoNotOptimize(list.launches.data());
    }
    state.counters["launches"] = static_cast<double>(launches);
}
BENCHMARK(BM_Gpt3Launches)->DenseRange(0, 2)->Unit(benchmark::kMicrosecond);

}  // namespace
