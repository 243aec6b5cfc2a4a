#include "mapping/nest_edit.h"

#include <algorithm>
#include <optional>

namespace orrery {

namespace {

std::optional<LoopPlace> partnerOf(const NestMapping& mapping, LoopPlace loop) {
    const std::uint8_t dimension = mapping.levels[loop.level].loops[loop.index].dimension;
    for (std::size_t level = mapping.levels.size(); level-- > 0;) {
        const auto& loops = mapping.levels[level].loops;
        for (std::size_t index = loops.size(); index-- > 0;) {
            if (loops[index].dimension == dimension && loops[index].kind == LoopKind::Temporal &&
                LoopPlace{level, index} != loop)
                return LoopPlace{level, index};
        }
    }
    return std::nullopt;
}

bool perfect(const NestLoop& loop) {
    return loop.residual == loop.bound;
}

std::int64_t together(const NestMapping& mapping, LoopPlace loop) {
    const NestLoop& own = mapping.levels[loop.level].loops[loop.index];
    const auto partner = partnerOf(mapping, loop);
    if (!partner) return own.bound;
    const NestLoop& other = mapping.levels[partner->level].loops[partner->index];
    return perfect(own) && perfect(other) ? own.bound * other.bound : own.bound;
}

// Of its level: spatial loops stand first.
std::size_t spatialCount(const LevelMapping& level) {
    return static_cast<std::size_t>(
        std::ranges::count_if(level.loops, [](const NestLoop& loop) { return loop.kind != LoopKind::Temporal; }));
}

std::size_t allowedIndex(const LevelMapping& level, std::size_t index, LoopKind kind) {
    const std::size_t spatial = spatialCount(level);
    return kind == LoopKind::Temporal ? std::clamp(index, spatial, level.loops.size()) : std::min(index, spatial);
}

}  // namespace

bool holds(const NestMapping& mapping, LoopPlace at) {
    return at.level < mapping.levels.size() && at.index < mapping.levels[at.level].loops.size();
}

std::int64_t nextBound(const NestMapping& mapping, LoopPlace loop, bool larger) {
    const std::int64_t own = mapping.levels[loop.level].loops[loop.index].bound;
    const std::int64_t all = together(mapping, loop);
    // Divisors come in pairs, so walking up to the square root meets all.
    std::int64_t best = own;
    const auto consider = [&](std::int64_t divisor) {
        if (larger ? divisor > own && (best == own || divisor < best)
                   : divisor < own && (best == own || divisor > best))
            best = divisor;
    };
    for (std::int64_t low = 1; low <= all / low; ++low) {
        if (all % low != 0) continue;
        consider(low);
        consider(all / low);
    }
    return best;
}

bool setBound(NestMapping& mapping, LoopPlace& loop, std::int64_t bound) {
    const NestLoop before = mapping.levels[loop.level].loops[loop.index];
    if (bound == before.bound) return true;
    const std::int64_t all = together(mapping, loop);
    if (bound < 1 || all % bound != 0 || !perfect(before)) return false;
    auto partner = partnerOf(mapping, loop);
    if (!partner) {
        LevelMapping& outer = mapping.levels.back();
        outer.loops.push_back({before.dimension, LoopKind::Temporal, 1, 1});
        partner = LoopPlace{mapping.levels.size() - 1, outer.loops.size() - 1};
    }
    NestLoop& own = mapping.levels[loop.level].loops[loop.index];
    NestLoop& other = mapping.levels[partner->level].loops[partner->index];
    if (!perfect(other)) return false;
    own.bound = own.residual = bound;
    other.bound = other.residual = all / bound;
    removeTrivial(mapping, loop);
    return true;
}

LoopPlace moveLoop(NestMapping& mapping, LoopPlace from, LoopPlace to) {
    auto& source = mapping.levels[from.level].loops;
    const NestLoop loop = source[from.index];
    source.erase(source.begin() + static_cast<std::ptrdiff_t>(from.index));
    if (to.level == from.level && to.index > from.index) --to.index;
    LevelMapping& target = mapping.levels[to.level];
    to.index = allowedIndex(target, std::min(to.index, target.loops.size()), loop.kind);
    target.loops.insert(target.loops.begin() + static_cast<std::ptrdiff_t>(to.index), loop);
    return to;
}

LoopPlace setKind(NestMapping& mapping, LoopPlace loop, LoopKind kind) {
    LevelMapping& level = mapping.levels[loop.level];
    NestLoop changed = level.loops[loop.index];
    changed.kind = kind;
    level.loops.erase(level.loops.begin() + static_cast<std::ptrdiff_t>(loop.index));
    loop.index = allowedIndex(level, loop.index, kind);
    level.loops.insert(level.loops.begin() + static_cast<std::ptrdiff_t>(loop.index), changed);
    return loop;
}

bool toggleKeep(NestMapping& mapping, std::size_t level, std::size_t tensor) {
    if (level + 1 >= mapping.levels.size() || tensor >= maxNestTensors) return false;
    mapping.levels[level].keeps ^= 1u << tensor;
    return true;
}

void removeTrivial(NestMapping& mapping, LoopPlace& kept) {
    for (std::size_t level = 0; level < mapping.levels.size(); ++level) {
        auto& loops = mapping.levels[level].loops;
        for (std::size_t index = loops.size(); index-- > 0;) {
            if (loops[index].bound != 1 || LoopPlace{level, index} == kept) continue;
            loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(index));
            if (level == kept.level && index < kept.index) --kept.index;
        }
    }
}

std::int64_t spread(const NestMapping& mapping, LoopKind kind) {
    std::int64_t product = 1;
    for (const LevelMapping& level : mapping.levels) {
        for (const NestLoop& loop : level.loops) {
            if (loop.kind == kind) product *= loop.bound;
        }
    }
    return product;
}

}  // namespace orrery
