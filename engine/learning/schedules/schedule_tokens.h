#pragma once

// A schedule as a sequence of tokens (TLP: Zhai et al., "TLP: a deep learning-based cost model for tensor program
// tuning", ASPLOS 2023): one per primitive, which word it is and its numbers, in the order of the program. Nothing is
// worked out from them. Before them stands one token with the operator's extents, which TLP reads from the splits.

#include "learning/schedules/tuning_log.h"

#include <vector>

namespace orrery {

/// Numbers of a token: which word, then the step's numbers as log₂(1 + n) ÷ 3.
inline constexpr std::size_t tokenWidth = 44;
/// Tokens of a schedule at most; what comes later is left out.
inline constexpr std::size_t mostTokens = 48;

/// Appends one row per token and gives their number, at least 1. A record of Ansor has its steps; of AutoTVM each split
/// of a loop and each other knob is a step.
std::size_t appendTokens(const TunedRow& row, std::vector<float>& rows);

}  // namespace orrery
