#include "simulation/gpu/interval/sm_model.h"

#include <algorithm>

namespace orrery::gpusim {

SmModel::SmModel(const Machine& machine, EventWheel& wheel, RequestStore& requests, MemoryBehind& memory, int id)
    : machine_(machine),
      wheel_(wheel),
      requests_(requests),
      memory_(memory),
      id_(id),
      warps_(static_cast<std::size_t>(machine.warps())),
      blocks_(static_cast<std::size_t>(machine.maxBlocks)),
      lanes_(static_cast<std::size_t>(machine.schedulers)),
      blocked_(static_cast<std::size_t>(machine.l1Banks)),
      inBank_(static_cast<std::size_t>(machine.l1Banks), 0) {
    const auto n = static_cast<std::size_t>(machine.schedulers);
    for (Lane& lane : lanes_) {
        const std::size_t warps = (warps_.size() + n - 1) / n;
        lane.ready.assign(warps, forever), lane.unit.assign(warps, 0), lane.age.assign(warps, 0);
        lane.collectors.assign(std::max<std::size_t>(1, static_cast<std::size_t>(machine.collectors) / n), 0);
        lane.banks.assign(std::max<std::size_t>(1, static_cast<std::size_t>(machine.registerBanks) / n), 0);
    }
    l1_.configure(machine.l1, machine.l1DirtyPercent);
}

void SmModel::begin(int l1Ways, const KernelSource& kernel, int blocksThatFit, bool changesL1) {
    if (changesL1 && l1Ways != l1_.ways()) l1_.setWays(l1Ways);
    statics_ = &kernel.statics();
    blocksThatFit_ = blocksThatFit;
    warpsPerBlock_ = kernel.header().warps();
    threadsPerBlock_ = kernel.header().threads();
    lastPath_ = {};
    counts = {};
}

int SmModel::freeSlot() const {
    for (int i = 0; i < blocksThatFit_; ++i) {
        if (!blocks_[static_cast<std::size_t>(i)].used) return i;
    }
    return -1;
}

void SmModel::settle(std::uint64_t now) {
    const std::uint64_t cycles = now > last_ ? now - last_ : 0;
    last_ = now;
    if (usedBlocks_ == 0 || cycles == 0) return;
    counts.activeSmCycles += cycles;
    counts.residentWarpCycles += cycles * static_cast<unsigned>(resident_);
    for (Lane& lane : lanes_) {
        const std::uint64_t waited = cycles - (lane.issued ? 1 : 0);
        lane.issued = false;
        (lane.state == Lane::State::Idle         ? counts.stallNoInstruction
         : lane.state == Lane::State::Dependence ? counts.stallDependence
                                                 : counts.stallUnit) += waited;
    }
}

void SmModel::place(TraceBlock& trace, std::uint64_t now, const WarpPath& path) {
    settle(now + 1);
    const int slot = freeSlot();
    Block& block = blocks_[static_cast<std::size_t>(slot)];
    block.used = true;
    std::swap(block.trace, trace);
    block.live = block.running = warpsPerBlock_, block.arrived = 0;
    ++usedBlocks_, ++counts.blocks;
    resident_ += warpsPerBlock_;
    for (int i = 0; i < warpsPerBlock_; ++i) {
        const auto id = static_cast<std::uint32_t>(slot * warpsPerBlock_ + i);
        Warp& warp = warps_[id];
        warp.at = block.trace.begin[static_cast<std::size_t>(i)];
        warp.end = block.trace.begin[static_cast<std::size_t>(i) + 1];
        warp.lanes = lanesUpTo(std::min(machine_.lanes, threadsPerBlock_ - machine_.lanes * i));
        warp.exited = 0, warp.latest = now;
        warp.live = true, warp.done = warp.barrier = warp.fence = warp.isLeaving = false;
        warp.loads = warp.stores = warp.atomics = warp.awaitedGroups = warp.oldestGroup = 0;
        warp.block = static_cast<std::uint8_t>(slot);
        warp.groups.assign(1, 0);
        warp.path = path;
        warp.registers.assign(256, {});
        // Four warps are fetched and decoded in a cycle; the last of them is decoded in the next one.
        const int perCycle = std::max(1, machine_.fetches);
        warp.resumes = {now + 2 + static_cast<unsigned>(i / perCycle + (i % perCycle == perCycle - 1 ? 1 : 0)), 0,
                        Cause::Start};
        Lane& lane = laneOf(id);
        lane.age[slotOf(id)] = ages_++;
        if (warp.at == warp.end) {
            warp.done = true;
            --block.running;
            maybeLeave(id, now + 1);
        }
        prepare(id);
    }
}

void SmModel::poke(std::uint64_t at) {
    if (at >= next_) return;
    next_ = at;
    wheel_.push(at, EventWheel::Kind::Wake, static_cast<std::uint32_t>(id_));
}

// When the warp's next instruction has all that it needs, and what was the last of it.
void SmModel::prepare(std::uint32_t id) {
    Warp& warp = warps_[id];
    Lane& lane = laneOf(id);
    auto& ready = lane.ready[slotOf(id)];
    ready = forever;
    if (!warp.live || warp.done || warp.barrier || warp.fence || warp.atomics > 0 || warp.awaitedGroups > 0) return;
    const StaticInstruction& one = (*statics_)[blocks_[warp.block].trace.instructions[warp.at].what];
    lane.unit[slotOf(id)] = static_cast<std::uint8_t>(one.unit);
    const Ready* latest = &warp.resumes;
    const auto needs = [&](int reg) {
        const Ready& r = warp.registers[static_cast<std::size_t>(reg)];
        if (r.at > latest->at) latest = &r;
    };
    if (one.destination >= 0) needs(one.destination);
    for (unsigned i = 0; i < one.sources; ++i) needs(one.source[i]);
    if (latest->at == forever) return;
    warp.next = *latest;
    ready = warp.next.at;
    poke(std::max(ready, wheel_.now()));
}

// All go on along the path of the last that came.
void SmModel::releaseBarrier(Block& block, std::uint64_t now, const WarpPath& path) {
    block.arrived = 0;
    const WarpPath last = path;
    const auto first = static_cast<std::size_t>(&block - blocks_.data()) * static_cast<std::size_t>(warpsPerBlock_);
    for (std::size_t i = 0; i < static_cast<std::size_t>(warpsPerBlock_); ++i) {
        Warp& warp = warps_[first + i];
        if (!warp.barrier) continue;
        warp.barrier = false;
        warp.path = last;
        warp.resumes = {now + 1, 0, Cause::Compute};
        prepare(static_cast<std::uint32_t>(first + i));
    }
}

void SmModel::maybeLeave(std::uint32_t id, std::uint64_t now) {
    Warp& warp = warps_[id];
    if (!warp.done || !warp.live || warp.isLeaving || warp.loads > 0 || warp.stores > 0) return;
    warp.isLeaving = true;
    wheel_.push(std::max(now, warp.latest), EventWheel::Kind::Leave, static_cast<std::uint32_t>(id_) * 64u + id);
}

bool SmModel::leave(std::uint32_t id) {
    const std::uint64_t now = wheel_.now();
    Warp& warp = warps_[id];
    Block& block = blocks_[warp.block];
    settle(now);
    warp.live = false;
    // What its last results, or stores that are not yet acknowledged, took.
    if (now > warp.path.until) {
        warp.path.stack.idle += static_cast<double>(now - warp.path.until);
        warp.path.until = now;
    }
    --resident_;
    if (--block.live > 0) return false;
    lastPath_ = warp.path;
    block.used = false;
    if (--usedBlocks_ == 0 && machine_.invalidatesL1) l1_.invalidate();
    return true;
}

}  // namespace orrery::gpusim
