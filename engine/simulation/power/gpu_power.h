#pragma once

// Watts of a kernel on a GPU from its counts, part by part.

#include "simulation/power/power_table.h"

#include <span>

namespace orrery {

enum class GpuPowerPart : std::uint8_t {
    Constant,  ///< board
    Static,    ///< what leaks while warps are there
    IdleSms,
    InstructionBuffer,
    Scheduler,
    Pipeline,
    Registers,
    Integer,
    IntegerMultiply,
    FloatAdd,
    FloatMultiply,
    SpecialFunctions,
    Double,
    Tensor,
    SharedMemory,
    L1,
    L2,
    Network,
    Memory,
    MemoryControllers,
    Unassigned,  ///< of measured counters: instructions of any kind
};
inline constexpr std::size_t gpuPowerParts = 21;
inline constexpr std::array<std::string_view, gpuPowerParts> gpuPowerPartNames{"constant",
                                                                               "static",
                                                                               "idle_sms",
                                                                               "instruction_buffer",
                                                                               "scheduler",
                                                                               "pipeline",
                                                                               "registers",
                                                                               "integer",
                                                                               "integer_multiply",
                                                                               "float_add",
                                                                               "float_multiply",
                                                                               "special_functions",
                                                                               "double",
                                                                               "tensor",
                                                                               "shared_memory",
                                                                               "l1",
                                                                               "l2",
                                                                               "network",
                                                                               "memory",
                                                                               "memory_controllers",
                                                                               "instructions"};

struct GpuPower {
    std::array<double, gpuPowerParts> watts{};
    double operator[](GpuPowerPart part) const { return watts[static_cast<std::size_t>(part)]; }
    double& operator[](GpuPowerPart part) { return watts[static_cast<std::size_t>(part)]; }
    double total() const;
};

/// At which a kernel runs; 0: as the table.
struct GpuOperatingPoint {
    double clock = 0;    ///< Hz
    double voltage = 0;  ///< V
};

/// What computed in these counts: decides the leakage (AccelWattch, section 4.4).
GpuMix mixOf(const GpuActivity& activity);
/// Mean watts of the stretch: Σ counts × energy × clock / cycles, and what leaks. An energy per event grows with the
/// square of the voltage, leakage in proportion. Nothing runs where `cycles` is 0: constant and idle power.
GpuPower gpuPower(const GpuPowerTable& table, const GpuActivity& activity, GpuOperatingPoint point = {});
/// Mean over stretches, weighed by their cycles, the last partial one included.
GpuPower gpuPower(const GpuPowerTable& table, std::span<const GpuActivity> stretches, GpuOperatingPoint point = {});

/// Counters that hardware has: traffic, and how busy the pipelines were; no instructions by kind.
struct MeasuredGpuCounters {
    GpuActivity traffic;      ///< events of caches, network and memory, cycles and idle SMs
    double pipelineBusy = 0;  ///< share of cycles, 0…1
};
GpuPower gpuPower(const GpuPowerTable& table, const MeasuredGpuCounters& counters, GpuOperatingPoint point = {});

}  // namespace orrery
