#pragma once

#include "serving/traffic/traffic.h"

namespace orrery {

/// Slices, scales and cuts, then keeps at most `requests` (0: all) that arrive within `duration` (0: any time).
/// Requests that waited for one that is left out wait for the one that it waited for.
RequestStream edited(RequestStream stream, const TrafficEdit& edit, std::int64_t requests, double duration);

}  // namespace orrery
