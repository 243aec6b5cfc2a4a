#pragma once

// Which generation a drawn GPU is of: presets/technology/gpu-generations.yaml says what its drawing leaves out.

#include "hardware/views/gpu_view.h"
#include "simulation/gpu/generations.h"

#include <optional>
#include <string_view>

namespace orrery {

/// By the types that its tensor units take and its kind of memory: fp4, fp8, bf16, int8, fp16, as they appeared. Fails
/// with `gpu.generation` where the table is broken or lacks it.
Expected<gpusim::GpuGeneration> generationOf(const GpuView& gpu);

/// What products on tensor units draw, where that follows from measurements (`tensor_power` of the same table).
struct TensorPower {
    double joulesPerOperation = 0;  ///< of 16 bits, with all that feeds the units, at `clock`; a multiplication and an
                                    ///< addition are two
    double wattsPerSm = 0;          ///< whatever the chip computes
    double joulesPerByte = 0;       ///< of main memory
    double clock = 0;               ///< Hz at which it was measured
};
/// None for a generation of which nothing was measured. Fails with `gpu.generation` where the table is wrong.
Expected<std::optional<TensorPower>> tensorPowerOf(std::string_view generation);
/// Share of the device's clock that its power cap leaves to a kernel of so many operations and bytes in `seconds` at
/// the full clock (hardware/views/power_limit.h); 1 without a cap. Never below what the design states as sustained.
double clockShareOf(const TensorPower& power, const GpuView& gpu, DType type, double operations, double bytes,
                    double seconds);

}  // namespace orrery
