#pragma once

// How fast keys and values move between two devices of a drawing.

#include "base/diagnostic.h"
#include "hardware/component.h"
#include "serving/fleet/fleet.h"

#include <optional>
#include <string>

namespace orrery {

struct DrawnTransfer {
    TransferSpec transfer;
    std::string basis;                     ///< one sentence: which network
    std::optional<ComponentPath> network;  ///< of the drawing; none: the devices' own links
};
/// Between replicas whose devices stand at `a` and `b`, `devices` each: the outermost network that both stand in, else
/// the outermost tier that the cluster view finds among them, else the links that the device itself states
/// (`linkBandwidth`, B/s). Fails with `serving.transfer-not-drawn` where there is none of these.
Expected<DrawnTransfer> transferOf(const Hardware& drawing, const ComponentPath& a, const ComponentPath& b,
                                   double linkBandwidth, int devices);

}  // namespace orrery
