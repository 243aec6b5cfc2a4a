#pragma once

// Which generation a drawn GPU is of: presets/technology/gpu-generations.yaml says what its drawing leaves out.

#include "hardware/views/gpu_view.h"
#include "simulation/gpu/generations.h"

namespace orrery {

/// By the types that its tensor units take and its kind of memory: fp4, fp8, bf16, int8, fp16, as they appeared. Fails
/// with `gpu.generation` where the table is broken or lacks it.
Expected<gpusim::GpuGeneration> generationOf(const GpuView& gpu);

/// Share of the device's clock that its power cap leaves to a kernel of so many operations and bytes in `seconds` at
/// the full clock (hardware/views/power_limit.h); 1 without a cap. Never below what the design states as sustained.
double clockShareOf(const gpusim::GpuGeneration::TensorPower& power, const GpuView& gpu, DType type, double operations,
                    double bytes, double seconds);

}  // namespace orrery
