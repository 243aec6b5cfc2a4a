// Edge devices: telling one network from its code, ranking a hundred thousand, conditioning on ten thousand samples.
// Targets of the models: 50 µs a network, 2 s for the ranking, 10 s for the fit.

#include "base/random.h"
#include "learning/edge/device_prior.h"
#include "learning/edge/space_features.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

using namespace orrery;

namespace {

std::string benchCell(RandomStream& random) {
    constexpr std::array<const char*, 5> ops{"none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"};
    std::string code;
    for (int node = 1; node < 4; ++node) {
        if (node > 1) code += "+";
        for (int from = 0; from < node; ++from)
            code += std::string("|") + ops[random.below(5)] + "~" + std::to_string(from);
        code += "|";
    }
    return code;
}

struct EdgeBench {
    SpaceFeatures space = *spaceFeatures("nasbench201");
    std::vector<std::string> codes;
    FeatureRows rows;
    std::vector<std::vector<double>> devices;

    explicit EdgeBench(std::size_t count) {
        RandomStream random(3);
        rows.columns = space.names.size();
        rows.core = space.core;
        rows.half = space.half;
        for (std::size_t i = 0; i < count; ++i) {
            codes.push_back(benchCell(random));
            (void)appendFeatures(space, codes.back(), rows.values);
        }
        for (int d = 0; d < 10; ++d) {
            devices.emplace_back();
            for (std::size_t i = 0; i < count; ++i) {
                const auto row = rows.row(i);
                devices.back().push_back((5 + d + 0.5 * row[1] + (2 + 0.1 * d) * row[2] + 0.4 * row[3]) *
                                         (1 + 0.02 * random.normal()));
            }
        }
    }
    DeviceModel model(std::size_t samples) const {
        const std::span others = std::span(devices).subspan(1);
        auto prior = DevicePrior::learn(rows, others, space.analytic);
        FeatureRows few{
            rows.columns,
            {rows.values.begin(), rows.values.begin() + static_cast<std::ptrdiff_t>(samples * rows.columns)},
            rows.core, rows.half};
        return *prior->condition(few, std::span(devices[0]).first(samples));
    }
};

void edgeTellOne(benchmark::State& state) {
    const EdgeBench bench(1000);
    const DeviceModel model = bench.model(10);
    std::size_t i = 0;
    std::vector<double> row;
    for (auto _ : state) {
        row.clear();
        (void)appendFeatures(bench.space, bench.codes[i], row);
        benchmark::DoNotOptimize(model.at(row));
        i = (i + 1) % bench.codes.size();
    }
}
BENCHMARK(edgeTellOne)->Unit(benchmark::kMicrosecond);

void edgeRankHundredThousand(benchmark::State& state) {
    const EdgeBench bench(1000);
    const DeviceModel model = bench.model(10);
    std::vector<double> row;
    for (auto _ : state) {
        std::vector<double> told;
        for (std::size_t i = 0; i < 100'000; ++i) {
            row.clear();
            (void)appendFeatures(bench.space, bench.codes[i % bench.codes.size()], row);
            told.push_back(model.mean(row));
        }
        std::sort(told.begin(), told.end());
        benchmark::DoNotOptimize(told);
    }
}
BENCHMARK(edgeRankHundredThousand)->Unit(benchmark::kMillisecond);

void edgeFitTenThousand(benchmark::State& state) {
    const EdgeBench bench(10'000);
    const std::span others = std::span(bench.devices).subspan(1);
    for (auto _ : state) {
        const auto prior = DevicePrior::learn(bench.rows, others, bench.space.analytic);
        benchmark::DoNotOptimize(prior->condition(bench.rows, bench.devices[0]));
    }
}
BENCHMARK(edgeFitTenThousand)->Unit(benchmark::kMillisecond);

}  // namespace
