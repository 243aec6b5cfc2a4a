#pragma once

// The fast twin of the cycle simulation: the same report by arithmetic on whole folds, for a DRAM that always delivers
// in time. Cycles are
//
//   OS: ceil(M/R)·ceil(N/C)·(K + R + C - 2) - 1
//   WS: ceil(K/R)·ceil(N/C)·(M + 2R + C - 2) - 1
//   IS: ceil(K/R)·ceil(M/C)·(N + 2R + C - 2) - 1
//
// (ISPASS 2020, equations 1 to 4; the tool reports the index of the last cycle, hence - 1). DRAM traffic is found fold
// by fold, from how much of a fold's operand was used since the halves of a buffer last changed.

#include "simulation/systolic/report.h"

namespace orrery::systolic {

/// Cycles without stalls, as reported.
std::int64_t closedFormCycles(const FoldPlan& plan);

struct ClosedFormOptions {
    bool traffic = true;  ///< false: cycles, SRAM words and utilisation only, in constant time per fold
};

/// As `simulate` answers for an ideal bandwidth; of an array with limited bandwidth the least that it can take. Where
/// input words repeat (convolutions with overlapping windows), dramKnown is false.
Expected<LayerReport> closedForm(const Array& array, const Layer& layer, const ClosedFormOptions& options = {});

}  // namespace orrery::systolic
