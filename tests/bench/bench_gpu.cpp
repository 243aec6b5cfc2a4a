// A GPU cycle by cycle and by intervals: warp instructions in a second, of a product and of a stream.

#include "hardware/files/catalogue.h"
#include "methods/gpu/gpu_kernels.h"
#include "simulation/gpu/interval/interval_run.h"

#include <benchmark/benchmark.h>

using namespace orrery;

namespace {

Kernel benchKernel(KernelKind kind, std::int64_t n) {
    Kernel kernel;
    kernel.kind = kind;
    kernel.m = kernel.n = n;
    kernel.k = kind == KernelKind::Gemm ? n : 1;
    kernel.type = kernel.weightType = DType::F16;
    countWork(kernel);
    return kernel;
}

// range(0): 0 cycles, 1 intervals; range(1): 0 a product of 256 × 256 × 256, 1 a softmax of 256 rows of 256.
void BM_SimulatedGpu(benchmark::State& state) {
    const auto loaded = loadHardware("a100-80-sxm");
    const auto gpu = loaded ? gpuView(loaded->hardware) : Expected<GpuView>(tl::unexpected(loaded.error()));
    const auto drawn = gpu ? machineOf(*gpu) : Expected<DrawnMachine>(tl::unexpected(gpu.error()));
    if (!drawn) return state.SkipWithError(drawn.error().message.c_str());
    const auto program =
        programOf(benchKernel(state.range(1) == 0 ? KernelKind::Gemm : KernelKind::Softmax, 256), *gpu, *drawn);
    if (!program) return state.SkipWithError(program.error().message.c_str());
    const auto kernel = program->build(0);
    std::uint64_t instructions = 0;
    for (auto _ : state) {
        auto source = gpusim::TemplateSource::open(kernel, drawn->machine);
        if (!source) return state.SkipWithError(source.error().message.c_str());
        if (state.range(0) == 0) {
            const auto run = gpusim::simulate(drawn->machine, *source);
            if (run) instructions += run->counts.warpInstructions;
        } else {
            const auto run = gpusim::simulateIntervals(drawn->machine, *source);
            if (run) instructions += run->counts.warpInstructions;
        }
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(instructions));
}
BENCHMARK(BM_SimulatedGpu)
    ->ArgNames({"intervals", "kernel"})
    ->ArgsProduct({{0, 1}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
