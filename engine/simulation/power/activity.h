#pragma once

// What a kernel did on a GPU, as counts: what power is computed from, whoever counted.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace orrery {

/// In the order of `gpuEventNames`. Lanes are single lanes of an operation, sectors are of 32 bytes.
enum class GpuEvent : std::uint8_t {
    WarpInstructions,
    Scheduled,  ///< warp instructions that do not access memory
    Pipeline,   ///< warp instructions × the share of their lanes that are active
    RegisterReads,
    RegisterWrites,
    IntLanes,
    IntMultiplyLanes,
    FpAddLanes,
    FpMultiplyLanes,
    SqrtLanes,
    LogLanes,
    SinLanes,
    ExpLanes,
    DoubleMultiplyLanes,
    TensorLanes,
    SharedPasses,
    L1ReadHits,
    L1ReadMisses,
    L1WriteMisses,
    L2ReadHits,
    L2ReadMisses,
    L2WriteHits,
    L2WriteMisses,
    NocPackets,
    DramReads,
    DramWrites,
    DramPrecharges,
};
inline constexpr std::size_t gpuEvents = 27;
inline constexpr std::array<std::string_view, gpuEvents> gpuEventNames{
    "warp_instructions", "scheduled",          "pipeline",        "register_reads",        "register_writes",
    "int_lanes",         "int_multiply_lanes", "fp_add_lanes",    "fp_multiply_lanes",     "sqrt_lanes",
    "log_lanes",         "sin_lanes",          "exp_lanes",       "double_multiply_lanes", "tensor_lanes",
    "shared_passes",     "l1_read_hits",       "l1_read_misses",  "l1_write_misses",       "l2_read_hits",
    "l2_read_misses",    "l2_write_hits",      "l2_write_misses", "noc_packets",           "dram_reads",
    "dram_writes",       "dram_precharges"};

/// Counts of a whole kernel, or of a stretch of its cycles.
struct GpuActivity {
    double cycles = 0;        ///< of the cores' clock
    double idleSms = 0;       ///< without a warp, mean over the cycles
    double lanesPerWarp = 0;  ///< active ones, mean over the warp instructions
    bool textures = false;
    std::array<double, gpuEvents> counts{};

    double& operator[](GpuEvent event) { return counts[static_cast<std::size_t>(event)]; }
    double operator[](GpuEvent event) const { return counts[static_cast<std::size_t>(event)]; }
};

}  // namespace orrery
