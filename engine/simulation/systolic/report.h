#pragma once

// What a run of one layer answers, in the quantities of SCALE-Sim's COMPUTE_REPORT, BANDWIDTH_REPORT,
// DETAILED_ACCESS_REPORT and SPARSE_REPORT.

#include "simulation/systolic/folds.h"
#include "simulation/systolic/ideal_buffer.h"

#include <cstdint>
#include <string>

namespace orrery::systolic {

/// Requests of one kind: the cycles of the first and the last, and how many words. Reads of a sparse array's inputs
/// count once per row that shares them, hence a fraction is possible.
struct Access {
    double start = 0, stop = 0, words = 0;
    double perCycle() const { return words / (stop - start + 1); }
};

struct LayerReport {
    std::string layer;
    Product product;
    std::int64_t folds = 0;
    std::int64_t overallCycles = 0;  ///< from the first prefetch to the last word written to DRAM
    std::int64_t totalCycles = 0;    ///< of the array, stalls among them
    std::int64_t stallCycles = 0;
    std::int64_t ifmapConflictCycles = 0,
                 filterConflictCycles = 0;  ///< waits for banks of an SRAM, overlapping ones too
    double overallUtilization = 0, mappingEfficiency = 0, computeUtilization = 0;  ///< percent
    Access sramIfmap, sramFilter, sramOfmap;
    Access dramIfmap, dramFilter, dramOfmap;
    /// False: the closed form does not predict DRAM traffic of this layer (its input words repeat); the three DRAM
    /// accesses and overallCycles are then 0.
    bool dramKnown = true;
    bool sparse = false;
    FilterStorage storage;  ///< where sparse
};

/// What both ways of answering count alike: SRAM words, averages over folds, storage of sparse filters. Fills all but
/// cycles and DRAM accesses; `stall(cycle)` must be added to the SRAM cycles by who knows the stalls.
LayerReport beginReport(const Array& array, const Layer& layer, const FoldPlan& plan);
/// From cycles and accesses to what is derived from them.
void finishReport(LayerReport& report, const Array& array, const Transfer& ifmap, const Transfer& filter,
                  const Transfer& ofmap);

}  // namespace orrery::systolic
