#include "simulation/gpu/sampling/wave_signatures.h"

#include "base/hash.h"

#include <cmath>

namespace orrery::gpusim {

namespace {

// By static instruction: executions, and sectors or passes.
struct Counts {
    std::vector<double> runs, asks;
    double all = 0;
    void add(const TraceBlock& block, const std::vector<StaticInstruction>& statics) {
        runs.resize(statics.size()), asks.resize(statics.size());
        for (const Executed& one : block.instructions) {
            ++runs[one.what];
            if (statics[one.what].unit == Unit::Mem) asks[one.what] += one.count;
        }
        all += static_cast<double>(block.instructions.size());
    }
    void add(const Counts& other) {
        runs.resize(std::max(runs.size(), other.runs.size())), asks.resize(runs.size());
        for (std::size_t i = 0; i < other.runs.size(); ++i) runs[i] += other.runs[i], asks[i] += other.asks[i];
        all += other.all;
    }
    template <class Key>
    Signature signature(std::uint64_t seed, const Key& key) const {
        Signature out{};
        for (std::size_t i = 0; i < runs.size(); ++i) {
            RandomStream random(seed, key(i));
            const Signature run = signatureDirection(random), ask = signatureDirection(random);
            if (runs[i] > 0) addTo(out, run, runs[i] / all);
            if (asks[i] > 0) addTo(out, ask, asks[i] / all);
        }
        return out;
    }
};

}  // namespace

Expected<WaveSignatures> readSignatures(KernelSource& kernel, std::span<const Wave> waves, std::uint64_t seed,
                                        const std::stop_token& stop) {
    WaveSignatures out;
    Counts whole;
    TraceBlock block;
    for (const Wave& wave : waves) {
        Counts counts;
        for (std::int64_t b = 0; b < wave.blocks; ++b) {
            if (stop.stop_requested()) return fail("gpu.stopped", "stopped while the trace was read");
            auto got = kernel.next(block, {0, 1});
            if (!got) return tl::unexpected(got.error());
            if (!*got)
                return fail("gpu.trace", "the trace has fewer thread blocks than its grid", {},
                            "was the file copied whole?", {kernel.path(), 0, 0, {}});
            counts.add(block, kernel.statics());
        }
        out.waves.push_back(counts.signature(seed, [](std::size_t i) { return 1000 + i; }));
        out.instructions.push_back(counts.all);
        whole.add(counts);
    }
    out.all = whole.all;
    // A kernel of the same name has the same code; its instructions are met in another order where it branches.
    const auto texts = kernel.texts();
    const std::uint64_t name = Hash().add(kernel.header().name).value();
    out.kernel = whole.signature(
        seed, [&](std::size_t i) { return mixedBits(name ^ mixedBits(i < texts.size() ? texts[i].pc : i)); });
    // A quarter for each doubling: as far as if an eighth of all instructions were others.
    RandomStream random(seed, 1);
    const auto blocks = static_cast<double>(kernel.header().blocks());
    addTo(out.kernel, signatureDirection(random), std::log2(std::max(1.0, whole.all)) / 4);
    addTo(out.kernel, signatureDirection(random), std::log2(blocks) / 4);
    return out;
}

}  // namespace orrery::gpusim
