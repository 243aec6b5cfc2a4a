#include "simulation/gpu/sm.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace orrery::gpusim {

namespace {

constexpr unsigned remoteQueue = 256;  // cycles of the port that may be asked for ahead

bool isRemote(Action action) {
    return action == Action::RemoteLoad || action == Action::RemoteStore;
}

}  // namespace

// Shared memory of another block of the cluster: the distance, and what its words take at the port.
unsigned Sm::remoteLatency(const Flight& flight, std::uint64_t now) {
    const auto& clusters = machine_.generation.clusters;
    const Block& block = blocks_[warps_[flight.warp].block];
    const double bytes = 128.0 * std::max(1u, flight.count);
    const auto cycles = static_cast<unsigned>(std::ceil(bytes / clusters.bytes)),
               one = static_cast<unsigned>(std::ceil(128 / clusters.bytes));
    remoteFree_ = std::max(remoteFree_, now) + cycles;
    const int distance = block.seat.members > 2 ? clusters.remoteLatency : clusters.pairLatency;
    warps_[flight.warp].counts->sharedPasses += flight.count;
    return static_cast<unsigned>(remoteFree_ - now) - std::min(cycles, one) + static_cast<unsigned>(distance);
}

bool Sm::collides(const Warp& warp) const {
    const StaticInstruction& one = (*statics_)[blocks_[warp.block].trace.instructions[warp.at].what];
    const auto pending = [&](unsigned reg) { return (warp.pending[reg >> 6] >> (reg & 63) & 1) != 0; };
    if (one.destination >= 0 && pending(static_cast<unsigned>(one.destination))) return true;
    for (unsigned i = 0; i < one.sources; ++i) {
        if (pending(one.source[i])) return true;
    }
    return false;
}

void Sm::releaseBarrier(Block& block) {
    const auto expected = block.warps & live_ & ~done_;
    if ((block.arrived & expected) != expected) return;
    for (auto left = block.arrived; left; left &= left - 1) {
        const auto w = static_cast<std::uint8_t>(std::countr_zero(left));
        const auto bit = std::uint64_t{1} << w;
        barrier_ &= ~bit;
        if (!(fence_ & bit) && warps_[w].atomics <= 0 && warps_[w].awaitedGroups == 0) waiting_ &= ~bit;
    }
    block.arrived = 0;
}

// Whether unit, register ports and queue of memory take it now.
bool Sm::modernTakes(const StaticInstruction& one, unsigned scheduler, std::uint64_t now) {
    if (portFree_[scheduler] > now) return false;
    // What comes over the network of SMs waits for its turn there.
    if (isRemote(one.action) && remoteFree_ > now + remoteQueue) return false;
    if (one.unit == Unit::Mem) return memoryQueue_[scheduler][memoryAt_[scheduler]] <= now;
    return unitFree_[static_cast<std::size_t>(one.unit)][scheduler] <= now;
}

// An operand in constant memory that misses holds its scheduler for four cycles at most; then other warps go on (Huerta
// et al.).
bool Sm::constantIsThere(const StaticInstruction& one, std::uint8_t id, unsigned scheduler, std::uint64_t now) {
    Warp& warp = warps_[id];
    const auto bit = std::uint64_t{1} << id;
    // What it waited for has come to it, whatever has taken the line's place meanwhile.
    if (constantWaits_ & bit) return constantWaits_ &= ~bit, true;
    const std::uint64_t ready =
        code_.operand(scheduler, warp.kernel, static_cast<std::uint32_t>(one.constant), now, *warp.counts);
    if (ready <= now) return true;
    warp.issues = ready;
    retryAt_ = std::min(retryAt_, ready);
    constantWaits_ |= bit;
    if (recorder)
        recorder->warp(id, scheduler, WarpState::Constant, blocks_[warp.block].trace.instructions[warp.at].what);
    constantBlocks_[scheduler] = portFree_[scheduler] = std::min(ready, now + 4);
    return false;
}

// Fixed latencies: a dependent instruction may issue when they are over. Two register banks per sub-core with one read
// port each: every further operand of one bank is a bubble, unless the register-file cache has it.
void Sm::modernIssue(const StaticInstruction& one, const Flight& flight, std::uint64_t now) {
    const unsigned scheduler = flight.scheduler;
    const std::uint8_t warp = flight.warp;
    // A wavefront's registers are read over the four cycles that it issues in.
    portFree_[scheduler] = now + (machine_.lanes > 32 ? 1 : registerCaches_[scheduler].read(one, warp));
    unsigned latency = static_cast<unsigned>(one.latency);
    if (one.loadsConstant && one.constant >= 0)
        latency += code_.loadMiss(warps_[warp].kernel, static_cast<std::uint32_t>(one.constant), now,
                                  *warps_[warp].counts);
    if (isRemote(one.action)) latency = remoteLatency(flight, now);
    unitFree_[static_cast<std::size_t>(one.unit)][scheduler] = now + static_cast<unsigned>(one.initiation);
    std::int32_t at = 0;
    if (freeResults_.empty()) {
        at = static_cast<std::int32_t>(resultPool_.size());
        resultPool_.emplace_back();
    } else {
        at = freeResults_.back();
        freeResults_.pop_back();
    }
    const std::size_t slot = (now + latency) % wheelSize;
    resultPool_[static_cast<std::size_t>(at)] = {
        wheel_[slot], one.destination, warp, static_cast<std::uint8_t>(one.unit), flight.scheduler, flight.mask};
    wheel_[slot] = at;
    wheelMask_[slot / 64] |= std::uint64_t{1} << (slot % 64);
}

bool Sm::tryIssue(std::uint8_t id, unsigned scheduler, std::uint64_t now) {
    Warp& warp = warps_[id];
    const Executed& next = blocks_[warp.block].trace.instructions[warp.at];
    const StaticInstruction& one = (*statics_)[next.what];
    const auto u = static_cast<std::size_t>(one.unit);
    if (issuedMask_[u] >> scheduler & 1) return false;
    if (warp.issues > now) {
        retryAt_ = std::min(retryAt_, warp.issues);
        return false;
    }
    if (machine_.modernCore && !modernTakes(one, scheduler, now)) return false;
    if (one.constant >= 0 && machine_.modernCore && !one.loadsConstant && !constantIsThere(one, id, scheduler, now))
        return false;
    // A wavefront stands still until its branch is decided.
    const bool branches = machine_.lanes > 32 && one.unit == Unit::Special1;
    warp.issues = now + static_cast<unsigned>(branches ? one.latency : machine_.issueEvery);
    const auto bit = std::uint64_t{1} << id;
    Flight aside;
    const bool direct = machine_.modernCore && (one.unit != Unit::Mem || isRemote(one.action));
    Flight& f = direct ? aside : issued_[u][scheduler];
    f = {next.mask, next.what, next.first, next.count, order_++, 0, id, static_cast<std::uint8_t>(scheduler), 0, true};
    if (direct)
        modernIssue(one, f, now);
    else
        issuedMask_[u] |= static_cast<std::uint8_t>(1u << scheduler);
    ++warp.at;
    if (--warp.buffered == 0) {
        buffered_ &= ~bit;
        if (warp.at < warp.end) fetchable_ |= bit;
    }
    unknown_ |= bit;
    if (recorder) recorder->issued(id, scheduler, next);
    const auto lanes = static_cast<unsigned>(std::popcount(next.mask));
    Counters& own = *warp.counts;
    ++own.warpInstructions;
    own.threadInstructions += lanes;
    own.lanes[static_cast<std::size_t>(one.energy)] += lanes;
    own.registerReads += static_cast<std::uint64_t>(lanes) * one.sourcesWritten;
    if (one.unit == Unit::Mem) ++own.memoryInstructions;
    if (machine_.modernCore && one.unit == Unit::Mem) {
        // Five wait in the sub-core's queue; the first leaves after 12 cycles, then one every 4.
        auto& queue = memoryQueue_[scheduler];
        auto& at = memoryAt_[scheduler];
        queue[at] = std::max(now + 12, queue[(at + 4) % 5] + 4);
        at = static_cast<std::uint8_t>((at + 1) % 5);
    }
    if (one.destination >= 0) {
        const auto reg = static_cast<unsigned>(one.destination);
        warp.pending[reg >> 6] |= std::uint64_t{1} << (reg & 63);
    }
    switch (one.action) {
        case Action::Exit:
            warp.exited |= next.mask;
            break;
        case Action::Barrier: {
            Block& block = blocks_[warp.block];
            block.arrived |= bit, barrier_ |= bit, waiting_ |= bit;
            releaseBarrier(block);
            break;
        }
        case Action::Fence:
            fence_ |= bit, waiting_ |= bit;
            break;
        case Action::ClusterArrive:
        case Action::ClusterWait:
            arriveInCluster(id, one.action == Action::ClusterWait);
            break;
        case Action::Atomic:
            warp.atomics += static_cast<int>(lanes);
            if (next.count == 0)
                warp.atomics -= static_cast<int>(lanes);
            else if (!machine_.modernCore || one.destination >= 0)
                waiting_ |= bit;  // real cores send reductions without a result (RED) off like stores
            break;
        case Action::CopyToShared:
            // Groups beyond 65,535 share a number; nobody waits for that many.
            f.group = static_cast<std::uint16_t>(std::min<std::size_t>(warp.groups.size() - 1, 65535));
            ++warp.groups[f.group];
            break;
        case Action::CloseGroup:
            warp.groups.push_back(0);
            tellCopies(id);
            break;
        case Action::AwaitGroup: {
            const int closed = static_cast<int>(warp.groups.size()) - 1;
            warp.awaitedGroups = std::max(0, closed - static_cast<int>(next.count));
            if (warp.awaitedGroups > 0) {
                waiting_ |= bit;
                if (!warp.peers.empty()) tell(ClusterNote::Kind::Reached, id, ++warp.waits);
                checkGroups(id);
            }
            break;
        }
        default:
            break;
    }
    if ((warp.exited & warp.lanes) == warp.lanes || (warp.at == warp.end && warp.buffered == 0)) {
        done_ |= bit;
        fetchable_ &= ~bit, buffered_ &= ~bit;
        warp.inPipe -= warp.buffered;
        warp.buffered = 0;
        if (blocks_[warp.block].arrived) releaseBarrier(blocks_[warp.block]);
        leaveCluster(id);
    }
    return true;
}

void Sm::issue(std::uint64_t now) {
    const auto n = static_cast<unsigned>(machine_.schedulers);
    for (auto left = fence_; left; left &= left - 1) {
        // A fence waits for registers under way, then empties L1.
        const auto w = static_cast<std::uint8_t>(std::countr_zero(left));
        Warp& warp = warps_[w];
        if (warp.pending[0] | warp.pending[1] | warp.pending[2] | warp.pending[3]) continue;
        if (fenceIssued_[w] == now) continue;
        fence_ &= ~(std::uint64_t{1} << w);
        if (!(barrier_ >> w & 1) && warp.atomics <= 0 && warp.awaitedGroups == 0) waiting_ &= ~(std::uint64_t{1} << w);
        if (machine_.invalidatesL1) l1_.invalidate();
        moved_ = true;
    }
    for (unsigned i = 0; i < n; ++i) {
        const unsigned s = (firstScheduler_ + i) % n;
        const std::uint64_t candidates = buffered_ & ~waiting_ & ofScheduler_[s];
        if (recorder) observe(s, candidates);
        if (!candidates) {
            ++((codeWaits_ & ofScheduler_[s]) != 0 ? codeNow_ : idleNow_);
            continue;
        }
        for (auto left = candidates & unknown_; left; left &= left - 1) {
            const auto w = static_cast<unsigned>(std::countr_zero(left));
            if (collides(warps_[w]))
                ready_ &= ~(std::uint64_t{1} << w);
            else
                ready_ |= std::uint64_t{1} << w;
        }
        unknown_ &= ~candidates;
        std::uint64_t able = candidates & ready_;
        if (!able) {
            ++dependenceNow_;
            continue;
        }
        bool done = false;
        const auto attempt = [&](unsigned w) {
            if (!tryIssue(static_cast<std::uint8_t>(w), s, now)) return false;
            if (fence_ >> w & 1) fenceIssued_[w] = now;
            lastIssued_[s] = static_cast<int>(w);
            return done = true;
        };
        if (machine_.scheduler == Scheduler::LooseRoundRobin || machine_.scheduler == Scheduler::TwoLevel) {
            const int last = lastIssued_[s];
            const std::uint64_t behind = last < 0 || last >= 63 ? 0 : ~std::uint64_t{0} << (last + 1);
            for (auto left = able & (last < 0 ? ~std::uint64_t{0} : behind); left && !done; left &= left - 1)
                attempt(static_cast<unsigned>(std::countr_zero(left)));
            if (last >= 0) {
                for (auto left = able & ~behind; left && !done; left &= left - 1)
                    attempt(static_cast<unsigned>(std::countr_zero(left)));
            }
        } else {
            const bool youngest = machine_.scheduler == Scheduler::GreedyThenYoungest;
            if ((youngest || machine_.scheduler == Scheduler::GreedyThenOldest) && lastIssued_[s] >= 0 &&
                (able >> lastIssued_[s] & 1))
                if (!attempt(static_cast<unsigned>(lastIssued_[s]))) able &= ~(std::uint64_t{1} << lastIssued_[s]);
            while (able && !done) {
                unsigned oldest = static_cast<unsigned>(std::countr_zero(able));
                for (auto left = able; left; left &= left - 1) {
                    const auto w = static_cast<unsigned>(std::countr_zero(left));
                    if ((warps_[w].age < warps_[oldest].age) != youngest) oldest = w;
                }
                attempt(oldest);
                able &= ~(std::uint64_t{1} << oldest);
            }
        }
        if (done)
            moved_ = true;
        else if (waitsForConstant(s, candidates & ready_, now)) {
            ++constantNow_;
            if (recorder) recorder->scheduler(s, SchedulerState::Constant);
        } else
            ++unitNow_;
    }
    firstScheduler_ = (firstScheduler_ + 1) % n;
}

void Sm::leave(std::uint8_t id, std::uint64_t) {
    const auto bit = std::uint64_t{1} << id;
    live_ &= ~bit, done_ &= ~bit, fetchable_ &= ~bit, buffered_ &= ~bit, codeWaits_ &= ~bit, constantWaits_ &= ~bit;
    Block& block = blocks_[warps_[id].block];
    block.warps &= ~bit;
    moved_ = true;
    if (block.arrived) releaseBarrier(block);
    if (--block.liveWarps > 0) return;
    block.used = false;
    taken_ &= ~block.place;
    Kernel& kernel = kernels_[block.kernel];
    --kernel.blocks, ++kernel.finished;
    usedRegisters_ -= kernel.registers, usedShared_ -= kernel.sharedBytes, usedCarved_ -= kernel.carvedShared;
    --usedBlocks_;
    ++finished_;
    if (usedBlocks_ > 0 && kernel.blocks == 0) own();
    if (usedBlocks_ == 0 && machine_.invalidatesL1) l1_.invalidate();
}

// What the kernel's program is, as far as it is known, and whether it must be looked up: it does not fit an L0 beside
// the others, or its first run finds it in L2.
void Sm::learnCode(Kernel& kernel, const CodeExtent& code) {
    kernel.code = code;
    std::int64_t all = code.bytes();
    for (const Kernel& other : kernels_) {
        if (&other != &kernel && other.blocks > 0) all += other.code.bytes();
    }
    looksUpCode_ = machine_.coldCode || !code_.fitsL0(all);
    if (!looksUpCode_ || machine_.coldCode || code.end == code.first) return;
    // In the order of addresses, as straight-line code leaves it.
    CodeExtent& left = kernel.left;
    const auto leave = [&](std::uint32_t from, std::uint32_t end) {
        constexpr std::uint32_t perLine = CodePath::lineBytes / 16;
        const std::uint32_t last = (end + perLine - 1) / perLine, room = code_.linesBehind();
        for (std::uint32_t line = std::max(from / perLine, last > room ? last - room : 0); line < last; ++line)
            code_.leave(CodePath::lineOf(kernel.id, line * perLine));
    };
    if (left.end == 0) left = {code.first, code.first};
    if (code.first < left.first) leave(code.first, left.first);
    leave(left.end, code.end);
    left = {std::min(left.first, code.first), code.end};
}

// How many of the next instructions of a warp have arrived. A line that it waited for is there once, though another may
// have taken its place in the L0: else warps that push out each other's lines would never go on.
unsigned Sm::codeThere(std::uint8_t id, unsigned most, std::uint64_t now) {
    Warp& warp = warps_[id];
    const Kernel& kernel = kernels_[warp.kernel];
    const auto scheduler = static_cast<unsigned>(id % machine_.schedulers);
    const std::uint64_t last = CodePath::lineOf(kernel.id, kernel.code.end > 0 ? kernel.code.end - 1 : 0);
    for (unsigned i = 0; i < most; ++i) {
        const std::uint32_t pc = blocks_[warp.block].trace.instructions[warp.at + i].pc;
        const std::uint64_t line = CodePath::lineOf(kernel.id, pc);
        if (line != codeAwaited_[id]) {
            codeReady_[id] = code_.ask(scheduler, line, last, now, *warp.counts);
            codeAwaited_[id] = line;
        }
        if (codeReady_[id] > now) return i;
    }
    codeAwaited_[id] = noLine;
    return most;
}

void Sm::wakeCode(std::uint64_t now) {
    for (auto left = codeWaits_; left; left &= left - 1) {
        const auto w = static_cast<std::size_t>(std::countr_zero(left));
        if (codeReady_[w] > now) continue;
        codeWaits_ &= ~(std::uint64_t{1} << w), fetchable_ |= std::uint64_t{1} << w;
    }
}

bool Sm::waitsForConstant(unsigned scheduler, std::uint64_t able, std::uint64_t now) const {
    return constantBlocks_[scheduler] > now || (able != 0 && (able & ~constantWaits_) == 0);
}

void Sm::fetch(std::uint64_t now) {
    if (codeWaits_) wakeCode(now);
    for (int pass = 0; pass < machine_.fetches; ++pass) {
        if (fetched_ >= 0) {
            Warp& warp = warps_[static_cast<std::size_t>(fetched_)];
            const auto bit = std::uint64_t{1} << fetched_;
            if ((live_ & bit) && !(done_ & bit)) {
                unsigned arrived = std::min<std::uint32_t>(2, warp.end - warp.at);
                if (looksUpCode_) arrived = codeThere(static_cast<std::uint8_t>(fetched_), arrived, now);
                if (arrived > 0) {
                    warp.buffered = static_cast<std::uint8_t>(arrived);
                    warp.inPipe += warp.buffered;
                    buffered_ |= bit, unknown_ |= bit;
                } else {
                    codeWaits_ |= bit;
                }
            }
            fetched_ = -1;
            moved_ = true;
        }
        const int from = lastFetched_ + 1;
        const std::uint64_t behind = from >= 64 ? 0 : ~std::uint64_t{0} << from;
        std::uint64_t candidates = fetchable_ & behind;
        bool around = false;
        if (!candidates) candidates = fetchable_, around = true;
        const int next = candidates ? std::countr_zero(candidates) : -1;
        if (done_) {
            // Warps that have finished leave as the search passes them.
            std::uint64_t passed = ~std::uint64_t{0};
            if (next >= 0) {
                const std::uint64_t upTo = next == 63 ? ~std::uint64_t{0} : (std::uint64_t{2} << next) - 1;
                passed = around ? behind | upTo : behind & upTo;
            }
            for (auto left = done_ & live_ & passed; left; left &= left - 1) {
                const auto w = static_cast<std::uint8_t>(std::countr_zero(left));
                const Warp& warp = warps_[w];
                if (warp.inPipe == 0 && warp.stores == 0 && warp.atomics <= 0 &&
                    !(warp.pending[0] | warp.pending[1] | warp.pending[2] | warp.pending[3]))
                    leave(w, now);
            }
        }
        if (next >= 0) {
            fetched_ = lastFetched_ = next;
            fetchable_ &= ~(std::uint64_t{1} << next);
            moved_ = true;
        }
    }
}

}  // namespace orrery::gpusim
