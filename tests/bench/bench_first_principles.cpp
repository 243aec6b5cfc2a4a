#include "hardware/files/catalogue.h"
#include "methods/interval/interval_analysis.h"
#include "methods/search/mapping_search.h"

#include <benchmark/benchmark.h>

using namespace orrery;

namespace {

GpuView a100() {
    const auto loaded = loadHardware("a100-80-sxm");
    return loaded ? gpuView(loaded->hardware).value_or(GpuView{}) : GpuView{};
}
Kernel product(std::int64_t m, std::int64_t n, std::int64_t k) {
    Kernel kernel;
    kernel.kind = KernelKind::Gemm;
    kernel.m = m;
    kernel.n = n;
    kernel.k = k;
    countWork(kernel);
    return kernel;
}

// One product that has not been asked before; LLMCompass takes 12.8 to 168 s for those of its A100 set.
void BM_MappingSearchOneProduct(benchmark::State& state) {
    const SearchMachine machine = searchMachine(a100());
    const SearchedProduct shape{1, state.range(0), state.range(1), state.range(1), DType::F16, 2, 2, 2};
    std::int64_t evaluated = 0;
    for (auto _ : state) {
        const ProductCost cost = searchProduct(machine, shape);
        evaluated += cost.evaluated;
        benchmark::DoNotOptimize(cost.cycles);
    }
    state.counters["mappings/s"] = benchmark::Counter(static_cast<double>(evaluated), benchmark::Counter::kIsRate);
}
BENCHMARK(BM_MappingSearchOneProduct)
    ->Args({64, 12288})
    ->Args({16384, 12288})
    ->Args({8192, 1024})
    ->Unit(benchmark::kMicrosecond);

void priceAgain(benchmark::State& state, const KernelMethod& method) {
    const auto pricer = method.bind(a100(), CalibrationSet());
    if (!pricer) return state.SkipWithError("not bound");
    const Kernel kernel = product(1024, 4096, 4096);
    for (auto _ : state) benchmark::DoNotOptimize((*pricer)->price(kernel).seconds);
}
void BM_MappingSearchPriceAgain(benchmark::State& state) {
    priceAgain(state, mappingSearchMethod());
}
BENCHMARK(BM_MappingSearchPriceAgain);
void BM_IntervalAnalysisPrice(benchmark::State& state) {
    priceAgain(state, intervalAnalysisMethod());
}
BENCHMARK(BM_IntervalAnalysisPrice);

}  // namespace
