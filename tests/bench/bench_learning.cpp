#include "base/random.h"
#include "hardware/files/catalogue.h"
#include "learning/calibration.h"
#include "learning/fit_section.h"
#include "methods/kernel_method.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <fstream>

using namespace orrery;

namespace {

constexpr std::size_t columns = 12;

TrainingData rowsOf(std::size_t rows) {
    TrainingData data;
    RandomStream random(1);
    for (std::size_t c = 0; c < columns; ++c) data.names.push_back("x" + std::to_string(c));
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < columns; ++c) data.features.push_back(10 * random.uniform());
        const double* x = &data.features[r * columns];
        data.target.push_back(std::sin(x[0]) + x[1] * x[2] / 20 + std::max(x[3], x[4]) + 0.05 * random.normal());
    }
    return data;
}

TrainingOptions optionsOf(const char* kind, int steps) {
    TrainingOptions options;
    options.kind = kind;
    options.steps = steps;
    if (options.kind == "forest") options.depth = 12;
    return options;
}

// One prediction, of rows that no cache has just seen; trees: 200 of depth 6, network: two layers of 32.
void BM_Predict(benchmark::State& state, const char* kind) {
    const TrainingData data = rowsOf(20'000);
    const auto model = train(data, nullptr, optionsOf(kind, kind == std::string_view("network") ? 5 : 200));
    std::size_t r = 0;
    double sum = 0;
    for (auto _ : state) {
        sum += (*model)->predict(std::span(&data.features[r * columns], columns));
        if (++r == data.rows()) r = 0;
    }
    benchmark::DoNotOptimize(sum);
    state.SetItemsProcessed(state.iterations());
    state.counters["kB"] = double((*model)->toJson().size()) / 1000;
}

// Training on 100,000 rows as the hybrid does: five folds and all rows. Items are rows.
void BM_Fit100k(benchmark::State& state, const char* kind, int steps) {
    const TrainingData data = rowsOf(100'000);
    SectionRows rows{data.names, data.features, std::vector<double>(data.rows(), 1e-4), {}};
    for (const double target : data.target) rows.measured.push_back(1e-4 * std::exp(target / 10));
    SectionOptions options;
    options.candidates = {optionsOf(kind, steps)};
    for (auto _ : state) benchmark::DoNotOptimize(fitSection(rows, options));
    state.SetItemsProcessed(state.iterations() * std::int64_t(data.rows()));
}

// Reading 4 MB of calibrations of trees, the worst kind. Bytes are of the file.
void BM_Load4MB(benchmark::State& state) {
    const TrainingData data = rowsOf(5'000);
    Calibration calibration{"m", "1", "2026-11-21"};
    CalibrationSection& section = calibration.sections.emplace_back();
    section.variant = "bf16";
    section.features = data.names;
    section.model = *train(data, nullptr, optionsOf("trees", 200));
    while (writeCalibration(calibration).size() < 4u << 20)
        calibration.sections.push_back(calibration.sections.front());
    const std::string text = writeCalibration(calibration);
    for (auto _ : state) benchmark::DoNotOptimize(parseCalibration(text, "bench"));
    state.SetBytesProcessed(state.iterations() * std::int64_t(text.size()));
}

// What the studio pays once at its start for the files of a clone.
void BM_LoadShipped(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(loadCalibrations(presetsFolder() + "/calibrations"));
}

// One price of a matrix product by each method, with the shipped calibrations.
void BM_Price(benchmark::State& state, const char* id) {
    const KernelMethod* method = findKernelMethod(id);
    const auto hardware = loadHardware("h100-sxm");
    const auto gpu = gpuView(hardware->hardware);
    const auto pricer = method->bind(*gpu, shippedCalibrations().set);
    if (!pricer) return state.SkipWithError("not bound");
    std::vector<Kernel> kernels;
    RandomStream random(1);
    for (int i = 0; i < 1000; ++i) {
        Kernel kernel;
        kernel.kind = KernelKind::Gemm;
        kernel.type = kernel.weightType = DType::BF16;
        kernel.m = std::int64_t(std::exp2(random.uniform() * 13));
        kernel.n = 64 * std::int64_t(1 + random.below(200));
        kernel.k = 64 * std::int64_t(1 + random.below(200));
        countWork(kernel);
        kernels.push_back(kernel);
    }
    std::size_t i = 0;
    double sum = 0;
    for (auto _ : state) {
        sum += (*pricer)->price(kernels[i]).seconds;
        if (++i == kernels.size()) i = 0;
    }
    benchmark::DoNotOptimize(sum);
    state.SetItemsProcessed(state.iterations());
    state.counters["calibrated"] = (*pricer)->price(kernels[0]).priced ? 1 : 0;
}

}  // namespace

BENCHMARK_CAPTURE(BM_Predict, trees, "trees");
BENCHMARK_CAPTURE(BM_Predict, forest, "forest");
BENCHMARK_CAPTURE(BM_Predict, network, "network");
BENCHMARK_CAPTURE(BM_Predict, linear, "linear");
BENCHMARK_CAPTURE(BM_Fit100k, trees, "trees", 200)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();
BENCHMARK_CAPTURE(BM_Fit100k, network, "network", 100)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();
BENCHMARK(BM_Load4MB)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_LoadShipped)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Price, forest, "forest");
BENCHMARK_CAPTURE(BM_Price, booster, "booster");
BENCHMARK_CAPTURE(BM_Price, tile_wave, "tile-wave");
BENCHMARK_CAPTURE(BM_Price, tile_hybrid, "tile-hybrid");
