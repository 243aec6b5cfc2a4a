#pragma once

// From measured blocks of one core to a correction of its bounds, judged on blocks that took no part.

#include "learning/blocks/block_correction.h"

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery::block {

struct MeasuredBlock {
    std::vector<std::uint8_t> bytes;
    double cycles = 0;  ///< per iteration, unrolled
};

struct BlockFitOptions {
    std::uint64_t seed = 1;
    int steps = 500;  ///< trees at most; blocks that are not fitted say when to stop
    std::string source, date;
    std::stop_token stop;
    std::function<void(double share)> onProgress;  ///< 0 to 1
};

/// What a block is for, by a hash of its forms in their order and the seed: blocks that differ in registers,
/// displacements or immediates alone are for the same.
enum class BlockPart : std::uint8_t { Fit, Stop, Reach, Judge };
BlockPart partOf(const Code& code, std::uint64_t seed);

struct BlockFit {
    BlockCorrection correction;  ///< as its file reads: numbers there have six digits
    /// Of the blocks that judge, in the order in which they were given: cycles.
    std::vector<double> before, after, measured;
};

/// Fails with `block.few-blocks` (fewer than 200 to fit, or 20 of any other part), `block.measured` (a time that is not
/// above 0), as train() does, and with `study.cancelled`. Blocks that cannot be read are left out.
Expected<BlockFit> fitBlockCorrection(const std::shared_ptr<const Core>& core, std::span<const MeasuredBlock> blocks,
                                      const BlockFitOptions& options);

}  // namespace orrery::block
