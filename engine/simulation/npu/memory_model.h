#pragma once

// Main memory as the DMA engines see it: bursts go in, completions come out. Two kinds: a pipe of one latency and one
// bandwidth, and the bank-timing simulation of simulation/dram.

#include "base/diagnostic.h"
#include "simulation/event_kernel.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace orrery {

struct MemoryBurst {
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    SimTime arrival = 0;    ///< cycles of the core's clock
    std::uint32_t tag = 0;  ///< the caller's own
    std::uint16_t port = 0;
    bool write = false;
};

struct MemoryCompletion {
    std::uint32_t tag = 0;
    SimTime time = 0;
};

class MemoryModel {
public:
    virtual ~MemoryModel() = default;
    /// Back to time 0 with nothing under way.
    virtual void reset() = 0;
    virtual void submit(const MemoryBurst& burst) = 0;
    virtual bool busy() const = 0;
    /// Moves on to the first completion that is not after `limit` and appends it with all others of its time. False if
    /// there is none.
    virtual bool advance(SimTime limit, std::vector<MemoryCompletion>& completions) = 0;
    virtual std::string description() const = 0;
};

/// First come, first served at `bytesPerCycle`, each burst complete `latency` cycles after its last byte has passed.
std::unique_ptr<MemoryModel> pipeMemory(double bytesPerCycle, std::int64_t latency);

}  // namespace orrery
