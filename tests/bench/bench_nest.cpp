#include "mapping/nest_evaluator.h"
#include "mapping/timeloop/timeloop.h"

#include <benchmark/benchmark.h>

using namespace orrery;

namespace {

constexpr const char* eyeriss = R"(
arch = {
  arithmetic = { name = "MACs"; instances = 256; word-bits = 16; meshX = 16; };
  storage = (
    { name = "PsumRegFile"; entries = 16; instances = 256; meshX = 16; word-bits = 16; read_bandwidth = 2; write_bandwidth = 2; },
    { name = "WeightRegFile"; entries = 192; instances = 256; meshX = 16; word-bits = 16; read_bandwidth = 2; write_bandwidth = 2; },
    { name = "InputRegFile"; entries = 12; instances = 256; meshX = 16; word-bits = 16; read_bandwidth = 2; write_bandwidth = 2; },
    { name = "DummyBuffer"; entries = 0; instances = 16; meshX = 16; word-bits = 16; },
    { name = "GlobalBuffer"; sizeKB = 128; instances = 1; meshX = 1; word-bits = 16; block-size = 4; read_bandwidth = 16; write_bandwidth = 16; },
    { name = "DRAM"; technology = "DRAM"; instances = 1; word-bits = 16; } );
};
problem = { R = 3; S = 3; P = 14; Q = 14; C = 256; K = 256; N = 1; };
mapping = (
  { target = "PsumRegFile"; type = "datatype"; keep = [ "Outputs" ]; bypass = [ "Weights", "Inputs" ]; },
  { target = "WeightRegFile"; type = "datatype"; keep = [ "Weights" ]; bypass = [ "Inputs", "Outputs" ]; },
  { target = "InputRegFile"; type = "datatype"; keep = [ "Inputs" ]; bypass = [ "Weights", "Outputs" ]; },
  { target = "DummyBuffer"; type = "datatype"; bypass = [ "Weights", "Inputs", "Outputs" ]; },
  { target = "GlobalBuffer"; type = "datatype"; keep = [ "Inputs", "Outputs" ]; bypass = [ "Weights" ]; },
  { target = "PsumRegFile"; type = "temporal"; factors = "K16"; permutation = "KRSPQCN"; },
  { target = "WeightRegFile"; type = "temporal"; factors = "R3 C4"; permutation = "CRSPQKN"; },
  { target = "DummyBuffer"; type = "spatial"; factors = "S3 C4"; permutation = "SCRPQKN"; split = 0; },
  { target = "GlobalBuffer"; type = "spatial"; factors = "Q14"; permutation = "QRSPCKN"; split = 1; },
  { target = "GlobalBuffer"; type = "temporal"; factors = "P14 K4"; permutation = "PKRSQCN"; },
  { target = "DRAM"; type = "temporal"; factors = "C16 K4"; permutation = "CKRSPQN"; } );
)";

// Whole evaluations of one mapping of a ResNet 3 × 3 layer on 256 row-stationary units.
void BM_NestEyeriss256ResNet3x3(benchmark::State& state) {
    auto root = parseTimeloopText(eyeriss, "eyeriss.cfg");
    const auto input = root ? readTimeloop(std::move(*root)) : Unexpected(root.error());
    if (!input || !input->mapping) {
        state.SkipWithError("the input does not read");
        return;
    }
    NestEvaluator evaluator(input->problem, input->hardware);
    NestCounts counts;
    for (auto _ : state) {
        if (evaluator.evaluate(*input->mapping, counts) != MappingFault::None) state.SkipWithError("it does not fit");
        benchmark::DoNotOptimize(counts);
    }
    state.counters["mappings"] =
        benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(BM_NestEyeriss256ResNet3x3);

}  // namespace
