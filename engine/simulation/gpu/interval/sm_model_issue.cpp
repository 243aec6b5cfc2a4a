#include "simulation/gpu/interval/sm_model.h"

#include <algorithm>
#include <bit>

namespace orrery::gpusim {

namespace {

constexpr auto memoryUnit = static_cast<std::size_t>(Unit::Mem);

}  // namespace

void SmModel::wake() {
    const std::uint64_t now = wheel_.now();
    if (now != next_) return;
    next_ = forever;
    settle(now);
    std::uint64_t next = forever;
    const std::size_t n = lanes_.size();
    for (std::size_t k = 0; k < n; ++k) {
        Lane& lane = lanes_[(k + now) % n];
        if (lane.issuedAt == now) {
            next = std::min(next, now + 1);
            continue;
        }
        const auto warps = static_cast<int>(lane.ready.size());
        const bool youngest = machine_.scheduler == Scheduler::GreedyThenYoungest;
        const bool greedy = youngest || machine_.scheduler == Scheduler::GreedyThenOldest;
        const bool oldest = greedy || machine_.scheduler == Scheduler::OldestFirst;
        int chosen = -1;
        bool ready = false, waits = false;
        for (int i = 0; i < warps; ++i) {
            const int slot = oldest ? i : (lane.last + 1 + i) % warps;
            const auto at = static_cast<std::size_t>(slot);
            const std::uint64_t when = lane.ready[at];
            if (when > now) {
                next = std::min(next, when);
                waits |= warps_[at * n + (k + now) % n].live && !warps_[at * n + (k + now) % n].done;
                continue;
            }
            const std::size_t unit = lane.unit[at];
            ready = true;
            if (unit == memoryUnit && loadStoreBlocked()) continue;
            if (lane.issue[unit] > now) {
                next = std::min(next, lane.issue[unit]);
                continue;
            }
            if (!oldest) {
                chosen = slot;
                break;
            }
            if (greedy && slot == lane.last) {
                chosen = slot;
                break;
            }
            if (chosen < 0 || (lane.age[at] < lane.age[static_cast<std::size_t>(chosen)]) != youngest) chosen = slot;
        }
        lane.state = ready ? Lane::State::Unit : waits ? Lane::State::Dependence : Lane::State::Idle;
        if (chosen < 0) continue;
        lane.last = chosen, lane.issuedAt = now, lane.issued = true;
        issue(static_cast<std::uint32_t>(static_cast<std::size_t>(chosen) * n + (k + now) % n), lane, now);
        next = std::min(next, now + 1);
    }
    if (next != forever) poke(next);
}

// When its unit takes it: through a collector, which leaves as soon as operands are read and the unit's register is
// free.
std::uint64_t SmModel::collect(const StaticInstruction& one, std::uint32_t id, Lane& lane, std::uint64_t now) const {
    const auto u = static_cast<std::size_t>(one.unit);
    auto& collector = *std::min_element(lane.collectors.begin(), lane.collectors.end());
    const std::uint64_t enters = std::max(now + 1, collector);
    lane.issue[u] = enters;
    const auto passes = static_cast<std::uint64_t>(std::max(1, machine_.registerPasses));
    std::uint64_t read = passes * enters;
    const auto bankOf = [&](unsigned reg) -> std::uint64_t& { return lane.banks[(reg + id) % lane.banks.size()]; };
    for (unsigned i = 0; i < one.sources; ++i) {
        auto& bank = bankOf(one.source[i]);
        const std::uint64_t pass = std::max(bank, passes * enters + 1);
        bank = pass + 1;
        read = std::max(read, pass);
    }
    if (one.destination >= 0) {
        auto& bank = bankOf(static_cast<unsigned>(one.destination));
        bank = std::max(bank, passes * enters) + 1;
    }
    const std::uint64_t leaves = std::max((read + 1) / passes, lane.collected[u]);
    collector = leaves;
    const std::uint64_t starts = std::max(leaves + 1, one.unit == Unit::Mem ? loadStoreFree_ : lane.units[u]);
    lane.collected[u] = starts;
    return starts;
}

// The modern core takes it at once; what it holds shows in when others may issue.
void SmModel::modernIssue(const StaticInstruction& one, std::uint32_t warp, Lane& lane, std::uint64_t now) const {
    const std::uint64_t ports = now + (machine_.lanes > 32 ? 1u : lane.registers.read(one, warp));
    for (auto& free : lane.issue) free = std::max(free, ports);
    if (one.unit != Unit::Mem) {
        auto& free = lane.issue[static_cast<std::size_t>(one.unit)];
        free = std::max(free, now + static_cast<unsigned>(one.initiation));
        return;
    }
    auto& queue = lane.memoryQueue;
    queue[lane.memoryAt] = std::max(now + 12, queue[(lane.memoryAt + 4) % 5] + 4);
    lane.memoryAt = (lane.memoryAt + 1) % 5;
    lane.issue[memoryUnit] = std::max(lane.issue[memoryUnit], queue[lane.memoryAt]);
}

void SmModel::issue(std::uint32_t id, Lane& lane, std::uint64_t now) {
    Warp& warp = warps_[id];
    Block& block = blocks_[warp.block];
    const Executed& executed = block.trace.instructions[warp.at];
    const StaticInstruction& one = (*statics_)[executed.what];
    const auto u = static_cast<std::size_t>(one.unit);

    // Where the cycles since this warp's last instruction went.
    WarpPath& path = warp.path;
    CycleStack& stack = path.stack;
    std::uint64_t from = path.until;
    if (warp.next.at > from) {
        const auto waited = static_cast<double>(warp.next.at - from);
        if (warp.next.cause == Cause::Memory) {
            const double queue = std::min(waited, static_cast<double>(warp.next.queue));
            stack.memoryQueue += queue, stack.memoryData += waited - queue;
        } else {
            (warp.next.cause == Cause::Start ? stack.idle : stack.dependency) += waited;
        }
        from = warp.next.at;
        ++path.intervals;
    }
    if (now > from) {
        const std::uint64_t held = std::min(now, std::max(from, lane.issue[u])) - from;
        (one.unit == Unit::Mem ? stack.memoryPipe : stack.mathPipe) += static_cast<double>(held);
        stack.base += static_cast<double>(now - from - held);
    }
    stack.base += 1;
    path.until = now + 1;
    ++path.instructions;

    const auto lanes = static_cast<unsigned>(std::popcount(executed.mask));
    ++counts.warpInstructions;
    counts.threadInstructions += lanes;
    counts.lanes[static_cast<std::size_t>(one.energy)] += lanes;
    counts.registerReads += static_cast<std::uint64_t>(lanes) * one.sourcesWritten;
    if (one.destination >= 0) counts.registerWrites += lanes;
    if (one.unit == Unit::Mem) ++counts.memoryInstructions;

    const bool modern = machine_.modernCore;
    std::uint64_t starts = now;
    if (modern)
        modernIssue(one, id, lane, now);
    else
        starts = collect(one, id, lane, now);
    if (modern && one.unit == Unit::Mem) starts = std::max(now + 3, loadStoreFree_);

    ++warp.at;
    const bool branches = machine_.lanes > 32 && one.unit == Unit::Special1;
    warp.resumes = {now + static_cast<unsigned>(branches ? one.latency : machine_.issueEvery), 0, Cause::Compute};
    if (one.unit == Unit::Mem) {
        toMemory(id, executed, one, starts, now);
    } else {
        lane.units[u] = starts + static_cast<unsigned>(one.initiation);
        const std::uint64_t result = starts + static_cast<unsigned>(one.latency) + (modern ? 0 : 2);
        warp.latest = std::max(warp.latest, result);
        if (one.destination >= 0)
            warp.registers[static_cast<std::size_t>(one.destination)] = {result, 0, Cause::Compute};
    }
    switch (one.action) {
        case Action::Exit:
            warp.exited |= executed.mask;
            break;
        case Action::Barrier:
            warp.barrier = true;
            ++block.arrived;
            break;
        case Action::Fence:
            if (warp.loads > 0) {
                warp.fence = true;
            } else {
                warp.resumes = {std::max(now + 1, warp.latest), 0, Cause::Compute};
                if (machine_.invalidatesL1) l1_.invalidate();
            }
            break;
        case Action::CloseGroup:
            warp.groups.push_back(0);
            break;
        case Action::AwaitGroup:
            warp.awaitedGroups =
                std::max(0, static_cast<int>(warp.groups.size()) - 1 - static_cast<int>(executed.count));
            checkGroups(id, now + 1);
            break;
        default:
            break;
    }
    if ((warp.exited & warp.lanes) == warp.lanes || warp.at == warp.end) {
        warp.done = true;
        --block.running;
        if (warp.barrier) --block.arrived;
        maybeLeave(id, now + 1);
    }
    if (block.arrived > 0 && block.arrived >= block.running) releaseBarrier(block, now, warp.path);
    if (warp.at < warp.end || warp.done) prepare(id);
}

}  // namespace orrery::gpusim
