#pragma once

// Networks of which a folding runtime leaves nothing: their output does not depend on their input, so they are a
// constant and take a thousandth of all others. What little remains (the classifier, operators of a constant in the
// last cell, once) is no share of an additive model over all networks, so it is told apart, from known devices that
// fold.

#include <array>
#include <optional>
#include <span>

namespace orrery {

struct NothingLeft {
    static constexpr std::size_t counts = 4;  ///< 1 and the three columns behind it: operators of a constant
    std::array<double, counts> shares{};      ///< of a device's mean latency
    double low = 0, high = 0;                 ///< logarithms by which nine in ten lie around what is told
    double tell(std::span<const double> columns) const;
};

/// Networks of one device in latencies ÷ its mean: least mean of absolute relative errors. Nothing of fewer than five.
std::optional<NothingLeft> nothingLeft(std::span<const std::array<double, NothingLeft::counts>> networks,
                                       std::span<const double> shares);
/// What is believed of another device: the geometric mean, as wide as the widest, and half as much again as devices
/// differ. Of none, somewhere between a ten-thousandth and a tenth.
NothingLeft expectedNothing(std::span<const NothingLeft> known);

}  // namespace orrery
