#pragma once

// A processor and the accelerators that it feeds (the class of SMAUG and gem5-Aladdin): products and convolutions tile
// by tile on the accelerators, everything else on the processor, which also cuts tensors into tiles, gathers them
// again, lays them out anew where the two differ, and keeps caches and scratchpads coherent.

#include "methods/kernel_method.h"

#include <string_view>

namespace orrery {

KernelMethod socOffloadMethod();

/// `copies=flow`: loops that copy are timed by a first order, within a few milliseconds for a whole model.
inline constexpr std::string_view socCopiesKey = "copies", socCopiesFlow = "flow";

}  // namespace orrery
