#pragma once

// What lies behind the SMs, for the interval model: ports of the interconnect and slices as servers of one request a
// cycle, L2 with its sectors under way, channels by the batches of rows that a first-ready scheduler makes of their
// requests. A request is looked at once per hop.

#include "simulation/gpu/address.h"
#include "simulation/gpu/counters.h"
#include "simulation/gpu/interval/crossing.h"
#include "simulation/gpu/interval/memory_behind.h"
#include "simulation/gpu/interval/timed_cache.h"
#include "simulation/gpu/last_level.h"
#include "simulation/gpu/resident.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace orrery::gpusim {

class MemoryModel final : public MemoryBehind {
public:
    MemoryModel(const Machine& machine, EventWheel& wheel, RequestStore& requests);
    void send(std::uint32_t request, std::uint64_t at) override;
    bool takes(std::size_t sm) const override {
        return machine_.idealMemory || toSlices_.waiting(sm) < static_cast<std::size_t>(machine_.networkBuffers);
    }
    /// A packet arrives at a slice.
    void requestAt(std::uint32_t slice);
    /// A packet arrives at an SM: the request that is answered, or none.
    std::int64_t replyAt(std::uint32_t sm) { return replies_.serve(sm); }
    void l2(std::uint32_t request);
    void dram(std::uint32_t request);
    void fill(std::uint32_t request);
    void warm(std::uint64_t sector);
    /// In L2 from now on; with an L2 per die, in the cache behind them.
    void keepResident(std::span<const MemoryRange> ranges);
    Counters counts;

private:
    struct Batch {
        std::uint32_t row = 0;
        double open = 0, last = 0;  ///< columns from, last column at; in cycles of the command clock
    };
    struct Bank {
        std::deque<Batch> batches;
        double activated = -1e9;
    };
    struct Slice {
        TimedCache cache;
        std::vector<std::uint32_t> blocked;  ///< in order, behind one that was refused
        double accepts = 0, looks = 0;
        bool isBlocked = false;
    };
    struct Channel {
        std::vector<Bank> banks;
        std::vector<double> groups;
        double bus = 0, activates = 0, takes = 0;
        bool writing = false;
        LastLevelTags lastLevel{Machine{}};
    };
    bool look(std::uint32_t request, std::uint64_t now);
    void reply(std::uint32_t request, std::uint64_t now);
    void writeBack(Channel& channel, std::uint64_t address, std::uint64_t now, int sectors);
    double serve(Channel& channel, std::uint32_t bank, std::uint32_t row, double at, bool write, int bursts);

    const Machine& machine_;
    EventWheel& wheel_;
    RequestStore& requests_;
    AddressMap map_;
    std::optional<ResidentSectors> resident_;
    std::vector<Slice> slices_;
    std::vector<Channel> channels_;
    Crossing toSlices_, replies_;
    double l2Cycle_ = 1, dramCycle_ = 1;
};

}  // namespace orrery::gpusim
