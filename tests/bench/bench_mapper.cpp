// How long does the proof of the best mapping take (BM_MapperOptimal: a ResNet 3x3 layer, a product of BERT; counters:
// seconds per proof, share proven)? How many valid mappings of a ResNet 3x3 layer on an array of 256 row-stationary
// elements does a search cost in a second? Timeloop 3.0.3 costs about 290 and examines 4,800 on the same machine, one
// thread, where these figures were first taken.
#include "mapping/mappers/mapper.h"
#include "support/mapping_fixture.h"

#include <benchmark/benchmark.h>

using namespace orrery;

namespace {

NestHardware eyeriss() {
    NestHardware made;
    made.arithmetic.instances = 256;
    made.arithmetic.meshX = 16;
    made.arithmetic.energy = 1e-12;
    made.levels = {fixture::storage("psums", 256, 16, 16, 1e-12),
                   fixture::storage("weights", 256, 16, 192, 1e-12),
                   fixture::storage("inputs", 256, 16, 12, 1e-12),
                   fixture::storage("columns", 16, 16, 0, 0),
                   fixture::storage("global", 1, 1, 65536, 7e-12),
                   fixture::storage("dram", 1, 1, std::numeric_limits<double>::infinity(), 200e-12)};
    return made;
}

// Dimensions R S P Q C K N; factors 0 are free.
MapspaceConstraints rowStationary() {
    MapspaceConstraints c;
    c.levels.resize(6);
    const std::uint32_t weights = 1, inputs = 2, outputs = 4;
    const auto keeps = [&](std::size_t level, std::uint32_t kept) {
        c.levels[level].keep = kept;
        c.levels[level].bypass = 7u & ~kept;
    };
    keeps(0, outputs);
    keeps(1, weights);
    keeps(2, inputs);
    keeps(3, 0);
    keeps(4, inputs | outputs);
    c.levels[0].temporal.factors = {1, 1, 1, 1, 1, 0, 1};
    c.levels[1].temporal.factors = {3, 1, 1, 1, 0, 1, 1};
    c.levels[2].temporal.factors = {1, 1, 1, 1, 1, 1, 1};
    c.levels[3].temporal.factors = {1, 1, 1, 1, 1, 1, 1};
    c.levels[3].spatial.factors = {1, 3, 1, 1, 0, 0, 1};
    c.levels[3].spatial.innermost = {6, 2, 3, 0, 1, 4, 5};
    c.levels[3].spatial.split = 4;
    c.levels[4].temporal.factors = {1, 1, 14, 1, 1, 0, 0};
    c.levels[4].temporal.innermost = {3, 0, 1, 4, 2, 6, 5};
    c.levels[4].spatial.factors = {1, 1, 1, 0, 1, 0, 1};
    c.levels[4].spatial.innermost = {6, 4, 2, 0, 1, 3, 5};
    c.levels[4].spatial.split = 7;
    c.levels[5].temporal.factors = {1, 1, 1, 0, 0, 0, 0};
    c.levels[5].temporal.innermost = {0, 1, 2, 4, 5, 6, 3};
    return c;
}

void search(benchmark::State& state, MapperKind kind, int threads) {
    const auto space = Mapspace::make(fixture::layer(256, 256, 14, 14, 3, 3), eyeriss(), rowStationary());
    if (!space) {
        state.SkipWithError(space.error().message.c_str());
        return;
    }
    const auto executor = makeDefaultExecutor(threads);
    std::uint64_t valid = 0;
    for (auto _ : state) {
        SearchContext context{*executor};
        const auto result = searchMappings(*space, {.kind = kind, .evaluations = 40000}, context);
        if (result) valid += (*result)->valid;
    }
    state.counters["valid/s"] = benchmark::Counter(static_cast<double>(valid), benchmark::Counter::kIsRate);
}

void BM_MapperRandom(benchmark::State& state) {
    search(state, MapperKind::RandomPruned, static_cast<int>(state.range(0)));
}
void BM_MapperAnnealing(benchmark::State& state) {
    search(state, MapperKind::Annealing, static_cast<int>(state.range(0)));
}
/// Without constraints but what elements keep: the whole space, on registers of 512 words and a buffer of 64 Ki.
void BM_MapperOptimal(benchmark::State& state) {
    MapspaceConstraints constraints;
    constraints.levels.resize(3);
    constraints.levels[0].keep = constraints.levels[1].keep = 7;
    const NestProblem problem =
        state.range(0) == 0 ? fixture::layer(64, 64, 56, 56, 3, 3) : fixture::product(512, 3072, 768);
    const auto space = Mapspace::make(problem, fixture::array(16, 16, 512, 65536), constraints);
    if (!space) {
        state.SkipWithError(space.error().message.c_str());
        return;
    }
    const auto executor = makeSerialExecutor();
    double proven = 0;
    for (auto _ : state) {
        SearchContext context{*executor};
        const auto result = searchMappings(*space, {.kind = MapperKind::Optimal, .seconds = 60}, context);
        proven += result && (*result)->proven;
    }
    state.counters["proven"] = benchmark::Counter(proven, benchmark::Counter::kAvgIterations);
}
BENCHMARK(BM_MapperOptimal)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(BM_MapperRandom)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_MapperAnnealing)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
