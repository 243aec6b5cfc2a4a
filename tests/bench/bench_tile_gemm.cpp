// Prices of matrix products by the tile methods: physics alone, and with the shipped correction.

#include "hardware/files/catalogue.h"
#include "methods/tile/tile_wave.h"
#include "methods/tile/tile_hybrid.h"

#include <benchmark/benchmark.h>

using namespace orrery;

namespace {

void priceProducts(benchmark::State& state, const KernelMethod& method) {
    const auto hardware = loadHardware("h100-sxm");
    if (!hardware) return state.SkipWithError("no h100-sxm");
    const auto gpu = gpuView(hardware->hardware);
    const auto pricer = method.bind(*gpu, shippedCalibrations().set);
    std::vector<Kernel> kernels;
    for (std::int64_t m = 1; m <= 16384; m *= 2) {
        Kernel kernel;
        kernel.kind = KernelKind::Gemm;
        kernel.type = kernel.weightType = DType::BF16;
        kernel.batch = 1, kernel.m = m, kernel.n = 4096, kernel.k = 4096;
        countWork(kernel);
        kernels.push_back(kernel);
    }
    std::size_t i = 0;
    for (auto _ : state) benchmark::DoNotOptimize((*pricer)->price(kernels[i++ % kernels.size()]).seconds);
    state.SetItemsProcessed(state.iterations());
}

void BM_TileWaveProduct(benchmark::State& state) {
    priceProducts(state, tileWaveKernels());
}
void BM_TileHybridProduct(benchmark::State& state) {
    priceProducts(state, tileHybridKernels());
}
BENCHMARK(BM_TileWaveProduct);
BENCHMARK(BM_TileHybridProduct);

}  // namespace
