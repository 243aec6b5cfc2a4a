#include "simulation/systolic/closed_form.h"
#include "simulation/systolic/simulate.h"

#include <benchmark/benchmark.h>

using namespace orrery;
using namespace orrery::systolic;

namespace {

Array array(int dataflow, bool ideal) {
    Array made;
    static constexpr Dataflow flows[]{Dataflow::OutputStationary, Dataflow::WeightStationary,
                                      Dataflow::InputStationary};
    made.dataflow = flows[dataflow];
    made.idealBandwidth = ideal;
    made.ifmapBandwidth = made.filterBandwidth = made.ofmapBandwidth = 64;
    made.ifmapWords = made.filterWords = made.ofmapWords = 1 << 19;
    return made;
}

Layer convolution() {
    Layer layer;
    layer.ifmapHeight = layer.ifmapWidth = 58;
    layer.filterHeight = layer.filterWidth = 3;
    layer.channels = layer.filters = 256;
    return layer;
}

// Cycles of a 32 × 32 array per second, stalls not counted; the target is 20 million.
void simulateLayer(benchmark::State& state, const Layer& layer, bool ideal) {
    const Array made = array(static_cast<int>(state.range(0)), ideal);
    double cycles = 0;
    for (auto _ : state) {
        const auto report = simulate(made, layer);
        cycles += static_cast<double>(report->totalCycles - report->stallCycles);
    }
    state.counters["array_cycles"] = benchmark::Counter(cycles, benchmark::Counter::kIsRate);
    state.SetLabel(std::string(title(made.dataflow)));
}

void BM_SystolicProduct(benchmark::State& state) {
    simulateLayer(state, gemmLayer("g", 1024, 1024, 1024), true);
}
void BM_SystolicProductBound(benchmark::State& state) {
    simulateLayer(state, gemmLayer("g", 1024, 1024, 1024), false);
}
void BM_SystolicConvolution(benchmark::State& state) {
    simulateLayer(state, convolution(), true);
}
BENCHMARK(BM_SystolicProduct)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SystolicProductBound)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SystolicConvolution)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);

void BM_SystolicClosedForm(benchmark::State& state) {
    const Array made = array(static_cast<int>(state.range(0)), true);
    for (auto _ : state) benchmark::DoNotOptimize(closedForm(made, gemmLayer("g", 1024, 1024, 1024)));
}
BENCHMARK(BM_SystolicClosedForm)->DenseRange(0, 2)->Unit(benchmark::kMicrosecond);

}  // namespace
