#pragma once

// A type that a workload works in and a device has no unit for: what it runs as there, and what is nearest to it.

#include "hardware/views/device_view.h"
#include "workload/costs.h"

#include <optional>

namespace orrery {

struct LackingType {
    DType type = DType::F16;
    DType runsAs = DType::F32;   ///< the next wider one that a unit computes, DeviceView::peakUnit()
    DType nearest = DType::F16;  ///< of as many bits where a unit computes one, the fastest of them; else `runsAs`
    bool operator==(const LackingType&) const = default;
};

/// Of the products of a workload, the type in which most of them are done that no unit of the device computes; none
/// where it computes all. A type that the device cannot even widen is left out.
std::optional<LackingType> lackingType(const CostTable& costs, const DeviceView& device);

}  // namespace orrery
