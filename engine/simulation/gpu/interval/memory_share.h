#pragma once

// What lies behind one SM when all of them do the same: its part of the network, the slices and the channels, as
// servers that every request holds for as long as those of all SMs together would. An event per sector.

#include "simulation/gpu/counters.h"
#include "simulation/gpu/interval/event_wheel.h"
#include "simulation/gpu/interval/first_burst.h"
#include "simulation/gpu/interval/memory_behind.h"
#include "simulation/gpu/interval/wave_traffic.h"

#include <vector>

namespace orrery::gpusim {

/// One block of the SM, and those that run beside it on other SMs.
struct RepresentedBlock {
    std::int64_t block = 0;
    double peers = 1;                      ///< SMs that run one like it, this one too
    const WaveTraffic* traffic = nullptr;  ///< of its wave
    const FirstBurst* burst = nullptr;     ///< where all SMs begin at once
};

class MemoryShare final : public MemoryBehind {
public:
    MemoryShare(const Machine& machine, EventWheel& wheel, RequestStore& requests, int warpsPerBlock);
    /// From now on the slot's requests are those of the block; `whole` says what it touches over its whole main loop.
    void place(int slot, const RepresentedBlock& block, const KernelTemplate& whole);
    void send(std::uint32_t request, std::uint64_t at) override;
    bool takes(std::size_t) const override {
        return port_ - static_cast<double>(wheel_.now()) < machine_.networkBuffers * period_;
    }
    /// At the event of an answered request: whether it reaches the SM now; if not, it comes again.
    bool replies(std::uint32_t request);
    /// Of this SM's requests; of main memory its part of the sectors that others ask for too.
    Counters counts() const;

private:
    struct Operand {
        TemplateRegion region;
        double ends = 0;     ///< its last place, behind `first`
        double sectors = 0;  ///< asked for until each has come once
        double missed = 0;   ///< what of `WaveTraffic::missing` is left over
    };
    struct Slot {
        RepresentedBlock block;
        std::vector<Operand> operands;
        double sent = 0;  ///< requests
    };
    Operand& operandOf(Slot& slot, std::uint64_t address, std::size_t& at);
    double claim(double& free, double from, double period) const;

    const Machine& machine_;
    EventWheel& wheel_;
    RequestStore& requests_;
    int warpsPerBlock_;
    std::vector<Slot> slots_;
    double period_ = 1, l2Cycle_ = 1, dramCycle_ = 1;
    double port_ = 0, slices_ = 0, channels_ = 0, replyPort_ = 0;
    CacheCounts l2_;
    std::uint64_t packets_ = 0;
    double dramReads_ = 0, dramWrites_ = 0, opened_ = 0;
};

}  // namespace orrery::gpusim
