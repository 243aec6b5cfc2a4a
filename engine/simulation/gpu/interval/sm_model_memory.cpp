#include "simulation/gpu/interval/sm_model.h"

#include <algorithm>

namespace orrery::gpusim {

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
        wheel_.push(cycle + static_cast<unsigned>(machine_.l1Latency), EventWheel::Kind::L1, at);
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
    wheel_.push(at, EventWheel::Kind::Service, static_cast<std::uint32_t>(id_));
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

}  // namespace orrery::gpusim
