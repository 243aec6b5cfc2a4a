#include "base/random.h"
#include "simulation/dram/memory.h"
#include "simulation/dram/ruled/ruled_run.h"

#include <benchmark/benchmark.h>

using namespace orrery;

namespace {

DramMemory memoryOf(const char* id, int channels, const char* mapping) {
    DramConfig config;
    config.standard = *dramStandard(id);
    config.channels = channels;
    config.mapping = mapping;
    return std::move(*DramMemory::make(config));
}

// A tile of 64 MiB as one request; items are bursts.
void BM_DramTile(benchmark::State& state, const char* id, int channels, const char* mapping) {
    auto memory = memoryOf(id, channels, mapping);
    std::vector<DramCompletion> done;
    const std::int64_t bytes = 64 << 20;
    std::uint64_t at = 0;
    for (auto _ : state) {
        memory.submit({at, bytes, memory.now()});
        done.clear();
        memory.drain(done);
        at += std::uint64_t(bytes);
    }
    state.SetItemsProcessed(state.iterations() * bytes / memory.config().standard.organisation.burstBytes());
}

// Single bursts at random, two thirds reads.
void BM_DramRandom(benchmark::State& state, const char* id, int channels, const char* mapping) {
    auto memory = memoryOf(id, channels, mapping);
    RandomStream random(1);
    const int bytes = memory.config().standard.organisation.burstBytes();
    std::vector<DramCompletion> done;
    constexpr int count = 20'000;
    for (auto _ : state) {
        for (int i = 0; i < count; ++i) {
            const auto burst = random.below(std::uint64_t(memory.map().bursts()));
            memory.submit({burst * std::uint64_t(bytes), bytes, memory.now(), 0, 0, random.below(3) == 0});
        }
        done.clear();
        memory.drain(done);
    }
    state.SetItemsProcessed(state.iterations() * count);
}

// Two cores that fetch tiles of 32 KiB by turns, as an event-driven simulation does: to the next completion, then the
// next tile.
void BM_DramTilesByEvent(benchmark::State& state) {
    auto memory = memoryOf("hbm2-2000", 16, "RoBaRaCoBgPcChCo2");
    std::vector<DramCompletion> done;
    std::uint64_t at = 0;
    constexpr std::int64_t tile = 32 << 10;
    for (std::uint16_t port = 0; port < 4; ++port) memory.submit({(at += tile), tile, 0, port, port});
    for (auto _ : state) {
        done.clear();
        memory.runToCompletion(memory.now() + 1'000'000, done);
        for (const auto& c : done) memory.submit({(at += tile), tile, memory.now(), c.tag, std::uint16_t(c.tag)});
    }
    state.SetItemsProcessed(state.iterations() * tile / memory.config().standard.organisation.burstBytes());
}

enum class Requests { Stream, Reads, Mixed };

// A channel whose rules are a file (one of Ramulator's configurations, where they are at hand); items are commands, the
// rate is of processor time.
void BM_DramRuled(benchmark::State& state, const char* standard, const char* mapping, Requests requests) {
    const auto rules = readDramRules(std::string(ORRERY_REFERENCE "/dram/ramulator2/configs/") + standard + ".yaml");
    if (!rules) return state.SkipWithError("the configuration is not here");
    const auto map = RuledAddressMap::make(*rules, mapping);
    if (!map) return state.SkipWithError("no such mapping");
    RandomStream random(1);
    std::vector<DramTraceRequest> trace;
    const auto bytes = static_cast<std::uint64_t>(rules->burstBytes());
    for (std::uint64_t i = 0; i < 50'000; ++i)
        trace.push_back({(requests == Requests::Stream ? i : random.below(std::uint64_t{1} << 22)) * bytes,
                         requests == Requests::Mixed && random.below(3) == 0});
    std::int64_t commands = 0;
    for (auto _ : state) {
        const auto run = runRuledDram(*rules, *map, true, {}, trace);
        if (!run) return state.SkipWithError("the run failed");
        commands += run->counts.total();
    }
    state.SetItemsProcessed(commands);
}

}  // namespace

BENCHMARK_CAPTURE(BM_DramRuled, ddr4_stream, "ddr4_3200", "MOP4CLXOR", Requests::Stream)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, ddr4_reads, "ddr4_3200", "MOP4CLXOR", Requests::Reads)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, ddr4_mixed, "ddr4_3200", "MOP4CLXOR", Requests::Mixed)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, ddr5_stream, "ddr5_4800", "MOP4CLXOR", Requests::Stream)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, ddr5_reads, "ddr5_4800", "MOP4CLXOR", Requests::Reads)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, ddr5_mixed, "ddr5_4800", "MOP4CLXOR", Requests::Mixed)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, lpddr5_stream, "lpddr5_6400", "MOP4CLXOR", Requests::Stream)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, lpddr5_reads, "lpddr5_6400", "MOP4CLXOR", Requests::Reads)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, lpddr5_mixed, "lpddr5_6400", "MOP4CLXOR", Requests::Mixed)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, gddr6_stream, "gddr6_14000", "MOP4CLXOR", Requests::Stream)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, gddr6_reads, "gddr6_14000", "MOP4CLXOR", Requests::Reads)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, gddr6_mixed, "gddr6_14000", "MOP4CLXOR", Requests::Mixed)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, hbm2_stream, "hbm2_2000", "MOP4CLXOR", Requests::Stream)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, hbm2_reads, "hbm2_2000", "MOP4CLXOR", Requests::Reads)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, hbm2_mixed, "hbm2_2000", "MOP4CLXOR", Requests::Mixed)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, hbm3_stream, "hbm3_6400", "MOP4CLXOR", Requests::Stream)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, hbm3_reads, "hbm3_6400", "MOP4CLXOR", Requests::Reads)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, hbm3_mixed, "hbm3_6400", "MOP4CLXOR", Requests::Mixed)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, hbm4_stream, "hbm4_8000", "MOP4CLXOR", Requests::Stream)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, hbm4_reads, "hbm4_8000", "MOP4CLXOR", Requests::Reads)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRuled, hbm4_mixed, "hbm4_8000", "MOP4CLXOR", Requests::Mixed)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramTile, ddr4_1_channel, "ddr4-3200aa", 1, "RoBaRaCoCh")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramTile, hbm2_8_channels, "hbm2-2000", 8, "RoBaRaCoBgPcChCo2")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramTile, hbm3_16_channels, "hbm3-6400", 16, "RoBaRaCoBgPcChCo2")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRandom, ddr4_1_channel, "ddr4-3200aa", 1, "RoBaRaCoCh")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_DramRandom, hbm2_8_channels, "hbm2-2000", 8, "RoBaRaCoBgPcCh")->Unit(benchmark::kMillisecond);
BENCHMARK(BM_DramTilesByEvent);
