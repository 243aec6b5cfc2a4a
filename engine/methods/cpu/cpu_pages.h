#pragma once

// Where pages lie on a processor whose parts have memory of their own (NUMA), as an option of its methods: what the
// memories then give all cores together, from the drawn link.

#include "hardware/views/gpu_view.h"
#include "hardware/views/memory_nodes.h"
#include "methods/method.h"
#include "simulation/cpu/cores/chip.h"

#include <string_view>

namespace orrery {

/// `pages`: interleave (what a device view assumes), local, first-node, remote.
MethodOption pagesOption();
/// Fails with `method.bad-option`.
Expected<pipeline::Pages> pagesOf(std::string_view text);
/// Main memory of the device as it is with these pages: the bandwidth that nothing passes (`most` of
/// pipeline::reachOf), latency, name, and one assumption in place of the view's own. Returns what it gives to reads
/// alone, which may be half of that. Changes nothing for pages in turn,
/// which a view assumes, and little where one memory lies beside all cores. Fails with `cores.no-link` where traffic
/// crosses and nothing with a rate is drawn, with `cores.unlike-nodes`.
Expected<BytesPerSecond> placePages(DeviceView& device, const MemoryNodes& memories, pipeline::Pages pages);
/// The same, and as `dramBandwidth` what is expected of it.
Expected<void> placePages(GpuView& cpu, const MemoryNodes& memories, pipeline::Pages pages);
/// The same of a place, by the option `pages` if there is one: for those who take a view beside the method's own.
Expected<BytesPerSecond> placePages(DeviceView& device, const DeviceRef& place, const OptionValues& options);

}  // namespace orrery
