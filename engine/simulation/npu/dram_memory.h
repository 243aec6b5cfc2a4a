#pragma once

// Main memory with bank timing (simulation/dram) as the DMA engines see it, and what of its peak a stream gets.

#include "simulation/dram/memory.h"
#include "simulation/npu/memory_model.h"

#include <optional>
#include <string>
#include <string_view>

namespace orrery {

/// Bank by bank. `hertz` is the core's clock: times are converted, completions rounded up to whole core cycles, and
/// `latency` cycles are added for the way between controller and network.
Expected<std::unique_ptr<MemoryModel>> bankMemory(const DramConfig& config, double hertz, std::int64_t latency = 0);

/// Share of the peak bandwidth that a long stream gets that reads and writes 32 KiB in turn, refresh and turnaround of
/// the bus included.
Expected<double> sustainedShare(const DramConfig& config);

/// The same for a timing standard as designs name it (`HBM2`, `DDR4-2400`): the first built-in standard of that family
/// or name, neighbouring bursts in different bank groups. Nothing for a name that is none. Simulated once per name.
struct SustainedShare {
    double share = 1;
    std::string standard;
};
std::optional<SustainedShare> sustainedShareOf(std::string_view timing);

}  // namespace orrery
