#pragma once

// Where the children of one level stand in a tensor: how many different tiles they hold at a time (the rest is
// multicast), and which of them find their next tile in a neighbour's hands.

#include "mapping/nest_flat.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery::nest {

class SpatialPositions {
public:
    /// Prepares for one tensor's children at one level.
    void select(const Frame& frame, const FlatNest& flat, std::size_t level, std::size_t tensor);

    std::int64_t fanOut() const { return fanOut_; }
    std::int64_t distinct() const { return distinct_; }

    struct Links {
        std::int64_t linked = 0;            ///< children that get their tile from a neighbour
        std::int64_t distinctUnlinked = 0;  ///< different tiles among the others
    };
    /// Cheap test for whether any neighbour can hold, before all tiles move by `step`, what a child holds afterwards.
    bool mayLink(const Coordinates& step) const;
    Links links(const Coordinates& step);

private:
    void fillKeys();
    std::int64_t countDistinct(bool unlinkedOnly);

    const Projection* projection_ = nullptr;
    const FlatNest* flat_ = nullptr;
    std::size_t level_ = 0, ranks_ = 0;
    std::int64_t fanOut_ = 1, distinct_ = 1, gridX_ = 1, gridY_ = 1;
    Coordinates reach_{};  ///< largest offset of a child, per rank
    bool keysFilled_ = false;
    std::array<std::uint64_t, maxRanks> keyScale_{};
    std::vector<std::uint64_t> keys_;  ///< position of each child as one number
    std::vector<char> linked_;
    std::vector<std::uint64_t> table_;  ///< hash set of keys
    std::vector<std::uint32_t> stamps_;
    std::uint32_t stamp_ = 0;
};

}  // namespace orrery::nest
