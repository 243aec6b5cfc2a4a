#include "simulation/gpu/interval/sm_model.h"

#include <algorithm>
#include <bit>

namespace orrery::gpusim {

namespace {

using Kind = EventWheel::Kind;
constexpr auto memoryUnit = static_cast<std::size_t>(Unit::Mem);

}  // namespace

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
    wheel_.push(at, Kind::Wake, static_cast<std::uint32_t>(id_));
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
void SmModel::modernIssue(const StaticInstruction& one, Lane& lane, std::uint64_t now) const {
    std::array<unsigned, 2> operands{};
    for (unsigned i = 0; i < one.sources; ++i) ++operands[one.source[i] & 1];
    const std::uint64_t ports = now + (machine_.lanes > 32 ? 1u : std::max({1u, operands[0], operands[1]}));
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
        modernIssue(one, lane, now);
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

std::uint64_t SmModel::writeBack(std::uint64_t from) {
    writeBackFree_ = std::max(writeBackFree_, from) + 1;
    return writeBackFree_;
}

void SmModel::toMemory(std::uint32_t id, const Executed& executed, const StaticInstruction& one, std::uint64_t from,
                       std::uint64_t now) {
    Warp& warp = warps_[id];
    loadStoreFree_ = from + 1;
    switch (one.action) {
        case Action::SharedLoad:
        case Action::SharedStore:
        case Action::SharedAtomic: {
            const std::uint64_t passes = std::max(1u, executed.count);
            counts.sharedPasses += executed.count;
            counts.sharedConflictCycles += passes - 1;
            loadStoreFree_ = from + passes;
            warp.latest = std::max(warp.latest, loadStoreFree_);
            if (one.action == Action::SharedStore) return;
            const auto ready = writeBack(loadStoreFree_ + static_cast<unsigned>(machine_.sharedLatency));
            warp.latest = std::max(warp.latest, ready);
            const auto unloaded = static_cast<std::uint64_t>(machine_.sharedLatency) + 5;
            if (one.destination >= 0)
                warp.registers[static_cast<std::size_t>(one.destination)] = {
                    ready, static_cast<std::uint32_t>(ready - now > unloaded ? ready - now - unloaded : 0),
                    Cause::Memory};
            return;
        }
        case Action::Load:
        case Action::Store:
        case Action::Atomic:
        case Action::CopyToShared:
            break;
        default:
            warp.latest = std::max(warp.latest, from + 1);
            return;
    }
    const bool store = one.action == Action::Store;
    if (executed.count == 0) {
        if (!store && one.destination >= 0)
            warp.registers[static_cast<std::size_t>(one.destination)] = {from + 2, 0, Cause::Memory};
        warp.latest = std::max(warp.latest, from + 2);
        return;
    }
    std::uint32_t load = 0;
    if (!store) {
        if (freeLoads_.empty()) {
            freeLoads_.push_back(static_cast<std::uint32_t>(loads_.size()));
            loads_.emplace_back();
        }
        load = freeLoads_.back();
        freeLoads_.pop_back();
        Load& l = loads_[load];
        l = {id, static_cast<std::int32_t>(executed.count), -1, one.destination, Level::L1, false, now};
        ++warp.loads;
        if (one.action == Action::Atomic && (!machine_.modernCore || one.destination >= 0)) {
            l.atomic = true;
            ++warp.atomics;
        }
        if (one.action == Action::CopyToShared) {
            l.group = static_cast<std::int32_t>(warp.groups.size() - 1);
            ++warp.groups.back();
        }
        if (one.destination >= 0)
            warp.registers[static_cast<std::size_t>(one.destination)] = {forever, 0, Cause::Memory};
    }
    // Sectors enter the banks of L1 from the last on, as many a cycle as go to different ones; those that go past it,
    // one a cycle, or as many as L1 has banks.
    const auto past = static_cast<std::uint32_t>(machine_.copiesBypassL1 ? machine_.l1Banks : 1);
    const TraceBlock& trace = blocks_[warp.block].trace;
    std::uint64_t cycle = from + 1;
    std::uint64_t taken = 0;
    for (std::uint32_t i = executed.count; i-- > 0;) {
        const Access& access = trace.accesses[executed.first + i];
        const auto at = requests_.take();
        SectorRequest& request = requests_[at];
        request.address = access.address, request.bytes = access.bytes, request.lanes = access.lanes;
        request.load = load, request.sm = static_cast<std::uint16_t>(id_), request.warp = static_cast<std::uint8_t>(id);
        request.write = store, request.atomic = one.action == Action::Atomic, request.bypasses = one.bypassesL1;
        if (store) ++warp.stores;
        if (one.bypassesL1) {
            if (i + 1 < executed.count && (executed.count - 1 - i) % past == 0) ++cycle;
            if (!store) ++counts.bypassReads;
            memory_.send(at, cycle);
            continue;
        }
        const auto bank = std::uint64_t{1} << (access.address >> 5) % blocked_.size();
        if (taken & bank) ++cycle, taken = 0, ++counts.l1BankCycles;
        taken |= bank;
        ++inBank_[static_cast<std::size_t>(access.address >> 5) % inBank_.size()];
        wheel_.push(cycle + static_cast<unsigned>(machine_.l1Latency), Kind::L1, at);
    }
    loadStoreFree_ = cycle;
}

void SmModel::l1(std::uint32_t at) {
    const auto bank = static_cast<std::size_t>(requests_[at].address >> 5) % blocked_.size();
    if (blocked_[bank].empty() && look(at, wheel_.now())) {
        --inBank_[bank];
        return;
    }
    blocked_[bank].push(at);
    ++blockedCount_;
    ++counts.l1.refused;
}

void SmModel::callService(std::uint64_t at) {
    if (at >= served_) return;
    served_ = at;
    wheel_.push(at, Kind::Service, static_cast<std::uint32_t>(id_));
}

void SmModel::service() {
    const std::uint64_t now = wheel_.now();
    if (now != served_) return;
    served_ = forever;
    for (int i = 0; i < machine_.sectorsPerCycle && !misses_.empty(); ++i) {
        if (!memory_.takes(static_cast<std::size_t>(id_))) break;
        memory_.send(misses_.take(), now);
    }
    if (blockedCount_ > 0) {
        const bool was = loadStoreBlocked();
        bool moved = false;
        for (std::size_t bank = 0; bank < blocked_.size(); ++bank) {
            auto& queue = blocked_[bank];
            if (queue.empty() || !look(queue.front(), now)) continue;
            queue.pop();
            --inBank_[bank], --blockedCount_;
            moved = true;
        }
        if (moved) callService(now + 1);
        if (was && !loadStoreBlocked()) poke(now);
    }
    if (!misses_.empty()) callService(now + 1);
}

// Whether L1 could take it.
bool SmModel::look(std::uint32_t at, std::uint64_t now) {
    SectorRequest& request = requests_[at];
    const auto set =
        static_cast<std::uint32_t>(request.address >> 7) & static_cast<std::uint32_t>(machine_.l1.sets - 1);
    const unsigned part = TimedCache::sectorOf(request.address);
    std::int32_t line = -1;
    auto found = l1_.find(request.address, set, line);
    if (found == TimedCache::Found::Refused) return false;
    auto& tag = l1_.line(line);
    const auto room = static_cast<std::size_t>(machine_.l1.missQueue);
    if (request.write) {
        if (misses_.size() >= room) return false;
        ++counts.l1.writes;
        ++(found == TimedCache::Found::Hit ? counts.l1.writeHits : counts.l1.writeMisses);
        l1_.take(line, request.address, set);
        l1_.write(line, request.address, request.bytes);
        l1_.use(line, set);
        misses_.push(at);
        callService(now + 1);
        return true;
    }
    if (found == TimedCache::Found::Hit && (tag.partial >> part & 1)) found = TimedCache::Found::Missing;
    if (found != TimedCache::Found::Hit && misses_.size() + 1 >= room) return false;
    if (found == TimedCache::Found::Pending && tag.merged[part] >= machine_.l1.merges) return false;
    if (found == TimedCache::Found::Missing && l1_.pending >= machine_.l1.mshrs) return false;
    ++counts.l1.reads;
    if (found == TimedCache::Found::Hit) {
        ++counts.l1.readHits;
        l1_.use(line, set);
        sectorDone(request.load, Level::L1, request.lanes, now);
        requests_.give(at);
        return true;
    }
    ++(found == TimedCache::Found::Pending ? counts.l1.readPending : counts.l1.readMisses);
    l1_.take(line, request.address, set);
    l1_.use(line, set);
    auto& taken = l1_.line(line);
    request.l1Line = line;
    if (found == TimedCache::Found::Pending) {
        request.next = taken.waiting[part];
        taken.waiting[part] = static_cast<std::int32_t>(at);
        ++taken.merged[part];
        return true;
    }
    taken.pending |= static_cast<std::uint8_t>(1u << part);
    taken.merged[part] = 1, taken.waiting[part] = -1;
    ++l1_.pending;
    misses_.push(at);
    callService(now + 1);
    return true;
}

void SmModel::reply(std::uint32_t at) {
    // One step behind the output of the network.
    const std::uint64_t now = wheel_.now() + 1;
    SectorRequest& request = requests_[at];
    if (request.write) {
        Warp& warp = warps_[request.warp];
        --warp.stores;
        maybeLeave(request.warp, now + 1);
        requests_.give(at);
        return;
    }
    const auto release = [&](std::uint32_t one, Level level) {
        sectorDone(requests_[one].load, level, requests_[one].lanes, writeBack(now + 2));
        requests_.give(one);
    };
    if (request.bypasses) {
        const Load& load = loads_[request.load];
        if (machine_.copiesBypassL1 && load.destination < 0 && !load.atomic) {
            // Into shared memory, or nowhere: no register's bank to wait for.
            sectorDone(request.load, request.level, request.lanes, now + 2);
            requests_.give(at);
            return;
        }
        release(at, request.level);
        return;
    }
    const Level level = request.level;
    const unsigned part = TimedCache::sectorOf(request.address);
    auto waiting = l1_.line(request.l1Line).waiting[part];
    l1_.fill(request.l1Line, request.address);
    release(at, level);
    while (waiting >= 0) {
        const auto next = requests_[static_cast<std::uint32_t>(waiting)].next;
        release(static_cast<std::uint32_t>(waiting), level);
        waiting = next;
    }
    if (blockedCount_ > 0) callService(now + 1);
}

void SmModel::sectorDone(std::uint32_t at, Level level, std::uint32_t, std::uint64_t when) {
    Load& load = loads_[at];
    load.level = std::max(load.level, level);
    if (--load.left > 0) return;
    Warp& warp = warps_[load.warp];
    const auto unloaded = load.issued + static_cast<std::uint64_t>(memory_.unloaded(load.level));
    const Ready ready{when, static_cast<std::uint32_t>(when > unloaded ? when - unloaded : 0), Cause::Memory};
    --warp.loads;
    warp.latest = std::max(warp.latest, when);
    if (load.destination >= 0) warp.registers[static_cast<std::size_t>(load.destination)] = ready;
    if (load.atomic && --warp.atomics == 0) warp.resumes = ready;
    const auto id = load.warp;
    if (load.group >= 0) {
        --warp.groups[static_cast<std::size_t>(load.group)];
        if (warp.awaitedGroups > 0) {
            checkGroups(id, when);
            if (warp.awaitedGroups == 0) warp.resumes = ready;
        }
    }
    if (warp.fence && warp.loads == 0) {
        warp.fence = false;
        warp.resumes = ready;
        if (machine_.invalidatesL1) l1_.invalidate();
    }
    freeLoads_.push_back(at);
    if (warp.done)
        maybeLeave(id, when);
    else
        prepare(id);
}

void SmModel::checkGroups(std::uint32_t id, std::uint64_t now) {
    Warp& warp = warps_[id];
    for (; warp.oldestGroup < warp.awaitedGroups; ++warp.oldestGroup) {
        if (warp.groups[static_cast<std::size_t>(warp.oldestGroup)] > 0) return;
    }
    warp.awaitedGroups = 0;
    warp.resumes.at = std::max(warp.resumes.at, now);
}

void SmModel::maybeLeave(std::uint32_t id, std::uint64_t now) {
    Warp& warp = warps_[id];
    if (!warp.done || !warp.live || warp.isLeaving || warp.loads > 0 || warp.stores > 0) return;
    warp.isLeaving = true;
    wheel_.push(std::max(now, warp.latest), Kind::Leave, static_cast<std::uint32_t>(id_) * 64u + id);
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
