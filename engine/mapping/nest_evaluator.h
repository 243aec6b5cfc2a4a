#pragma once

// Counts of a mapping: what every level reads, fills and updates, how long that takes and what it costs. Exact counts
// of the model of Timeloop (Parashar et al., ISPASS 2019); the expected counts of Sparseloop (Wu et al., MICRO 2022)
// where a SparseDesign is given, dense being its special case.

#include "base/diagnostic.h"
#include "mapping/nest_mapping.h"
#include "mapping/problem.h"
#include "mapping/storage.h"

#include <array>
#include <memory>
#include <vector>

namespace orrery {

struct SparseDesign;  ///< mapping/sparse/

/// Counts per instance of one tensor at one level, in words.
struct TensorCounts {
    bool kept = false;
    double tile = 0;       ///< words held at once
    double partition = 0;  ///< words that pass through one instance in all, each counted once
    double reads = 0, fills = 0, updates = 0, temporalReductions = 0;
    double linkTransfers = 0;  ///< words taken from neighbours instead of this level's own network
    double instances = 0;      ///< utilised
    double energy = 0;         ///< joules over all instances
};

struct LevelCounts {
    double cycles = 0;
    double slowdown = 1;  ///< share of full speed that the bandwidth of this level allows
    double energy = 0;    ///< joules over all tensors and instances
    std::array<TensorCounts, maxNestTensors> tensors;
};

struct NestCounts {
    double cycles = 0;
    double computeCycles = 0;  ///< with unlimited bandwidth
    double utilisation = 0;    ///< of the arithmetic units
    double operations = 0;     ///< algorithmic; `computed` are the ones left by gating and skipping
    double computed = 0;
    double energy = 0;                ///< joules
    double arithmeticEnergy = 0;      ///< joules, part of energy
    std::vector<LevelCounts> levels;  ///< parallel to NestHardware::levels
};

/// Why a mapping is refused, cheap to test for in a search.
enum class MappingFault : std::uint8_t { None, Factors, FanOut, Capacity, Utilisation, Keeps };

/// Evaluates many mappings of one problem on one hardware. Not shared between threads: one per thread; no allocation
/// after the first evaluation.
class NestEvaluator {
public:
    NestEvaluator(const NestProblem& problem, const NestHardware& hardware,
                  std::shared_ptr<const SparseDesign> sparse = {});
    ~NestEvaluator();
    NestEvaluator(NestEvaluator&&) noexcept;
    NestEvaluator& operator=(NestEvaluator&&) noexcept;

    MappingFault evaluate(const NestMapping& mapping, NestCounts& counts);
    /// As evaluate, with a sentence, place and hint for a person where it does not fit.
    Expected<NestCounts> explain(const NestMapping& mapping);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace orrery
