#pragma once

// Where the labels of the report's roofline can stand without covering anything. Pixels; y grows downwards. For sources
// of this folder only.

#include <cstddef>
#include <optional>
#include <vector>

namespace orrery::store {

struct Disc {
    double x, y, r;
};

struct Box {
    double x, y, w, h;
    bool meets(const Box& other) const;
    bool meets(const Disc& disc) const;
};

/// A straight line as drawn: where it starts, how long it is, and its direction.
struct Slope {
    double x, y, length, cosine, sine;
};

/// Knows what stands on the page (points, lines, names given so far) and finds free places for names, which it then
/// takes.
class LabelPlaces {
public:
    LabelPlaces(Box page, std::vector<Disc> discs, std::vector<Slope> slopes, std::vector<double> roofs);

    struct Spot {
        double along;
        bool above;
    };
    /// For a name of a slope: as near to its start as can be, on either side; at its start if nothing is free.
    Spot alongSlope(std::size_t slope, double wide);
    /// The first of the boxes that is on the page and covers no point, name or slope; nothing if none is.
    std::optional<Box> firstFree(const std::vector<Box>& candidates);

private:
    std::vector<Disc> samples(std::size_t slope, double along, double wide, bool above) const;
    bool isFree(std::size_t slope, double along, double wide, bool above) const;

    Box page_;
    std::vector<Disc> discs_;
    std::vector<Slope> slopes_;
    std::vector<double> roofs_;
    std::vector<Box> boxes_;
};

}  // namespace orrery::store
