#pragma once

// The best way to run a chain of operators: for each a mapping, and between neighbours whether their intermediate stays
// on the chip, in which tiles of its rows (in the manner of the Fast and Fusiest Mapper, 2026). Partial answers are
// kept operator by operator, for every tile of the last intermediate only those that no other one beats in energy,
// cycles and words that stay; so the work grows with the number of operators, not with the number of ways to group
// them.
//
// The space. Groups of neighbours whose joins are possible; around a group, loops over tiles of rows that all its
// intermediates have, in the order of the first intermediate's ranks, outermost first. Tiles divide the rows of the
// group's last operator. Before a sliding window each operator makes the rows that are new, along the innermost loop,
// while those that the tile before needed as well wait (LoopTree's retained tiles). Where every mapping is looked at,
// and for bounds, it may also make them again (recomputed tiles). Only one loop around a group goes over rows with a
// window. Every tile counts as one in the middle: that the edge of a picture saves some rows is left out.
// Inside, operator after operator runs once per iteration with a placement of placements.h, and an intermediate stands
// whole (its rows of one iteration) at the fusion level. Nothing else survives from one iteration to the next but rows
// that wait and tensors kept resident at the fusion level. Its capacity holds, while an operator runs, the tiles of
// that operator and all that is resident of the group. Each operator is counted by NestEvaluator for one iteration;
// what moves of an intermediate that stays between the fusion level and the store is taken away.

#include "mapping/fusion/placements.h"

namespace orrery {

struct FusionOptions {
    MapObjective objective = MapObjective::Edp;  ///< latency, energy or edp of the whole chain
    PlacementOptions placements;
};

struct PlacedOperator {
    Surroundings around;
    FusedPlacement placement;
};

struct FusedGroup {
    std::size_t first = 0, last = 0;  ///< operators
    struct Loop {
        std::string name;  ///< of the first operator's dimension
        std::int64_t count = 1;
    };
    std::vector<Loop> loops;  ///< around the group, outermost first; empty: one iteration
    double resident = 0;      ///< words of the fusion level
    double held = 0;          ///< words of it at the busiest moment; 0 where nothing can be resident
    double waiting = 0;       ///< of the resident words: rows under a window that the next iteration uses again
    double repeated = 1;      ///< operations done ÷ asked: above 1 where rows under a window are made again
};

struct ChainPlan {
    double energy = 0, cycles = 0;  ///< joules and cycles, every operator as often as it is repeated
    std::vector<PlacedOperator> operators;
    std::vector<FusedGroup> groups;  ///< all operators in order; groups of one are not fused
    double value(MapObjective objective) const;
};

struct FusionResult {
    ChainPlan fused, unfused;  ///< fused is never worse
    bool proven = false;       ///< the whole space was looked at: `fused` is its optimum and its own lower bound
    std::uint64_t evaluated = 0;
    std::size_t partials = 0;  ///< partial answers that were kept
    double seconds = 0;
};

/// Fails with `fusion.no-mapping` (some operator has none), `mapper.objective` (energy asked of an array without
/// energies), `fusion.objective` (an objective that does not add up), `mapper.cancelled`.
Expected<FusionResult> fuseChain(const OperatorChain& chain, const FusionOptions& options, Executor& executor,
                                 std::stop_token stop = {});

}  // namespace orrery
