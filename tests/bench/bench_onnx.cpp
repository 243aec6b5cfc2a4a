// How long opening a large exported model takes: target 0.2 s for swin_t.onnx (6,623 nodes) on the CI machine.

#include "workload/importers.h"
#include "workload/passes.h"

#include <benchmark/benchmark.h>

#include <filesystem>

namespace {

void BM_ImportSwinT(benchmark::State& state) {
    const std::string path = std::string(ORRERY_REFERENCE) + "/onnx/torchvision/swin_t.onnx";
    if (!std::filesystem::exists(path)) {
        state.SkipWithError("the reference model swin_t.onnx is not here");
        return;
    }
    for (auto _ : state) {
        auto imported = orrery::importOnnx(path);
        if (!imported) {
            state.SkipWithError(imported.error().message.c_str());
            return;
        }
        benchmark::DoNotOptimize(imported->graph.operators.data());
    }
}
BENCHMARK(BM_ImportSwinT)->Unit(benchmark::kMillisecond);

/// The graph as a person gets to see it: repeats folded too.
void BM_FoldSwinT(benchmark::State& state) {
    const std::string path = std::string(ORRERY_REFERENCE) + "/onnx/torchvision/swin_t.onnx";
    const auto imported = orrery::importOnnx(path);
    if (!imported) {
        state.SkipWithError("the reference model swin_t.onnx is not here");
        return;
    }
    for (auto _ : state) {
        orrery::Graph graph = imported->graph;
        benchmark::DoNotOptimize(orrery::foldRepeats(graph));
    }
}
BENCHMARK(BM_FoldSwinT)->Unit(benchmark::kMillisecond);

}  // namespace
