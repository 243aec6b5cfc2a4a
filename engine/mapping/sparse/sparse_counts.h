#pragma once

// From dense counts to sparse ones: what remains of every access once empty tiles are left out, what formats add, and
// what both do to time and energy. Sparseloop (Wu et al., MICRO 2022), sections 5 and 6: expected values per level,
// with tiles of one tensor independent of those of another.

#include "mapping/nest_evaluator.h"
#include "mapping/sparse/fiber_tree.h"
#include "mapping/sparse/sparse_design.h"

#include <array>
#include <string>
#include <vector>

namespace orrery {

/// An action by what becomes of it.
struct ActionSplit {
    double actual = 0, gated = 0, skipped = 0;
};

/// The same for coordinates, offsets and masks, per rank, innermost first: [rank].metadata and .payload units.
struct FormatSplit {
    std::vector<RankOccupancy> actual, gated, skipped;
};

/// One tensor at one level; counts per instance.
struct SparseTensorCounts {
    bool kept = false, compressed = false, metadata = false;
    int parent = -1, child = -1;  ///< levels that keep the tensor, outwards and inwards
    TileShape shape;
    double tile = 0;       ///< coordinates of a tile
    double occupancy = 0;  ///< expected words of a tile that is there; empty ones stay away where the parent sees them
    double maximum = 0;    ///< words to make room for
    double metadataMaximumBits = 0;
    double instances = 0;  ///< on average
    double denseReads = 0, denseFills = 0, denseUpdates = 0;
    ActionSplit reads, fills, updates;
    FormatSplit formatReads, formatFills, formatUpdates;
    double temporalReductions = 0;
    double compressions = 0, decompressions = 0;
    double energy = 0;  ///< joules over all instances
    FiberTree tree;
    std::vector<RankOccupancy> metadataExpected;
    double density() const { return tile > 0 ? occupancy / tile : 1; }
};

struct SparseLevelCounts {
    std::array<SparseTensorCounts, maxNestTensors> tensors;
};

/// What was found, and room to find it in: keep one per thread and pass it again.
struct SparseWorkspace {
    NestMolds molds;
    std::vector<SparseLevelCounts> levels;
    ActionSplit computes;
    double computeInstances = 0;  ///< on average
    MappingFault fault = MappingFault::None;
    FormatFault formatFault = FormatFault::None;
    int faultLevel = -1, faultTensor = -1;
    double needed = 0, available = 0;  ///< of what did not fit

    // Per level and tensor, used between the steps.
    struct Plan {
        Elimination kind = Elimination::Gating;
        bool on = false, spatial = false, final = false;
        double share = 0, spatialShare = 0;  ///< of accesses left out
        std::uint32_t leaders = 0;
        double shrinkX = 1, shrinkY = 1, average = 1;  ///< of the instances that this level's spatial loops reach
        bool shrinks = false;
        double reads = 0, fills = 0, updates = 0;
    };
    std::vector<std::array<Plan, maxNestTensors>> plans;
    std::array<double, maxNestTensors>
        followed{};  ///< share of operations left out by a tensor's innermost elimination
    std::array<std::uint32_t, maxNestTensors> followedLeaders{};
    std::uint32_t followers = 0;
    std::vector<RankOccupancy> scratch;

    /// A tensor whose positions are packed at a level: share of the passes left, share of the units busy in one.
    struct Packing {
        int level = -1;
        double passes = 1, busy = 1;
    };
    std::array<Packing, maxNestTensors> packing;
};

/// Turns the dense counts of a mapping into those of a sparse design. Also checks what depends on zeros: capacity (with
/// metadata), fan-out (spatial skipping maps more instances than there are), formats. A design without any optimisation
/// leaves the counts as they are.
MappingFault applySparse(const NestProblem& problem, const NestHardware& hardware, const NestMapping& mapping,
                         const SparseDesign& design, SparseWorkspace& work, NestCounts& counts);

/// The last fault for a person.
Diagnostic sparseFault(const NestProblem& problem, const NestHardware& hardware, const SparseWorkspace& work);

}  // namespace orrery
