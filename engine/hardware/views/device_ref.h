#pragma once

// A device of a design, named by its place in the tree: what every view is made from. A place may be any component that
// computes, so one die of a package can be asked about as well as the package.

#include "base/diagnostic.h"
#include "hardware/component.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace orrery {

using HardwarePtr = std::shared_ptr<const Hardware>;

struct DeviceRef {
    HardwarePtr design;
    ComponentPath path;  ///< in `design`

    /// Null if the design is null or the path leads nowhere in it.
    const Component* component() const;
    /// Same place of the same snapshot (the designs are compared by address).
    bool operator==(const DeviceRef&) const = default;
};

/// How many of it the whole design holds: the copies of the device times those of everything around it. 0 if the path
/// leads nowhere.
std::int64_t copiesOf(const DeviceRef& device);
/// `system/node/gpu`, for people and for places in diagnostics; empty if the path leads nowhere.
std::string pathText(const DeviceRef& device);

/// All devices of a design in tree order: the outermost packages and dies that compute; in a design without such, the
/// outermost cores, arrays and units. A node of a CPU and `count: 8` GPUs has two; eight GPUs written out are eight.
/// Never empty. Fails with `hardware.no-device` if nothing computes, also for no design.
Expected<std::vector<DeviceRef>> devicesOf(const HardwarePtr& design);
Expected<DeviceRef> firstDevice(const HardwarePtr& design);
/// The device that the component at `path` belongs to: the one that contains it, else the first one inside it. Fails
/// with `hardware.no-device` if there is neither.
Expected<DeviceRef> deviceAt(const HardwarePtr& design, const ComponentPath& path);
/// The first device that holds an array of processing elements (an `array`, or a `tensor_unit` with a dataflow); of a
/// design without packages and dies, the array itself. Fails with `hardware.no-array`.
Expected<DeviceRef> firstArrayDevice(const HardwarePtr& design);

/// A pointer that does not own, for a call that does not outlive `design`.
HardwarePtr borrowed(const Hardware& design);

}  // namespace orrery
