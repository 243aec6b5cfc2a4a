#pragma once

// What holds for all mappings of a space: active dimensions, how tensors follow them, what is counted towards the
// objective, and the skeletons that there are.

#include "mapping/mappers/mapper.h"
#include "mapping/mappers/optimal/remains.h"
#include "mapping/mappers/optimal/skeleton.h"

#include <optional>

namespace orrery::optimal {

struct Facts {
    const Mapspace* space = nullptr;
    MapObjective objective = MapObjective::Edp;
    double joulesPerCycle = 0;         ///< of the objective energy
    std::vector<std::uint8_t> active;  ///< dimensions of the problem longer than 1
    std::vector<TensorFacts> tensors;
    std::array<double, maxNestTensors> sizes{};  ///< words of the whole tensor
    std::vector<Bandwidth> bandwidths;           ///< measure 1 + i
    double latency = 0;                          ///< cycles of all networks
    double arithmetic = 0;                       ///< joules, or 0 where energy is not asked for

    std::size_t levels() const { return space->levels(); }
    std::size_t measures() const { return 1 + bandwidths.size(); }
    /// Factors that a loop (numbered as in MapPoint) may take: one, or any up to a limit.
    bool allows(std::size_t loop, std::size_t a, std::int64_t factor) const {
        const std::int64_t fixed = fixed_[loop][a];
        return fixed ? factor == fixed : factor <= limit_[loop][a];
    }
    /// The least that the objective can be, given measures that are not too large.
    double value(double computeCycles, const Measures& measures) const;

    std::array<std::array<std::int64_t, maxNestDimensions>, 2 * maxMapspaceLevels> fixed_{}, limit_{};
};

Facts makeFacts(const Mapspace& space, MapObjective objective, double joulesPerCycle = 0);

/// Words of a tile with these extents of the active dimensions.
double tileWords(const TensorFacts& tensor, const std::int64_t* extents);

/// All skeletons that constraints, fan-outs and least parallelism allow, best bounds first; none where there are more
/// than `most`.
std::optional<std::vector<Skeleton>> makeSkeletons(const Facts& facts, std::size_t most);

/// A point with the skeleton's keeps and spatial loops, all temporal loops 1.
MapPoint pointOf(const Facts& facts, const Skeleton& skeleton);

/// What no mapping of a space undercuts, whether its factors divide or not: every operation on the most units that
/// fan-outs and constraints allow; every word of a tensor that no window slides over once across each border that the
/// cheapest choice of levels for it has, and beside the arithmetic as often as units that may share it ask; of all that
/// what zeros leave. No capacity and no order is looked at, and windows move nothing.
double plainBound(const Facts& facts, const Remains& remains = {});

}  // namespace orrery::optimal
