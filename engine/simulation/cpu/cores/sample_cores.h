#pragma once

// Cores that run pieces of one kernel side by side, as a thing to draw samples of.

#include "simulation/cpu/core/sampling.h"
#include "simulation/cpu/cores/cores.h"

namespace orrery::pipeline {

/// All run the nest, each on copies of its arrays of its own or that it shares (copiesOf()); the mean of them counts.
class CoresRunner final : public SampleRunner {
public:
    /// `copies` for each core, which are all that the chip has. The nest need not outlive it.
    CoresRunner(const LoopNest& nest, const Chip& chip, const std::vector<std::vector<std::int64_t>>& copies);
    void warm(const OpChunk& chunk) override { cores_.warm(chunk, shifts_); }
    void run(const OpChunk& chunk) override { cores_.run(chunk, shifts_, nullptr); }
    void run(const OpChunk& chunk, std::vector<Passage>& passages) override { cores_.run(chunk, shifts_, &passages); }
    Counters counters() const override;

private:
    std::vector<BoundOp> ops_;
    std::vector<std::vector<std::uint64_t>> shifts_;
    Cores cores_;
};

}  // namespace orrery::pipeline
