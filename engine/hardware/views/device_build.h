#pragma once

// How a DeviceView is filled from the parts of a device; other views start from it.

#include "hardware/views/device_parts.h"
#include "hardware/views/device_view.h"

namespace orrery::detail {

/// The whole view but `used`: who makes a view of it asks the parts at the end. Fails naming the component and
/// attribute that is missing.
Expected<DeviceView> viewOf(DeviceParts& parts, const DeviceRef& ref);
/// Fills peaks, flopEnergy and cores.
Expected<void> fillPeaks(DeviceParts& parts, DeviceView& view);
/// Fills levels from the memories inside the device and those outside that the parts have been asked for.
Expected<void> fillLevels(DeviceParts& parts, DeviceView& view);

}  // namespace orrery::detail
