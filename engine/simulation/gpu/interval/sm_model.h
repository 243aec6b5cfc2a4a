#pragma once

// An SM of the interval model: its warps issue in turn, each instruction once, at the first cycle at which its inputs,
// its scheduler and the way to its unit allow. Between two waits a warp runs an interval; what each wait was for is
// added to the warp's stack, which therefore covers all cycles from the kernel's beginning.

#include "simulation/gpu/counters.h"
#include "simulation/gpu/cycle_stack.h"
#include "simulation/gpu/interval/event_wheel.h"
#include "simulation/gpu/interval/memory_behind.h"
#include "simulation/gpu/interval/timed_cache.h"
#include "simulation/gpu/register_cache.h"
#include "simulation/gpu/request.h"
#include "simulation/gpu/trace.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace orrery::gpusim {

/// What the cycles since the kernel's beginning went to, along the path that led here; with the intervals on it.
struct WarpPath {
    CycleStack stack;
    std::uint64_t until = 0;
    std::uint64_t instructions = 0, intervals = 0;
};

class SmModel {
public:
    SmModel(const Machine& machine, EventWheel& wheel, RequestStore& requests, MemoryBehind& memory, int id);
    void begin(int l1Ways, const KernelSource& kernel, int blocksThatFit, bool changesL1);
    bool hasRoom() const { return usedBlocks_ < blocksThatFit_; }
    int freeSlot() const;
    /// Takes a block; what led to the place is `path`.
    void place(TraceBlock& block, std::uint64_t now, const WarpPath& path);
    void wake();
    void l1(std::uint32_t request);
    /// A cycle of L1's way out: a miss leaves, banks whose first access was refused try again.
    void service();
    void reply(std::uint32_t request);
    /// Whether the warp's end was that of its block.
    bool leave(std::uint32_t warp);
    const WarpPath& lastPath() const { return lastPath_; }
    void settle(std::uint64_t now);
    Counters counts;

private:
    static constexpr std::uint64_t forever = ~std::uint64_t{0};
    enum class Cause : std::uint8_t { Compute, Memory, Start };
    struct Ready {
        std::uint64_t at = 0;
        std::uint32_t queue = 0;  ///< of memory: cycles beyond what its level costs without queues
        Cause cause = Cause::Compute;
    };
    struct Warp {
        std::uint32_t at = 0, end = 0;
        LaneMask lanes = 0, exited = 0;
        std::uint64_t latest = 0;  ///< result of fixed latency
        Ready next;                ///< of its next instruction
        Ready resumes;             ///< after a barrier, a fence and the like
        bool live = false, done = false, barrier = false, fence = false, isLeaving = false;
        int loads = 0, stores = 0, atomics = 0, awaitedGroups = 0, oldestGroup = 0;
        std::uint8_t block = 0;
        std::vector<int> groups;
        WarpPath path;
        std::vector<Ready> registers;
    };
    struct Block {
        bool used = false;
        TraceBlock trace;
        int live = 0, arrived = 0, running = 0;
    };
    struct Load {
        std::uint32_t warp = 0;
        std::int32_t left = 0, group = -1;
        std::int16_t destination = -1;
        Level level = Level::L1;
        bool atomic = false;
        std::uint64_t issued = 0;
    };
    struct Lane {  ///< a scheduler with its part of the SM
        std::vector<std::uint64_t> ready;
        std::vector<std::uint8_t> unit;
        std::vector<std::uint64_t> age;
        int last = -1;
        bool issued = false;
        std::uint64_t issuedAt = forever;
        std::array<std::uint64_t, unitCount> issue{}, collected{}, units{};
        std::vector<std::uint64_t> collectors, banks;
        std::array<std::uint64_t, 5> memoryQueue{};  ///< of the modern core: when its last five leave
        std::size_t memoryAt = 0;
        RegisterCache registers;
        enum class State : std::uint8_t { Idle, Dependence, Unit } state = State::Idle;
    };

    Lane& laneOf(std::uint32_t warp) { return lanes_[warp % lanes_.size()]; }
    std::size_t slotOf(std::uint32_t warp) const { return warp / lanes_.size(); }
    void prepare(std::uint32_t warp);
    void poke(std::uint64_t at);
    std::uint64_t collect(const StaticInstruction& one, std::uint32_t warp, Lane& lane, std::uint64_t now) const;
    void modernIssue(const StaticInstruction& one, std::uint32_t warp, Lane& lane, std::uint64_t now) const;
    void issue(std::uint32_t warp, Lane& lane, std::uint64_t now);
    void toMemory(std::uint32_t warp, const Executed& one, const StaticInstruction& what, std::uint64_t from,
                  std::uint64_t now);
    void releaseBarrier(Block& block, std::uint64_t now, const WarpPath& path);
    void maybeLeave(std::uint32_t warp, std::uint64_t now);
    void sectorDone(std::uint32_t load, Level level, std::uint32_t lanes, std::uint64_t at);
    bool look(std::uint32_t request, std::uint64_t now);
    std::uint64_t writeBack(std::uint64_t from);
    void callService(std::uint64_t at);
    bool loadStoreBlocked() const {
        return blockedCount_ > 0 && *std::max_element(inBank_.begin(), inBank_.end()) >= machine_.l1Latency;
    }
    void checkGroups(std::uint32_t warp, std::uint64_t now);

    const Machine& machine_;
    EventWheel& wheel_;
    RequestStore& requests_;
    MemoryBehind& memory_;
    int id_;
    const std::vector<StaticInstruction>* statics_ = nullptr;
    int blocksThatFit_ = 0, usedBlocks_ = 0, warpsPerBlock_ = 1, threadsPerBlock_ = 0;
    std::vector<Warp> warps_;
    std::vector<Block> blocks_;
    std::vector<Lane> lanes_;
    std::vector<Load> loads_;
    std::vector<std::uint32_t> freeLoads_;
    TimedCache l1_;
    std::vector<Fifo<std::uint32_t>> blocked_;  ///< by bank of L1: in order, behind one that was refused
    std::vector<int> inBank_;                   ///< accesses on their way into a bank or blocked at it
    std::size_t blockedCount_ = 0;
    Fifo<std::uint32_t> misses_;
    std::uint64_t served_ = forever;  ///< the next `service`
    std::uint64_t loadStoreFree_ = 0, writeBackFree_ = 0, next_ = forever, last_ = 0, ages_ = 0;
    int resident_ = 0;
    WarpPath lastPath_;
};

}  // namespace orrery::gpusim
