#pragma once

// Changes of a mapping by hand. Every one keeps the product of each dimension's bounds: what one loop gains another
// gives.

#include "mapping/nest_mapping.h"
#include "mapping/problem.h"

#include <cstddef>
#include <cstdint>

namespace orrery {

/// A loop of a mapping: level (0 the innermost) and place among its loops, inner to outer.
struct LoopPlace {
    std::size_t level = 0, index = 0;
    bool operator==(const LoopPlace&) const = default;
};

bool holds(const NestMapping& mapping, LoopPlace at);

/// The bound that the loop may have next: the next divisor, upwards or downwards, of what it and its partner cover
/// together; the present bound if there is none. The partner is the outermost other loop of the same dimension, or a
/// new one at the outermost level.
std::int64_t nextBound(const NestMapping& mapping, LoopPlace loop, bool larger);
/// Sets a bound and gives the rest to the partner. False, and nothing changes, if the bound does not divide.
bool setBound(NestMapping& mapping, LoopPlace& loop, std::int64_t bound);

/// Takes a loop out and puts it before the loop that stands at `to` (the level's size: outermost of the level). Returns
/// where it stands then. Spatial loops stay inside the temporal ones of their level, as the hardware has it.
LoopPlace moveLoop(NestMapping& mapping, LoopPlace from, LoopPlace to);

/// Makes a loop temporal or spatial; returns where it stands then.
LoopPlace setKind(NestMapping& mapping, LoopPlace loop, LoopKind kind);

/// A tensor is kept at a level or passes by; the outermost level keeps all.
bool toggleKeep(NestMapping& mapping, std::size_t level, std::size_t tensor);

/// Loops with a bound of 1 say nothing: removes them, except `kept`, which follows.
void removeTrivial(NestMapping& mapping, LoopPlace& kept);

/// Units in use along a direction: the product of the bounds of its spatial loops.
std::int64_t spread(const NestMapping& mapping, LoopKind kind);

}  // namespace orrery
