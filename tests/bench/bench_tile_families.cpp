#include "methods/tile/features_attention.h"
#include "methods/tile/features_collective.h"
#include "methods/tile/tile_wave_attention.h"
#include "methods/tile/tile_wave_collective.h"
#include "support/tile_fixture.h"

#include <benchmark/benchmark.h>

using namespace orrery;
using namespace orrery::fixture;

namespace {

// Physics and features of one kernel: what a price costs before its model.
void price(benchmark::State& state, const TileFamily& family, const HybridFamily& hybrid, const Kernel& kernel) {
    const GpuView gpu = handmadeGpu();
    const auto parameters = nominalParameters(family);
    std::vector<double> row(hybrid.featureNames.size());
    for (auto _ : state) {
        const TilePhysics physics = family.physics(kernel, gpu, parameters);
        hybrid.features(kernel, gpu, physics, row);
        benchmark::DoNotOptimize(row.data());
    }
}

void BM_PrefillAttention(benchmark::State& state) {
    price(state, prefillAttentionFamily(), prefillAttentionFeatures(),
          attention(KernelKind::PrefillAttention, 4, 32, 8, state.range(0), 128));
}
void BM_DecodeAttention(benchmark::State& state) {
    price(state, decodeAttentionFamily(), decodeAttentionFeatures(),
          attention(KernelKind::DecodeAttention, 64, 32, 8, 8192, 128));
}
void BM_Collective(benchmark::State& state) {
    price(state, collectiveFamily(), collectiveFeatures(),
          collective(CollectiveOp::AllReduce, 8, 1 << 20, CollectiveLibrary::Custom));
}

}  // namespace

BENCHMARK(BM_PrefillAttention)->Arg(512)->Arg(16384)->Arg(1 << 20);
BENCHMARK(BM_DecodeAttention);
BENCHMARK(BM_Collective);
