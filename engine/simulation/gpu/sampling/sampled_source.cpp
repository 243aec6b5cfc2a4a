#include "simulation/gpu/sampling/sampled_source.h"

namespace orrery::gpusim {

SampledSource::SampledSource(KernelSource& whole, std::span<const Wave> waves)
    : whole_(whole), waves_(waves), header_(whole.header()), instructions_(waves.size(), 0.0) {
    std::int64_t placed = 0;
    for (const Wave& wave : waves) placed += wave.use == WaveUse::Passed ? 0 : wave.blocks;
    header_.grid = {static_cast<int>(placed), 1, 1};
}

Expected<bool> SampledSource::next(TraceBlock& block, const LocalPlace& local) {
    while (wave_ < waves_.size() && at_ == waves_[wave_].blocks) ++wave_, at_ = 0;
    if (wave_ == waves_.size()) return false;
    auto got = whole_.next(block, local);
    if (!got || !*got) return got;
    block.passes = waves_[wave_].use == WaveUse::Passed;
    instructions_[wave_] += static_cast<double>(block.instructions.size());
    ++at_;
    return got;
}

}  // namespace orrery::gpusim
