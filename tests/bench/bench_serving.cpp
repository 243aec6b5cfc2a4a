// Targets of one thread: 5,000 requests of 128 … 1024 tokens at 8 requests/s, their generation included, in 40 ms
// (Vidur: 3.1 CPU-seconds); a million requests with the lengths of Azure's conversations over 64 replicas in 60 s and 1
// GB; a million iterations per second. With the tables of Llama-2-7B on one A100 where the reference data is there. Of
// an iteration's price from kernels: about a microsecond.

#include "methods/system/clock_policy.h"
#include "methods/system/planned_fleet.h"
#include "methods/trace/vidur_tables.h"
#include "serving/serving_simulation.h"
#include "serving/traffic/traffic.h"
#include "support/iteration_fixture.h"

#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <random>

using namespace orrery;

namespace {

const std::string reference = std::string(ORRERY_REFERENCE) + "/serving/";

IterationTimePtr tables() {
    static const auto time = readVidurTables(reference + "cases/_tables/l7_a100_tp1", {.saturate = true});
    return time ? *time : nullptr;
}

std::shared_ptr<const FleetSpec> fleetOf(std::size_t count, std::string_view scheduler) {
    auto fleet = std::make_shared<FleetSpec>();
    ReplicaSpec replica;
    replica.time = tables();
    replica.scheduler.id = scheduler;
    replica.scheduler.tokenBudget = 4096;
    replica.kvBlocks = 7616;
    fleet->replicas.assign(count, replica);
    fleet->router.id = "least-outstanding";
    return fleet;
}

TrafficSpec uniform(std::int64_t requests, double rate) {
    TrafficSpec traffic;
    traffic.requests = requests;
    traffic.arrivals.rate = rate;
    traffic.ratio = 4;
    traffic.prompt.least = 128;
    traffic.prompt.most = 1024;
    return traffic;
}

void serve(benchmark::State& state, const TrafficSpec& traffic, std::size_t replicas, std::string_view scheduler) {
    if (!tables()) return state.SkipWithError("no reference data");
    const auto fleet = fleetOf(replicas, scheduler);
    double iterations = 0, tokens = 0;
    for (auto _ : state) {
        auto made = makeTraffic(traffic, 42);
        if (!made) return state.SkipWithError(made.error().message.c_str());
        const auto requests = std::make_shared<const RequestStream>(std::move(*made));
        const auto result = simulate(fleet, requests, {});
        if (!result) return state.SkipWithError(result.error().message.c_str());
        for (const auto& each : result->replicas) {
            iterations += static_cast<double>(each.iterations);
            tokens += static_cast<double>(each.decodeTokens);
        }
    }
    state.counters["iterations/s"] = benchmark::Counter(iterations, benchmark::Counter::kIsRate);
    state.counters["decodes/s"] = benchmark::Counter(tokens, benchmark::Counter::kIsRate);
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        double peak = 0;
        if (word == "VmHWM:" && status >> peak) state.counters["peak MB"] = peak / 1024;
    }
}

void BM_Serve5000(benchmark::State& state, const char* scheduler) {
    serve(state, uniform(5000, 8), 1, scheduler);
}
BENCHMARK_CAPTURE(BM_Serve5000, vllm_v0, "vllm-v0")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Serve5000, sarathi, "sarathi")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Serve5000, orca, "orca")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Serve5000, vllm_v1, "vllm-v1")->Unit(benchmark::kMillisecond);

// Light load: iterations of one or two sequences, where the loop itself is what costs.
void BM_ServeSparse(benchmark::State& state) {
    serve(state, uniform(5000, 1), 1, "sarathi");
}
BENCHMARK(BM_ServeSparse)->Unit(benchmark::kMillisecond);

void BM_ServeMillion(benchmark::State& state, const char* scheduler) {
    TrafficSpec traffic;
    traffic.requests = 1'000'000;
    traffic.arrivals.rate = 160;
    traffic.trace.file = reference + "data/traces/AzureLLMInferenceTrace_conv_2023.csv";
    traffic.prompt.kind = traffic.output.kind = LengthKind::Trace;
    if (!std::filesystem::exists(traffic.trace.file)) return state.SkipWithError("no reference data");
    serve(state, traffic, 64, scheduler);
}
BENCHMARK_CAPTURE(BM_ServeMillion, vllm_v0, "vllm-v0")->Unit(benchmark::kSecond)->Iterations(1);
BENCHMARK_CAPTURE(BM_ServeMillion, sarathi, "sarathi")->Unit(benchmark::kSecond)->Iterations(1);

// What a replica under load is asked: 20 to 80 decodes, at every fourth iteration some prompts beside them.
std::vector<testing::Work> load() {
    std::mt19937 random(1);
    const auto between = [&](int low, int high) {
        return low + static_cast<int>(random() % static_cast<unsigned>(high - low));
    };
    std::vector<testing::Work> works;
    for (int i = 0; i < 20'000; ++i) {
        testing::Work work = testing::decodes(between(20, 80), 0);
        for (std::int32_t& context : work.decodes) context = between(300, 1800);
        for (int k = i % 4 == 0 ? between(1, 4) : 0; k > 0; --k) work.prompts.push_back({between(64, 960), 0});
        works.push_back(std::move(work));
    }
    return works;
}

void price(benchmark::State& state, const IterationTime& time) {
    const std::vector<testing::Work> works = load();
    std::vector<IterationWork> asked;
    for (const testing::Work& work : works) asked.push_back(work.work());
    double sum = 0;
    for (const IterationWork& work : asked) sum += time.price(work).lastSeconds;  // points are priced once
    for (auto _ : state) {
        for (const IterationWork& work : asked) sum += time.price(work).lastSeconds;
    }
    benchmark::DoNotOptimize(sum);
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(asked.size()));
}

void BM_PriceFromKernels(benchmark::State& state, double powerCap) {
    price(state, *testing::iterationTime(
                     {.model = "llama-2-70b", .tensor = 8, .method = "tile-hybrid", .powerCap = powerCap}));
}
BENCHMARK_CAPTURE(BM_PriceFromKernels, free, 0.0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_PriceFromKernels, capped, 350.0)->Unit(benchmark::kMillisecond);

void BM_PriceAtLowestClock(benchmark::State& state) {
    PoolSpec pool;
    pool.clock = ClockPolicy::Lowest;
    const auto kernels = testing::iterationTime({.model = "llama-2-70b", .tensor = 8, .method = "tile-hybrid"});
    price(state, *applyClock(kernels, kernels, pool, {.tpot = 0.1}));
}
BENCHMARK(BM_PriceAtLowestClock)->Unit(benchmark::kMillisecond);

void BM_PriceFromTables(benchmark::State& state) {
    if (!tables()) return state.SkipWithError("no reference data");
    price(state, *tables());
}
BENCHMARK(BM_PriceFromTables)->Unit(benchmark::kMillisecond);

}  // namespace
