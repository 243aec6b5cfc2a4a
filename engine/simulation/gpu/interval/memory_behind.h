#pragma once

// What an SM of the interval model asks, and of whom: requests by sector, and what stands behind the port of an SM.

#include "simulation/gpu/machine.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace orrery::gpusim {

/// How far a request went.
enum class Level : std::uint8_t { L1, L2, Dram };

struct SectorRequest {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0, lanes = 0, load = 0;
    std::uint32_t row = 0, slice = 0;
    std::int32_t next = -1, l1Line = -1, l2Line = -1;
    std::uint16_t sm = 0;
    std::uint8_t bank = 0, warp = 0;
    Level level = Level::L1;
    bool write = false, atomic = false, bypasses = false;
};

class RequestStore {
public:
    std::uint32_t take() {
        if (free_.empty()) {
            all_.emplace_back();
            return static_cast<std::uint32_t>(all_.size() - 1);
        }
        const auto at = free_.back();
        free_.pop_back();
        all_[at] = {};
        return at;
    }
    void give(std::uint32_t at) { free_.push_back(at); }
    SectorRequest& operator[](std::uint32_t at) { return all_[at]; }

private:
    std::deque<SectorRequest> all_;
    std::vector<std::uint32_t> free_;
};

class MemoryBehind {
public:
    virtual ~MemoryBehind() = default;
    /// An SM's request leaves, not before `at`.
    virtual void send(std::uint32_t request, std::uint64_t at) = 0;
    virtual bool takes(std::size_t sm) const = 0;
    /// Cycles from the issue of a load that hits nothing in its way to that of who needs it.
    double unloaded(Level level) const { return unloaded_[static_cast<std::size_t>(level)]; }

protected:
    explicit MemoryBehind(const Machine& machine) {
        // Stages of the cycle simulator between issue and issue (its README): 4 around L1, 9 more to L2 and back.
        const auto& t = machine.dram;
        unloaded_[0] = machine.l1Latency + 4;
        unloaded_[1] = unloaded_[0] + machine.ropLatency + 9;
        unloaded_[2] = unloaded_[1] + machine.dramLatency + 4 +
                       (t.rp + t.rcd + t.cl + t.burst) * machine.coreMhz / machine.dramMhz;
    }

private:
    std::array<double, 3> unloaded_{};
};

}  // namespace orrery::gpusim
