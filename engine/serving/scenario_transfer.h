#pragma once

// How fast keys and values move between two devices of a drawing.

#include "hardware/component.h"
#include "serving/fleet.h"

#include <string>

namespace orrery {

struct DrawnTransfer {
    TransferSpec transfer;
    std::string basis;  ///< one sentence: which network, or what was assumed
};
/// Of replicas with `devices` devices each: the outermost network that both stand in, else the links of the device
/// itself (`linkBandwidth`, B/s), else PCIe 4.0 × 16.
DrawnTransfer transferOf(const Hardware& drawing, const std::string& from, const std::string& to, double linkBandwidth,
                         int devices);

}  // namespace orrery
