#pragma once

// A kernel of which some waves of blocks pass (`TraceBlock::passes`). Its grid is that of the others.

#include "simulation/gpu/sampling/wave_plan.h"
#include "simulation/gpu/trace.h"

#include <span>

namespace orrery::gpusim {

class SampledSource final : public KernelSource {
public:
    /// Both outlive it.
    SampledSource(KernelSource& whole, std::span<const Wave> waves);
    const KernelHeader& header() const override { return header_; }
    Expected<bool> next(TraceBlock& block, const LocalPlace& local) override;
    const std::vector<StaticInstruction>& statics() const override { return whole_.statics(); }
    std::string path() const override { return whole_.path(); }
    CodeExtent code() const override { return whole_.code(); }
    std::vector<InstructionText> texts() const override { return whole_.texts(); }
    /// Warp instructions of each wave, of what has been read.
    const std::vector<double>& instructions() const { return instructions_; }

private:
    KernelSource& whole_;
    std::span<const Wave> waves_;
    KernelHeader header_;
    std::size_t wave_ = 0;
    std::int64_t at_ = 0;  ///< block of the wave
    std::vector<double> instructions_;
};

}  // namespace orrery::gpusim
