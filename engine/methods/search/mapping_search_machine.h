#pragma once

// The machine of Zhang et al., "LLMCompass: Enabling Efficient Hardware Design for Large Language Model Inference",
// ISCA 2024: cores with sub-cores of one systolic array and one vector unit each, a local memory per core, a shared
// cache, and main memory. Tensor cores are taken as systolic arrays of as many multipliers.

#include "hardware/views/gpu_view.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Candidate extents of a core's tile.
inline constexpr std::array<std::int64_t, 6> mappingTileSides{8, 16, 32, 64, 128, 256};
inline constexpr std::array<std::int64_t, 4> mappingTileDepths{16, 32, 64, 128};

/// Cycles that a core takes for one step of its tile, and how the tile was split over the sub-cores.
struct CoreStep {
    double cycles = 0;  ///< 0: the tile does not fit
    std::int16_t splitM = 1, splitN = 1, splitK = 1;
};

/// Array and tile costs for one type.
struct ArrayOfType {
    std::int64_t rows = 0, cols = 0;  ///< of one sub-core's array; 0 where nothing multiplies the type
    bool systolic = true;             ///< false: vector lanes, which have nothing to fill and drain
    /// [m][n][k] over mappingTileSides and mappingTileDepths.
    std::array<std::array<std::array<CoreStep, mappingTileDepths.size()>, mappingTileSides.size()>,
               mappingTileSides.size()>
        steps{};
};

struct SearchMachine {
    double cores = 1, subCores = 4;
    double clock = 1;       ///< Hz that holds under load
    double dram = 1;        ///< bytes per cycle, less what refresh takes
    double l2 = 1;          ///< bytes per cycle
    double l2Bytes = 0;     ///< of data that every core reaches
    double localBytes = 0;  ///< shared memory of a core
    double accumulatorBytes = 0;
    std::array<double, dtypeCount> vectorOps{};  ///< operations per cycle and core
    std::array<double, dtypeCount> specialOps{};
    std::array<ArrayOfType, dtypeCount> arrays{};
    std::vector<std::string> assumptions;
};

/// Cycles of an output-stationary array for m×n outputs and a reduction of k, fold after fold without a gap: the next
/// fold enters while the last one leaves, so that filling and draining are paid once. One fold takes what
/// simulation/systolic/folds.h says.
double systolicCycles(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t rows, std::int64_t cols);

/// Share of a DRAM's time that refreshing takes, tRFC ÷ tREFI of the standard that the design names (`HBM2e`: of its
/// family); 0 where it is not known.
double refreshShare(std::string_view timing);

/// Operations that one exponential costs: the special-function units do sixteen per cycle and core while the vector
/// units do `vectorOpsPerCycle`, plus three around it. 35 for A100 and 19 for MI210 in fp16; the authors state 35 and
/// 18.
double operationsPerExponential(double vectorOpsPerCycle);

SearchMachine searchMachine(const GpuView& gpu);

}  // namespace orrery
