#pragma once

// Links and networks among the parts of one device, and how much of main memory's traffic they let pass.

#include "hardware/views/device_parts.h"
#include "hardware/views/device_view.h"

#include <optional>
#include <string>

namespace orrery::detail {

/// Whether both ends of a link are given and lie in the part that holds it, so that it leads to no other device.
bool staysInside(DeviceParts& parts, const Part& link);

/// The network inside the device that fills up first, by bytes of main memory a second; none where no link with a rate
/// joins parts of it. Notes what it reads. Traffic takes shortest ways, split evenly over those of equal length.
std::optional<Interconnect> interconnectOf(DeviceParts& parts, const DeviceRef& ref);

/// Of main memory in a view with an interconnect, whether or not boundMainMemory() has added the link to its name.
std::string ownName(const DeviceView& view);
/// How the assumption begins that boundMainMemory() adds.
std::string pagesInTurn(const Interconnect& way, const std::string& memory);
/// Lowers the bandwidth of the first level to what view.interconnect lets pass, adds its latency, and says so.
void boundMainMemory(DeviceView& view);

}  // namespace orrery::detail
