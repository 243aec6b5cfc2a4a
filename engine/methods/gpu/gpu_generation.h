#pragma once

// Which generation a drawn GPU is of: presets/technology/gpu-generations.yaml says what its drawing leaves out.

#include "hardware/views/gpu_view.h"
#include "simulation/gpu/generations.h"

namespace orrery {

/// By the types that its tensor units take and its kind of memory: fp4, fp8, bf16, int8, fp16, as they appeared. Fails
/// with `gpu.generation` where the table is broken or lacks it.
Expected<gpusim::GpuGeneration> generationOf(const GpuView& gpu);

}  // namespace orrery
