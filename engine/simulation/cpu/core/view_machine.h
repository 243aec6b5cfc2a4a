#pragma once

// The core of a design as a machine: the pipeline of its microarchitecture, with the clock, caches and memory that are
// drawn.

#include "hardware/views/core_view.h"
#include "simulation/cpu/core/machine.h"

namespace orrery::pipeline {

/// Fails with `core.unknown` where the design names no microarchitecture, or one without a file in `presets/pipelines`.
/// A core has its share of the device's bandwidth at most when it runs alone: all of it, bound by what its own pipeline
/// states.
Expected<Machine> machineOf(const CoreView& view);

}  // namespace orrery::pipeline
