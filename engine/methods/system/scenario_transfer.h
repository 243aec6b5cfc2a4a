#pragma once

// How fast keys and values move between two devices of a drawing.

#include "hardware/component.h"
#include "serving/fleet/fleet.h"

#include <optional>
#include <string>

namespace orrery {

/// PCIe 4.0 × 16 after encoding and headers, B/s: the way to a host where nothing else is known.
inline constexpr double pcieBandwidth = 25e9;

struct DrawnTransfer {
    TransferSpec transfer;
    std::string basis;                     ///< one sentence: which network, or what was assumed
    std::optional<ComponentPath> network;  ///< of the drawing; none: no network is drawn
};
/// Between replicas whose devices stand at `a` and `b`, `devices` each: the outermost network that both stand in, else
/// the links of the device itself (`linkBandwidth`, B/s), else PCIe 4.0 × 16.
DrawnTransfer transferOf(const Hardware& drawing, const ComponentPath& a, const ComponentPath& b, double linkBandwidth,
                         int devices);

}  // namespace orrery
