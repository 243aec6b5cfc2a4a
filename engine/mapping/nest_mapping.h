#pragma once

// How the nest is placed on the hardware: per storage level its loops, inner to outer, and which tensors it keeps.

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

enum class LoopKind : std::uint8_t { Temporal, SpatialX, SpatialY };

/// `for K in [0:8)`; the last iteration of an imperfect loop covers `residual` ≤ bound.
struct NestLoop {
    std::uint8_t dimension = 0;
    LoopKind kind = LoopKind::Temporal;
    std::int64_t bound = 1;
    std::int64_t residual = 1;  ///< equal to bound in a perfect loop
    bool operator==(const NestLoop&) const = default;
};

struct LevelMapping {
    /// Inner to outer: spatial loops (the fan-out to the level below) first, then temporal ones. Loops of bound 1
    /// count nothing and may be left out; their place tells the order of ranks to compressed formats.
    std::vector<NestLoop> loops;
    std::uint32_t keeps = ~0u;  ///< bit per tensor; others pass this level by
    bool operator==(const LevelMapping&) const = default;
};

struct NestMapping {
    std::vector<LevelMapping> levels;  ///< parallel to NestHardware::levels
    bool operator==(const NestMapping&) const = default;
};

}  // namespace orrery
