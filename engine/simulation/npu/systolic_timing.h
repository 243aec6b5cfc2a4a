#pragma once

// When a systolic array takes its next matrix instruction and when a result is there. An instruction multiplies up to
// `height` rows with one tile of weights (height × width). The rules are those of ONNXim (Ham et al.: ONNXim: A Fast,
// Cycle-level Multi-core NPU Simulator, IEEE CAL 2024), which follow Gemmini's execute unit (Genc et al., DAC 2021):
//
//   weight-stationary  result after   height + width - 2 + max(rows, 4)
//                      next starts    max(rows, 4) later, or `height` later if it brings new weights (preload)
//                      idle array     a preload waits 2·height - 1 for its weights to be read and shifted in
//                      arrays that load weights behind the ones in use (Jouppi et al., ISCA 2017, section 2) ask only
//                      that weights stay for `height` cycles
//   output-stationary  result after   height + width - 2 + depth   (depth: length of the reduction)
//                      next starts    max(depth, height) later: results leave while the next operands enter

#include "simulation/npu/machine.h"

#include <cstdint>

namespace orrery {

inline constexpr std::int64_t leastRows = 4;     ///< an instruction of fewer rows takes as long as one of these
inline constexpr std::int64_t issueCycles = 1;   ///< from the queue into the array
inline constexpr std::int64_t retireCycles = 1;  ///< from the result to whoever waits for it

/// A block of matrix instructions that one core runs without a gap.
struct GemmBlock {
    std::int64_t weightTiles = 1;  ///< each is preloaded once and meets all rows
    std::int64_t runs = 1;         ///< stretches of rows that no instruction spans, such as rows of an image
    std::int64_t runRows = 1;      ///< rows of each
    std::int64_t lastRunRows = 0;  ///< rows of one run more, if not 0
    std::int64_t depth = 1;        ///< length of the reduction; output-stationary arrays read it
    bool background = false;       ///< weights are loaded behind the ones in use

    std::int64_t rows() const { return runs * runRows + lastRunRows; }
};

struct BlockTiming {
    std::int64_t span = 0;      ///< from the first instruction's start to the last one's
    std::int64_t handover = 0;  ///< from the last one's start to that of a next block
    std::int64_t tail = 0;      ///< from the last one's start to its result
    std::int64_t instructions = 0;
    std::int64_t occupied() const { return span + handover; }
};

/// On one array.
BlockTiming blockTiming(const GemmBlock& block, const NpuMachine& machine);
/// On the arrays of one core: weight tiles are dealt out, or else rows, whichever ends first.
BlockTiming coreTiming(const GemmBlock& block, const NpuMachine& machine);
/// Cycles that a preload waits in front of an idle array.
std::int64_t exposedPreload(const NpuMachine& machine);

}  // namespace orrery
