#pragma once

// Measured attention times over four axes: prompt tokens of an iteration (all sequences together), tokens of these
// prompts in the cache before, decoding sequences, tokens in the cache of one of them. The points of a sweep need not
// fill a box: for each pair (prompt tokens, decoding sequences) there are rows of cached tokens of prompts, each with
// its own list of cached tokens of decoding sequences. Between points linear in every axis, beyond the last two of an
// axis extrapolated, below the first held (as LLMServingSim does, github.com/casys-kaist/LLMServingSim).

#include "learning/domain.h"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

class AttentionGrid {
public:
    struct Point {
        std::int32_t chunk = 0, cachedPrompt = 0, decodes = 0, cachedDecode = 0;
        double seconds = 0;
    };
    /// Of two points at one place the last one counts. Not empty.
    static AttentionGrid of(std::vector<Point> points);

    /// Seconds; allocates nothing. O(log points).
    double at(double chunk, double cachedPrompt, double decodes, double cachedDecode) const;
    /// Outside beyond twice the largest measured value of an axis, at the edge beyond the largest.
    DomainVerdict domain(double chunk, double cachedPrompt, double decodes, double cachedDecode) const;
    std::size_t size() const { return seconds_.size(); }

private:
    struct Row {
        std::uint32_t begin = 0, end = 0;  ///< of cachedDecode_ and seconds_
    };
    struct Slice {
        std::uint32_t begin = 0, end = 0;  ///< of cachedPrompt_ and rows_
    };
    double inSlice(std::uint32_t slice, double cachedPrompt, double cachedDecode) const;
    double inRow(std::uint32_t row, double cachedDecode) const;

    std::vector<double> chunks_, decodes_;  ///< the axes that all slices share
    std::vector<std::uint32_t> sliceAt_;    ///< chunks × decodes; where nothing was measured, the nearest slice
    std::vector<Slice> slices_;
    std::vector<double> cachedPrompt_;
    std::vector<Row> rows_;
    std::vector<double> cachedDecode_, seconds_;
    double largestPrompt_ = 0, largestDecode_ = 0;
};

/// Where `x` lies on a rising axis: between `low` and `high`, `share` of the way (0 at low; over 1 beyond the end).
struct AxisPlace {
    std::size_t low = 0, high = 0;
    double share = 0;
};
AxisPlace placeOn(std::span<const double> axis, double x);

}  // namespace orrery
