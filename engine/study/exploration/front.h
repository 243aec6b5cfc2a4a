#pragma once

// Which points no other one beats, and how much of the plane they cover.

#include <cstddef>
#include <span>
#include <vector>

namespace orrery {

/// Numbers of many points, all to be made small: row i holds the `width` numbers of point i.
struct Costs {
    std::size_t width = 0;
    std::vector<double> value, low, high;
    std::size_t size() const { return width == 0 ? 0 : value.size() / width; }
};

struct Front {
    /// Points that no other one beats by its values: at most as much in every number and less in one. In the order of
    /// the first number; of equal points the first.
    std::vector<std::size_t> points;
    /// Of all others, those that may belong to it for all that is known: no other one's whole interval lies below
    /// theirs, in every number. In the order given.
    std::vector<std::size_t> possible;
};
/// Points with a number that is none are never in it. O(n log n + n × front).
Front frontOf(const Costs& costs);

/// What a front covers up to a reference point, in the product of the units: exact for any width (Fonseca, Paquete,
/// López-Ibáñez 2006's slicing, without its bounds: fine for fronts of some hundreds in up to four numbers).
double hypervolume(const Costs& costs, std::span<const std::size_t> points, std::span<const double> reference);

}  // namespace orrery
