#include "mapping/spatial_positions.h"

#include <algorithm>

namespace orrery::nest {
namespace {

// Different sums of steps along one rank, as long as loops neither interleave nor touch other ranks; 0 where they do.
struct Progression {
    std::int64_t step = 0, count = 1, span = 0;
    bool dense = true;  ///< the positions so far are exactly count multiples of step

    bool add(std::int64_t stride, std::int64_t bound) {
        if (count == 1) {
            step = stride;
            count = bound;
        } else if (stride > span) {
            dense = dense && stride == span + step;
            count *= bound;
        } else if (dense && stride % step == 0) {
            count += (bound - 1) * (stride / step);
        } else {
            return false;
        }
        span += stride * (bound - 1);
        return true;
    }
};

}  // namespace

void SpatialPositions::select(const Frame& frame, const FlatNest& flat, std::size_t level, std::size_t tensor) {
    projection_ = &frame.projections[tensor];
    flat_ = &flat;
    level_ = level;
    ranks_ = projection_->ranks;
    keysFilled_ = false;
    fanOut_ = flat.fanOutX[level] * flat.fanOutY[level];
    distinct_ = 1;
    if (fanOut_ == 1) return;
    gridX_ = std::max(frame.meshX[level], flat.fanOutX[level]);
    gridY_ = std::max(frame.meshY[level], flat.fanOutY[level]);
    std::array<Progression, maxRanks> along;
    for (std::size_t r = 0; r < ranks_; ++r) reach_[r] = 0;
    bool simple = true;
    // Inner loops come first, so strides of one dimension only grow; those of two dimensions may not.
    for (std::size_t i = flat.begin[level]; i < flat.spatialEnd[level]; ++i) {
        const FlatLoop& loop = flat.loops[i];
        const std::size_t first = projection_->begin[loop.dimension], last = projection_->begin[loop.dimension + 1];
        simple = simple && last - first <= 1;
        for (std::size_t term = first; term < last; ++term) {
            const std::int64_t stride = projection_->terms[term].coefficient * loop.stride;
            const std::size_t rank = projection_->terms[term].rank;
            reach_[rank] += stride * (loop.bound - 1);
            simple = simple && along[rank].add(stride, loop.bound);
        }
    }
    if (simple) {
        for (std::size_t r = 0; r < ranks_; ++r) distinct_ *= along[r].count;
        return;
    }
    fillKeys();
    distinct_ = countDistinct(false);
}

void SpatialPositions::fillKeys() {
    if (keysFilled_) return;
    keysFilled_ = true;
    // Scales keep differences of two positions apart too; where 64 bits are too few for that, odd factors hash them.
    std::uint64_t scale = 1;
    bool fits = true;
    for (std::size_t r = 0; r < ranks_; ++r) {
        keyScale_[r] = fits ? scale : 0x9E3779B97F4A7C15ull * (2 * r + 1) | 1;
        fits = fits && !__builtin_mul_overflow(scale, 2 * static_cast<std::uint64_t>(reach_[r]) + 1, &scale);
    }
    keys_.assign(static_cast<std::size_t>(fanOut_), 0);
    std::size_t filled = 1;
    for (std::size_t i = flat_->begin[level_]; i < flat_->spatialEnd[level_]; ++i) {
        const FlatLoop& loop = flat_->loops[i];
        std::uint64_t step = 0;
        for (std::size_t term = projection_->begin[loop.dimension]; term < projection_->begin[loop.dimension + 1];
             ++term) {
            step += static_cast<std::uint64_t>(projection_->terms[term].coefficient * loop.stride) *
                    keyScale_[projection_->terms[term].rank];
        }
        for (std::uint64_t n = 1; n < static_cast<std::uint64_t>(loop.bound); ++n) {
            const std::size_t offset = n * filled;
            for (std::size_t k = 0; k < filled; ++k) keys_[offset + k] = keys_[k] + n * step;
        }
        filled *= static_cast<std::size_t>(loop.bound);
    }
    linked_.assign(keys_.size(), 0);
    std::size_t size = 16;
    while (size < 2 * keys_.size()) size *= 2;
    if (table_.size() < size) {
        table_.resize(size);
        stamps_.assign(size, 0);
        stamp_ = 0;
    }
}

std::int64_t SpatialPositions::countDistinct(bool unlinkedOnly) {
    if (++stamp_ == 0) {
        std::fill(stamps_.begin(), stamps_.end(), 0);
        stamp_ = 1;
    }
    std::int64_t different = 0;
    const std::size_t mask = table_.size() - 1;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        if (unlinkedOnly && linked_[i]) continue;
        std::size_t at = (keys_[i] * 0x9E3779B97F4A7C15ull >> 20) & mask;
        while (stamps_[at] == stamp_ && table_[at] != keys_[i]) at = (at + 1) & mask;
        if (stamps_[at] == stamp_) continue;
        stamps_[at] = stamp_;
        table_[at] = keys_[i];
        ++different;
    }
    return different;
}

bool SpatialPositions::mayLink(const Coordinates& step) const {
    if (fanOut_ == 1) return false;
    for (std::size_t r = 0; r < ranks_; ++r) {
        if (step[r] > reach_[r] || step[r] < -reach_[r]) return false;
    }
    return true;
}

SpatialPositions::Links SpatialPositions::links(const Coordinates& step) {
    fillKeys();
    std::uint64_t wanted = 0;
    for (std::size_t r = 0; r < ranks_; ++r) wanted += static_cast<std::uint64_t>(step[r]) * keyScale_[r];
    Links found;
    for (std::int64_t i = 0; i < fanOut_; ++i) {
        const std::int64_t x = i % gridX_, y = i / gridX_;
        const auto holds = [&](bool inGrid, std::int64_t neighbour) {
            return inGrid && neighbour < fanOut_ &&
                   keys_[static_cast<std::size_t>(neighbour)] - keys_[static_cast<std::size_t>(i)] == wanted;
        };
        const bool linked = holds(x > 0, i - 1) || holds(x + 1 < gridX_, i + 1) || holds(y > 0, i - gridX_) ||
                            holds(y + 1 < gridY_, i + gridX_);
        linked_[static_cast<std::size_t>(i)] = linked;
        found.linked += linked;
    }
    found.distinctUnlinked = found.linked == 0 ? distinct_ : countDistinct(true);
    return found;
}

}  // namespace orrery::nest
