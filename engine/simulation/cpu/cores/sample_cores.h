#pragma once

// Cores that run pieces of one kernel side by side, as a thing to draw samples of.

#include "simulation/cpu/core/sampling.h"
#include "simulation/cpu/cores/cores.h"

namespace orrery::pipeline {

/// They begin each unit together: else one that has fallen behind would run it while the others rest. All run the nest, each on copies of its arrays of its own or that it shares (copiesOf()); the mean of them counts.
class CoresRunner final : public SampleRunner {
public:
    /// `copies` for each core, which are all that the chip has. The nest need not outlive it.
    CoresRunner(const LoopNest& nest, const Chip& chip, const std::vector<std::vector<std::int64_t>>& copies);
    void warm(const OpChunk& chunk) override;
    void run(const OpChunk& chunk) override;
    void run(const OpChunk& chunk, std::vector<Passage>& passages) override;
    Counters counters() const override;

private:
    std::vector<BoundOp> ops_;
    std::vector<std::vector<std::uint64_t>> shifts_;
    Cores cores_;
    bool apart_ = true;  ///< what was passed over took no time, and the cores are where they were
};

}  // namespace orrery::pipeline
