// How long bounds of data movement and fused chains take.

#include "hardware/files/catalogue.h"
#include "hardware/views/spatial_array_view.h"
#include "mapping/bounds/data_movement.h"
#include "mapping/fusion/chain_bound.h"
#include "mapping/fusion/fuse.h"
#include "support/mapping_fixture.h"
#include "workload/workload.h"

#include <benchmark/benchmark.h>

using namespace orrery;

namespace {

void boundOf(benchmark::State& state, const NestProblem& problem) {
    std::size_t corners = 0;
    for (auto _ : state) {
        const auto curve = dataMovementBound(problem);
        if (!curve) return state.SkipWithError("there is no bound");
        corners = curve->points.size();
    }
    state.counters["corners"] = static_cast<double>(corners);
}
void BM_BoundOfLlamaProduct(benchmark::State& state) {
    boundOf(state, fixture::product(8192, 14336, 4096));
}
void BM_BoundOfResNetLayer(benchmark::State& state) {
    boundOf(state, fixture::layer(128, 128, 28, 28, 3, 3));
}
BENCHMARK(BM_BoundOfLlamaProduct)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_BoundOfResNetLayer)->Unit(benchmark::kMillisecond);

std::optional<OperatorChain> bertOn(const char* device) {
    const auto hardware = loadHardware(device);
    if (!hardware) return std::nullopt;
    const auto view = spatialArrayView(hardware->hardware);
    WorkloadOptions options;
    options.sequence = 128;
    const auto workload = loadWorkload({"bert-base", options});
    if (!view || !workload) return std::nullopt;
    const auto chain = operatorChain(*view, (*workload)->graph, 0, (*workload)->graph.operators.size() - 1);
    return chain ? std::optional(*chain) : std::nullopt;
}
void BM_FuseBertOnTpu(benchmark::State& state) {
    const auto chain = bertOn("tpu-v1-like");
    if (!chain) return state.SkipWithError("there is no chain");
    const auto executor = makeSerialExecutor();
    FusionOptions options;
    options.objective = MapObjective::Latency;
    for (auto _ : state) {
        const auto result = fuseChain(*chain, options, *executor);
        if (!result) return state.SkipWithError("there is no answer");
        state.counters["saved"] = 1 - result->fused.cycles / result->unfused.cycles;
    }
}
void BM_ChainBoundOfBert(benchmark::State& state) {
    const auto chain = bertOn("tpu-v1-like");
    if (!chain) return state.SkipWithError("there is no chain");
    const auto executor = makeSerialExecutor();
    for (auto _ : state) {
        const auto bound = chainBound(*chain, *executor);
        if (!bound) return state.SkipWithError("there is no bound");
        state.counters["corners"] = static_cast<double>(bound->fused.size());
    }
}
BENCHMARK(BM_FuseBertOnTpu)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ChainBoundOfBert)->Unit(benchmark::kMillisecond);

}  // namespace
