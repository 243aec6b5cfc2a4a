#include "simulation/cpu/block/block.h"

#include <benchmark/benchmark.h>

using namespace orrery;

namespace {

// From hexadecimal digits to cycles; items are blocks of four to nine instructions.
void BM_BlockFromHex(benchmark::State& state) {
    const auto core = block::loadCore("skl");
    if (!core) return state.SkipWithError(core.error().message.c_str());
    block::Analyser analyser(*core);
    static constexpr std::array<const char*, 4> blocks{
        "488b4308488b4b104801c848894318", "01c341807e7900488b442408488b7028", "480fafc34883c001488903488b4b084839c8",
        "0f59c10f58c2f30f104b04f30f5ec14883c3044839d8"};
    block::Code code;
    block::Prediction answer;
    std::int64_t count = 0;
    for (auto _ : state) {
        const auto bytes = block::readHex(blocks[static_cast<std::size_t>(count++ % 4)]);
        if (!bytes || !block::decode(*bytes, code)) return state.SkipWithError("no code");
        analyser.predict(code, answer);
        benchmark::DoNotOptimize(answer.cycles);
    }
    state.SetItemsProcessed(count);
}
BENCHMARK(BM_BlockFromHex);

}  // namespace
