#include "hardware/files/catalogue.h"
#include "methods/method.h"
#include "simulation/event_kernel.h"
#include "simulation/npu/kernel_plan.h"
#include "simulation/npu/simulate.h"

#include <benchmark/benchmark.h>

using namespace orrery;

namespace {

void BM_EventQueue(benchmark::State& state) {
    EventQueue queue;
    const auto waiting = static_cast<std::uint32_t>(state.range(0));
    queue.reserve(waiting);
    for (std::uint32_t i = 0; i < waiting; ++i) queue.schedule(i * 37 % 101, 0, i);
    for (auto _ : state) {
        const SimEvent event = queue.pop();
        queue.schedule(event.time + 1 + event.subject * 37 % 101, 0, event.subject);
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_EventQueue)->Arg(16)->Arg(1024);

// The largest layer of Gemmini's validation: 4,017 tiles, their operands fetched anew each time.
void BM_NpuGemmini512x1024x4096(benchmark::State& state) {
    NpuMachine machine;
    machine.accumulator = 16 * 1024;
    machine.word = 16;
    NpuProgram program;
    const MappedSpec spec{gemminiTiling(512, 1024, 4096, 1, machine), {}, 1};
    if (!lower(spec, machine, program)) return state.SkipWithError("does not fit");
    const auto memory = pipeMemory(machine.memoryBytes, machine.memoryLatency);
    NpuSimulation simulation(machine, *memory);
    double events = 0, cycles = 0;
    for (auto _ : state) {
        const auto run = simulation.run(program);
        events += static_cast<double>(run->events);
        cycles += static_cast<double>(run->cycles);
    }
    state.counters["events"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
    state.counters["cycles"] = benchmark::Counter(cycles, benchmark::Counter::kIsRate);
}
BENCHMARK(BM_NpuGemmini512x1024x4096)->Unit(benchmark::kMillisecond);

// The aim is 2 s for ResNet-50 on one thread.
void BM_NpuTileModel(benchmark::State& state, const char* model) {
    const auto hardware = loadHardware("tpu-v3");
    WorkloadRecipe recipe{model, {}, {}};
    recipe.options = builtinWorkload(model)->usual;
    const auto workload = loadWorkload(recipe);
    if (!hardware || !workload) return state.SkipWithError("no preset");
    const Scenario scenario{std::make_shared<const Hardware>(hardware->hardware), *workload};
    const auto executor = makeSerialExecutor();
    for (auto _ : state) {
        EstimateContext context{*executor, {}, nullptr, 1, true};
        auto answer = estimate(*findMethod("npu-tile"), scenario, context);
        benchmark::DoNotOptimize(answer);
    }
}
BENCHMARK_CAPTURE(BM_NpuTileModel, resnet50, "resnet-50")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_NpuTileModel, bert, "bert-base")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_NpuTileModel, llama, "llama-2-7b")->Unit(benchmark::kMillisecond);

// Of a model of large products, a few output tiles of each shape in place of all: the ratio of the two is what it
// saves.
void BM_NpuTileSampled(benchmark::State& state, const char* sample) {
    const auto hardware = loadHardware("gemmini-like");
    WorkloadRecipe recipe{"llama-3-8b", {}, {}};
    recipe.options = builtinWorkload("llama-3-8b")->usual;
    recipe.options.sequence = 64;
    const auto workload = loadWorkload(recipe);
    if (!hardware || !workload) return state.SkipWithError("no preset");
    const Scenario scenario{std::make_shared<const Hardware>(hardware->hardware), *workload};
    const auto executor = makeSerialExecutor();
    for (auto _ : state) {
        EstimateContext context{*executor};
        context.options = {{"sample", sample}};
        auto answer = estimate(*findMethod("npu-tile"), scenario, context);
        benchmark::DoNotOptimize(answer);
    }
}
BENCHMARK_CAPTURE(BM_NpuTileSampled, whole, "off")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_NpuTileSampled, sampled, "tiles")->Unit(benchmark::kMillisecond);

}  // namespace
