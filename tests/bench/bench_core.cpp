#include "simulation/cpu/core/interval.h"
#include "simulation/cpu/core/kernels/kernel.h"
#include "simulation/cpu/core/pipeline.h"
#include "simulation/cpu/core/windows/windows.h"
#include "simulation/cpu/cores/cores.h"

#include <benchmark/benchmark.h>

using namespace orrery;
using namespace orrery::pipeline;

namespace {

// Items are instructions.
template <class Model>
void runKernel(benchmark::State& state, const char* text) {
    const auto machine = loadMachine("skylake-server");
    const auto spec = readKernel(text);
    if (!machine || !spec) return state.SkipWithError("no kernel");
    const auto nest = nestOf(*spec, *machine);
    if (!nest) return state.SkipWithError("no nest");
    const auto ops = boundOps(*machine, nest->ops);
    OpChunk chunk;
    std::int64_t count = 0;
    for (auto _ : state) {
        Model model(*machine, ops);
        NestStream stream(*nest);
        while (stream.next(chunk)) {
            model.run(chunk);
            for (std::size_t i = 0; i < chunk.size; ++i) count += ops[chunk.op[i]].instruction;
        }
    }
    state.SetItemsProcessed(count);
}
void BM_CoreProduct(benchmark::State& state) {
    runKernel<Pipeline>(state, "gemm m=192 n=192 k=192 avx2");
}
BENCHMARK(BM_CoreProduct)->Unit(benchmark::kMillisecond);
void BM_CoreStream(benchmark::State& state) {
    runKernel<Pipeline>(state, "relu n=1000000 avx2");
}
BENCHMARK(BM_CoreStream)->Unit(benchmark::kMillisecond);
void BM_CoreIntervalProduct(benchmark::State& state) {
    runKernel<IntervalModel>(state, "gemm m=192 n=192 k=192 avx2");
}
BENCHMARK(BM_CoreIntervalProduct)->Unit(benchmark::kMillisecond);

// Eight cores in one clock: items are the instructions of all.
void BM_Cores(benchmark::State& state, const char* text) {
    auto machine = loadMachine("skylake-server");
    const auto spec = readKernel(text);
    if (!machine || !spec) return state.SkipWithError("no kernel");
    Chip chip = chipOf(*machine);
    chip.cores = chip.sharedBy.back() = 8;
    chip.nodeBandwidth = 4 * machine->memoryBandwidth;
    std::uint64_t instructions = 0;
    for (auto _ : state) {
        const auto run = runSplit(*spec, chip, 8, Binding::Close);
        if (!run) return state.SkipWithError("no run");
        for (const CoreResult& core : run->cores) instructions += core.counters.instructions;
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(instructions));
}
BENCHMARK_CAPTURE(BM_Cores, product_192, "gemm m=192 n=192 k=192 avx2")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Cores, stream, "relu n=1000000 avx2")->Unit(benchmark::kMillisecond);

// The same by windows: items are the instructions that they tell of, and the cost does not grow with them.
void BM_CoreWindows(benchmark::State& state, const char* text) {
    const auto machine = loadMachine("skylake-server");
    const auto spec = readKernel(text);
    if (!machine || !spec) return state.SkipWithError("no kernel");
    double instructions = 0;
    for (auto _ : state) {
        const auto nest = nestOf(*spec, *machine);
        if (!nest) return state.SkipWithError("no nest");
        const auto windows = windowsOf(*nest, *machine, boundOps(*machine, nest->ops));
        instructions += windows.instructions;
        benchmark::DoNotOptimize(windows.classes.data());
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(instructions));
}
BENCHMARK_CAPTURE(BM_CoreWindows, product_192, "gemm m=192 n=192 k=192 avx2")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_CoreWindows, product_1024, "gemm m=1024 n=1024 k=1024 avx2")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_CoreWindows, stream, "relu n=1000000 avx2")->Unit(benchmark::kMillisecond);

}  // namespace
