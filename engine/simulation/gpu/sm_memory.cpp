#include "simulation/gpu/sm.h"

#include <algorithm>
#include <bit>

namespace orrery::gpusim {

void Sm::sectorDone(std::uint32_t at, std::uint32_t lanes, bool atomic) {
    if (at == lineFill) return;
    Load& load = loads_[at];
    Warp& warp = warps_[load.warp];
    if (atomic) {
        warp.atomics -= static_cast<int>(lanes);
        if (warp.atomics <= 0 && !((barrier_ | fence_ | clusterWaits_) >> load.warp & 1) && warp.awaitedGroups == 0)
            await(load.warp, false);
    }
    if (--load.left > 0) return;
    if (!machine_.ordersMemory || load.age != warp.age) return finish(at);
    while (!warp.ordered.empty() && loads_[warp.ordered.front()].left <= 0) finish(warp.ordered.take());
}

void Sm::finish(std::uint32_t at) {
    const Load load = loads_[at];
    Warp& warp = warps_[load.warp];
    freeLoads_.push_back(at);
    if (load.age != warp.age) return;
    release(load.warp, load.destination);
    if (load.group >= 0) {
        --warp.groups[static_cast<std::size_t>(load.group)];
        tellCopies(load.warp);
        checkGroups(load.warp);
    }
}

void Sm::checkGroups(std::uint8_t id) {
    Warp& warp = warps_[id];
    if (warp.awaitedGroups == 0) return;
    // Groups before the oldest open one never open again.
    for (; warp.oldestGroup < warp.awaitedGroups; ++warp.oldestGroup) {
        if (warp.groups[static_cast<std::size_t>(warp.oldestGroup)] > 0) return;
    }
    if (!warp.peers.empty() && !peersAreThere(warp)) return;
    warp.awaitedGroups = 0;
    await(id, false);
}

void Sm::writeBackLoad(std::uint64_t now) {
    using From = Writing::From;
    if (writing_.from != From::None) {
        const bool blocked =
            writing_.destination >= 0 &&
            (writtenBanks_ >> bankOf(writing_.warp, static_cast<unsigned>(writing_.destination)) & 1) != 0;
        if (!blocked) {
            moved_ = true;
            if (writing_.destination >= 0) {
                writtenBanks_ |= std::uint64_t{1} << bankOf(writing_.warp, static_cast<unsigned>(writing_.destination));
                warps_[writing_.warp].counts->registerWrites += writing_.lanes;
            }
            if (writing_.from == From::Shared)
                release(writing_.warp, writing_.destination);
            else
                sectorDone(writing_.load, writing_.lanes, false);
            writing_.from = From::None;
        }
    }
    // Sources in turn: 0 shared, 1 texture, 2 constant, 3 loads past L1, 4 fills of L1.
    for (int c = 0; writing_.from == From::None && c < 5; ++c) {
        const int client = (c + writeTurn_) % 5;
        if (client == 0 && !shared_.empty() && shared_.front().at <= now) {
            const Flight f = shared_.take().flight;
            --warps_[f.warp].inPipe;
            writing_ = {From::Shared, f.warp, what(f).destination, 0, static_cast<std::uint32_t>(std::popcount(f.mask)),
                        false};
        } else if (client == 3 && bypassed_) {
            const Load& load = loads_[bypassed_->load];
            const bool atomic = bypassed_->kind == Request::Kind::Atomic;
            if (atomic) {
                Warp& warp = warps_[load.warp];
                warp.atomics -= static_cast<int>(bypassed_->lanes);
                if (warp.atomics <= 0)
                    await(load.warp, ((barrier_ | fence_) >> load.warp & 1) != 0 || warp.awaitedGroups > 0);
            }
            writing_ = {From::Bypass, load.warp, load.destination, bypassed_->load, bypassed_->lanes, false};
            pool_.give(bypassed_);
            bypassed_ = nullptr;
        } else if (client == 4 && l1_.hasReady()) {
            Request* one = l1_.takeReady();
            if (one->load == lineFill) {
                pool_.give(one);
                moved_ = true;
                --c;
                continue;
            }
            const Load& load = loads_[one->load];
            writing_ = {From::L1, load.warp, load.destination, one->load, one->lanes, false};
            pool_.give(one);
        } else {
            continue;
        }
        moved_ = true;
        writeTurn_ = (client + 1) % 5;
    }
}

bool Sm::send(Request* request) {
    if (machine_.idealMemory) {
        if (replies_.size() >= static_cast<std::size_t>(machine_.ejectionBuffers)) return false;
        replies_.push(request);
        return true;
    }
    if (!requests_.hasRoom(static_cast<std::size_t>(id_))) return false;
    const auto spot = map_.spot(request->address);
    const auto slice = spot.slice + static_cast<std::uint32_t>(id_ % machine_.dies * machine_.slicesPerDie());
    request->slice = static_cast<std::uint16_t>(slice);
    request->bank = static_cast<std::uint8_t>(spot.bank), request->row = spot.row;
    requests_.push(static_cast<std::size_t>(id_), slice, request);
    ++counts[request->kernel].networkPackets;
    return true;
}

void Sm::accessL1(std::uint64_t now) {
    for (auto& queue : l1Queue_) {
        if (queue.empty() || queue.front().at > now) continue;
        Request* request = queue.front().request;
        auto line = static_cast<std::uint32_t>(request->address >> 7);
        if (machine_.l1.indexing == 'X') line ^= (line >> 2) ^ (line >> 4) ^ (line >> 6) ^ (line >> 8);
        const auto set = line & static_cast<std::uint32_t>(machine_.l1.sets - 1);
        const auto status = l1_.access(*request, set, now, counts[request->kernel].l1, pool_);
        if (status == CacheStatus::Refused) {
            ++refusedNow_;
            continue;
        }
        queue.pop();
        moved_ = true;
        if (status == CacheStatus::Miss && machine_.fillsLines && !request->isWrite()) bringLine(*request, set, now);
        if (status == CacheStatus::Hit && !request->isWrite()) {
            sectorDone(request->load, request->lanes, false);
            pool_.give(request);
        }
    }
}

// The other sectors of a line that missed; what finds no room is left out.
void Sm::bringLine(const Request& missed, std::uint32_t set, std::uint64_t now) {
    const std::uint64_t line = missed.address & ~std::uint64_t{127};
    for (std::uint64_t sector = line; sector < line + 128; sector += 32) {
        if (sector == missed.address) continue;
        Request* more = pool_.take();
        more->address = sector, more->bytes = 0xffffffffu;
        more->sm = missed.sm, more->warp = missed.warp, more->load = lineFill, more->kernel = missed.kernel;
        if (l1_.access(*more, set, now, lineCounts_, pool_) != CacheStatus::Miss) pool_.give(more);
    }
}

bool Sm::memory(std::uint64_t now) {
    if (dispatchLeft_ == 0) return true;
    const StaticInstruction& one = what(dispatch_);
    const TraceBlock& trace = blocks_[warps_[dispatch_.warp].block].trace;
    const bool store = one.action == Action::Store;
    const auto make = [&](const Access& access) {
        Request* request = pool_.take();
        request->address = access.address, request->bytes = access.bytes, request->lanes = access.lanes;
        request->sm = static_cast<std::uint16_t>(id_), request->warp = dispatch_.warp, request->load = dispatchLoad_;
        request->kernel = warps_[dispatch_.warp].kernel;
        request->kind = store                          ? Request::Kind::Write
                        : one.action == Action::Atomic ? Request::Kind::Atomic
                                                       : Request::Kind::Read;
        request->bypasses = one.bypassesL1;
        return request;
    };
    if (one.bypassesL1) {
        const int most = machine_.copiesBypassL1 ? machine_.l1Banks : 1;
        for (int i = 0; i < most && dispatchLeft_ > 0; ++i) {
            if (machine_.idealMemory ? replies_.size() >= static_cast<std::size_t>(machine_.ejectionBuffers)
                                     : !requests_.hasRoom(static_cast<std::size_t>(id_)))
                break;
            Request* request = make(trace.accesses[dispatch_.first + dispatchLeft_ - 1]);
            send(request);
            if (store)
                ++warps_[dispatch_.warp].stores;
            else
                ++counts[request->kernel].bypassReads;
            --dispatchLeft_;
        }
        moved_ = true;
        return dispatchLeft_ == 0;
    }
    for (int i = 0; i < machine_.l1Banks && dispatchLeft_ > 0; ++i) {
        const Access& access = trace.accesses[dispatch_.first + dispatchLeft_ - 1];
        const std::size_t bank = static_cast<std::size_t>(access.address >> 5) % l1Queue_.size();
        if (l1Entered_[bank] == now || l1Queue_[bank].size() >= static_cast<std::size_t>(machine_.l1Latency)) {
            ++bankNow_;
            break;
        }
        l1Entered_[bank] = now;
        l1Queue_[bank].push({make(access), now + static_cast<std::uint64_t>(machine_.l1Latency)});
        if (store) ++warps_[dispatch_.warp].stores;
        --dispatchLeft_;
        moved_ = true;
    }
    return dispatchLeft_ == 0;
}

void Sm::loadStore(std::uint64_t now) {
    // Registers take as many sectors as the network brings.
    for (int i = 0; i < machine_.sectorsPerCycle; ++i) {
        writeBackLoad(now);
        if (accepted_.empty()) continue;
        Request* one = accepted_.front();
        if (one->isWrite()) {
            --warps_[one->warp].stores;
            if (machine_.ordersMemory) sectorDone(one->load, one->lanes, false);
            pool_.give(one);
            accepted_.pop();
            moved_ = true;
        } else if (one->bypasses) {
            const bool copies = loads_[one->load].destination < 0 && one->kind == Request::Kind::Read;
            if (copies && machine_.copiesBypassL1) {
                // Into shared memory: no register's bank to wait for.
                sectorDone(one->load, one->lanes, false);
                pool_.give(one);
                accepted_.pop();
                moved_ = true;
            } else if (!bypassed_) {
                bypassed_ = one;
                accepted_.pop();
                moved_ = true;
            }
        } else {
            l1_.fill(*one);
            accepted_.pop();
            moved_ = true;
        }
    }
    for (int i = 0; i < machine_.sectorsPerCycle && !l1_.misses().empty(); ++i) {
        moved_ = true;
        if (!send(l1_.misses().front())) break;
        l1_.misses().pop();
    }
    accessL1(now);
    if (!dispatch_.used) return;
    if (dispatchReady_ > now) {
        const auto action = what(dispatch_).action;
        if (action == Action::SharedLoad || action == Action::SharedStore || action == Action::SharedAtomic)
            ++conflictNow_;
        return;
    }
    if (!memory(now)) return;
    if (dispatchHeld_ > now) {
        dispatchReady_ = dispatchHeld_;
        dispatchHeld_ = 0;
        return;
    }
    const StaticInstruction& one = what(dispatch_);
    if (one.action == Action::SharedLoad || one.action == Action::SharedAtomic) {
        if (shared_.size() >= static_cast<std::size_t>(machine_.sharedLatency)) return;
        shared_.push({dispatch_, now + static_cast<std::uint64_t>(machine_.sharedLatency)});
    } else {
        if (dispatch_.count == 0 &&
            (one.action == Action::Load || one.action == Action::Atomic || one.action == Action::CopyToShared ||
             (one.action == Action::Store && machine_.ordersMemory))) {
            loads_[dispatchLoad_].left = 1;
            sectorDone(dispatchLoad_, 0, false);
        }
        --warps_[dispatch_.warp].inPipe;
    }
    dispatch_.used = false;
    moved_ = true;
}

void Sm::receive(Fifo<Request*>& network, std::uint64_t cycle) {
    const auto most = static_cast<std::size_t>(machine_.sectorsPerCycle);
    for (std::size_t i = 0; i < most && !replies_.empty() && accepted_.size() < 2 * most; ++i) {
        accepted_.push(replies_.take());
        poke(cycle);
    }
    for (std::size_t i = 0;
         i < most && !network.empty() && replies_.size() < static_cast<std::size_t>(machine_.ejectionBuffers); ++i) {
        Request* one = network.take();
        ++counts[one->kernel].networkPackets;
        replies_.push(one);
    }
}

}  // namespace orrery::gpusim
