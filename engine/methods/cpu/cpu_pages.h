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
/// Sets main memory's bandwidth to what it is with these pages (pipeline::reachOf), and says so; changes nothing where
/// one memory lies beside all cores, and for pages in turn. Fails with `cores.no-link` where traffic crosses and
/// nothing with a rate is drawn, with `cores.unlike-nodes`.
Expected<void> placePages(GpuView& cpu, const MemoryNodes& memories, pipeline::Pages pages);

}  // namespace orrery
