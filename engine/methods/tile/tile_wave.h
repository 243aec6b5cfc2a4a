#pragma once

// `tile-wave`: kernels priced by physics of tiles and waves with few parameters, which are nominal or fitted to
// references (shares of peaks, latencies). What each family computes is in its tile_wave_<family>.h.

#include "methods/kernel_method.h"

namespace orrery {

KernelMethod tileWaveKernels();

}  // namespace orrery
