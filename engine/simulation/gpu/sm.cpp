#include "simulation/gpu/sm.h"

#include "base/hash.h"

#include <algorithm>
#include <bit>

namespace orrery::gpusim {

Sm::Sm(const Machine& machine, const AddressMap& map, int id, Crossbar& requests)
    : machine_(machine),
      map_(map),
      requests_(requests),
      id_(id),
      blocks_(static_cast<std::size_t>(machine.maxBlocks)),
      warps_(static_cast<std::size_t>(machine.warps())),
      ofScheduler_(static_cast<std::size_t>(machine.schedulers), 0),
      lastIssued_(static_cast<std::size_t>(machine.schedulers), -1),
      collectors_(static_cast<std::size_t>(machine.collectors)),
      bankQueues_(static_cast<std::size_t>(machine.registerBanks)),
      arriving_(unitCount * 8),
      l1Queue_(static_cast<std::size_t>(machine.l1Banks)),
      l1Entered_(static_cast<std::size_t>(machine.l1Banks), never) {
    for (std::size_t w = 0; w < warps_.size(); ++w)
        ofScheduler_[w % static_cast<std::size_t>(machine.schedulers)] |= std::uint64_t{1} << w;
    wheel_.fill(-1), codeAwaited_.fill(noLine);
    l1_.configure(machine.l1, machine.l1DirtyPercent, true);
    lastFetched_ = 0;
    if (machine.modernCore) code_.configure(machine.generation, machine.schedulers);
    // Warps point at their kernel's.
    counts.reserve(static_cast<std::size_t>(std::max(1, machine.concurrentKernels)));
    counts.resize(1);
    owner_ = counts.data();
}

void Sm::begin(std::size_t at, const KernelHeader& header, const Occupancy& fit, bool alone) {
    if (at >= kernels_.size()) kernels_.resize(at + 1), counts.resize(at + 1);
    counts[at] = {};
    Kernel& kernel = kernels_[at];
    kernel = {};
    kernel.warps = header.warps(), kernel.threads = header.threads();
    kernel.registers = fit.registers, kernel.sharedBytes = fit.sharedBytes, kernel.carvedShared = header.sharedBytes;
    kernel.most = machine_.concurrentKernels > 1 ? fit.fits : fit.used;
    kernel.l1Ways = std::max(1, fit.l1Bytes / (machine_.l1.sets * 128));
    kernel.changesL1 = fit.changesL1, kernel.carvedBytes = fit.carvedBytes;
    if (machine_.modernCore) {
        // Its arguments are in constant memory.
        code_.forgetConstants(at);
        kernel.id = Hash().add(header.name).value();
    }
    if (alone && kernel.changesL1 && kernel.l1Ways != l1_.ways()) l1_.setWays(kernel.l1Ways);
}

int Sm::freeSlot() const {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        if (!blocks_[i].used) return static_cast<int>(i);
    }
    return -1;
}

// The first free run of places for its warps, a bit each; 0: there is none.
std::uint64_t Sm::placeFor(const Kernel& kernel) const {
    const auto run = kernel.warps >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << kernel.warps) - 1;
    for (int first = 0; first + kernel.warps <= static_cast<int>(warps_.size()); ++first) {
        if ((taken_ & run << first) == 0) return run << first;
    }
    return 0;
}

bool Sm::hasRoom(std::size_t at) const {
    const Kernel& kernel = kernels_[at];
    if (kernel.blocks >= kernel.most) return false;
    if (usedBlocks_ == 0) return true;
    // L1 and shared memory are divided anew only while no block uses them.
    if (kernel.changesL1 && usedCarved_ + kernel.carvedShared > carvedBytes_) return false;
    // Blocks of kernels that have ended may have left holes between those that are here.
    if (placeFor(kernel) == 0) return false;
    if (static_cast<int>(usedBlocks_) == kernel.blocks) return true;
    return usedBlocks_ < blocks_.size() && usedRegisters_ + kernel.registers <= machine_.registers &&
           usedShared_ + kernel.sharedBytes <= machine_.sharedBytes;
}

void Sm::place(std::size_t at, TraceBlock& trace, const CodeExtent& code, std::uint64_t cycle) {
    const int slot = freeSlot();
    Kernel& kernel = kernels_[at];
    if (machine_.modernCore && code_.finite()) learnCode(kernel, code);
    Block& block = blocks_[static_cast<std::size_t>(slot)];
    block.used = true;
    block.arrived = block.warps = 0;
    block.kernel = static_cast<std::uint8_t>(at), block.age = nextAge_;
    block.seat = {}, block.clusterPhase = 0;
    block.place = placeFor(kernel);
    taken_ |= block.place;
    std::swap(block.trace, trace);
    block.liveWarps = kernel.warps;
    for (int i = 0; i < kernel.warps; ++i) {
        const int id = std::countr_zero(block.place) + i;
        Warp& warp = warps_[static_cast<std::size_t>(id)];
        warp.pending.fill(0);
        warp.at = block.trace.begin[static_cast<std::size_t>(i)];
        warp.end = block.trace.begin[static_cast<std::size_t>(i) + 1];
        warp.lanes = lanesUpTo(std::min(machine_.lanes, kernel.threads - machine_.lanes * i));
        warp.exited = 0, warp.issues = 0, warp.atomics = warp.stores = warp.inPipe = 0, warp.buffered = 0;
        warp.block = static_cast<std::uint8_t>(slot), warp.age = nextAge_++;
        warp.kernel = block.kernel, warp.counts = &counts[at];
        warp.ordered = {};
        warp.groups.assign(1, 0), warp.awaitedGroups = warp.oldestGroup = 0;
        warp.peers.clear(), warp.toldCopies = warp.waits = 0;
        codeAwaited_[static_cast<std::size_t>(id)] = noLine;
        const auto bit = std::uint64_t{1} << id;
        block.warps |= bit, live_ |= bit;
        codeWaits_ &= ~bit, constantWaits_ &= ~bit, clusterArrived_ &= ~bit, clusterWaits_ &= ~bit;
        buffered_ &= ~bit, waiting_ &= ~bit, barrier_ &= ~bit, fence_ &= ~bit, ready_ &= ~bit, unknown_ &= ~bit;
        if (warp.at == warp.end)
            done_ |= bit;
        else
            done_ &= ~bit, fetchable_ |= bit;
    }
    if (usedBlocks_++ == 0) {
        // An empty SM has no cycles.
        slept_ = false;
        last_ = cycle;
        owner_ = &counts[at];
        carvedBytes_ = kernel.carvedBytes;
        if (kernel.changesL1 && kernel.l1Ways != l1_.ways()) l1_.setWays(kernel.l1Ways);
    }
    ++kernel.blocks;
    usedRegisters_ += kernel.registers, usedShared_ += kernel.sharedBytes, usedCarved_ += kernel.carvedShared;
    ++counts[at].blocks;
    poke(cycle + 1);
}

bool Sm::quiet() const {
    const auto none = [](const auto& masks) {
        return std::all_of(masks.begin(), masks.end(), [](auto mask) { return mask == 0; });
    };
    const auto empties = [](const auto& queues) {
        return std::all_of(queues.begin(), queues.end(), [](const auto& queue) { return queue.empty(); });
    };
    return empty() && loads_.size() == freeLoads_.size() && (live_ | done_ | fetchable_ | buffered_) == 0 &&
           none(issuedMask_) && none(collectedMask_) && (collecting_ | complete_ | queuedBanks_) == 0 &&
           empties(bankQueues_) && none(wheelMask_) && !dispatch_.used && dispatchLeft_ == 0 && shared_.empty() &&
           empties(l1Queue_) && !bypassed_ && writing_.from <= Writing::From::Shared;
}

bool Sm::isSound() const {
    const int warps = static_cast<int>(warps_.size());
    const std::uint64_t others = warps >= 64 ? 0 : ~std::uint64_t{0} << warps;
    const auto isWarp = [&](int warp) { return warp >= -1 && warp < warps; };
    return ((waiting_ | ready_ | unknown_ | barrier_ | fence_) & others) == 0 &&
           std::all_of(lastIssued_.begin(), lastIssued_.end(), isWarp) && isWarp(fetched_) && isWarp(lastFetched_) &&
           lastFetched_ >= 0 && firstScheduler_ < static_cast<unsigned>(machine_.schedulers) &&
           ((codeWaits_ | constantWaits_) & others) == 0 &&
           std::all_of(memoryAt_.begin(), memoryAt_.end(), [](auto at) { return at < 5; }) &&
           writing_.from <= Writing::From::Shared && isWarp(writing_.warp) &&
           (writing_.from == Writing::From::None || writing_.destination < 0) && writeTurn_ >= 0 && writeTurn_ < 5;
}

// When a kernel's last block leaves: the cycles are from now on those of the kernel with the oldest block.
void Sm::own() {
    const Block* first = nullptr;
    for (const Block& block : blocks_) {
        if (block.used && (!first || block.age < first->age)) first = &block;
    }
    if (first) owner_ = &counts[first->kernel];
}

void Sm::settle(std::uint64_t now) {
    if (!slept_ || empty() || now <= last_ + 1) return;
    const std::uint64_t cycles = now - last_ - 1;
    Counters& own = *owner_;
    own.stallNoInstruction += cycles * idleNow_, own.stallDependence += cycles * dependenceNow_;
    own.stallUnit += cycles * unitNow_, own.l1.refused += cycles * refusedNow_;
    own.stallCode += cycles * codeNow_, own.stallConstant += cycles * constantNow_;
    own.sharedConflictCycles += cycles * conflictNow_, own.l1BankCycles += cycles * bankNow_;
    own.activeSmCycles += cycles;
    own.residentWarpCycles += cycles * static_cast<unsigned>(std::popcount(live_));
    if (recorder) recorder->slept(cycles, own);
    firstScheduler_ = static_cast<unsigned>((firstScheduler_ + cycles) % static_cast<unsigned>(machine_.schedulers));
    last_ = now - 1;
}

void Sm::release(std::uint8_t warp, int destination) {
    if (destination < 0) return;
    const auto reg = static_cast<unsigned>(destination);
    warps_[warp].pending[reg >> 6] &= ~(std::uint64_t{1} << (reg & 63));
    unknown_ |= std::uint64_t{1} << warp;
}

void Sm::writeBack(std::uint64_t now) {
    const std::size_t slot = now % wheelSize;
    std::int32_t at = wheel_[slot];
    if (at < 0) return;
    moved_ = true;
    wheel_[slot] = -1;
    wheelMask_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    while (at >= 0) {
        const Result one = resultPool_[static_cast<std::size_t>(at)];
        freeResults_.push_back(at);
        at = one.next;
        // The slot of the result bus lies two cycles back.
        const std::size_t bus = (now - 2) % wheelSize;
        results_[bus] = 0;
        arriving_[one.unit * 8u + one.scheduler][bus / 64] &= ~(std::uint64_t{1} << (bus % 64));
        if (one.destination >= 0) {
            writtenBanks_ |= std::uint64_t{1} << bankOf(one.warp, static_cast<unsigned>(one.destination));
            warps_[one.warp].counts->registerWrites += static_cast<unsigned>(std::popcount(one.mask));
            release(one.warp, one.destination);
        }
        --warps_[one.warp].inPipe;
    }
}

void Sm::execute(std::uint64_t now) {
    for (std::size_t u = 0; u < unitCount; ++u) {
        if (u == static_cast<std::size_t>(Unit::Mem)) continue;
        for (unsigned left = collectedMask_[u]; left; left &= left - 1) {
            const auto s = static_cast<unsigned>(std::countr_zero(left));
            if (unitFree_[u][s] > now) continue;
            const Flight& f = collected_[u][s];
            const StaticInstruction& one = what(f);
            const std::size_t bus = (now + static_cast<unsigned>(one.latency)) % wheelSize;
            auto& arriving = arriving_[u * 8 + s];
            // Two results may not leave the unit in one cycle, nor more than eight the SM.
            if ((arriving[bus / 64] >> (bus % 64) & 1) != 0 || results_[bus] >= 8) {
                moved_ = true;
                continue;
            }
            arriving[bus / 64] |= std::uint64_t{1} << (bus % 64);
            ++results_[bus];
            unitFree_[u][s] = now + static_cast<unsigned>(one.initiation);
            std::int32_t at = 0;
            if (freeResults_.empty()) {
                at = static_cast<std::int32_t>(resultPool_.size());
                resultPool_.emplace_back();
            } else {
                at = freeResults_.back();
                freeResults_.pop_back();
            }
            const std::size_t slot = (bus + 2) % wheelSize;
            resultPool_[static_cast<std::size_t>(at)] = {
                wheel_[slot], one.destination, f.warp, static_cast<std::uint8_t>(u), static_cast<std::uint8_t>(s),
                f.mask};
            wheel_[slot] = at;
            wheelMask_[slot / 64] |= std::uint64_t{1} << (slot % 64);
            collectedMask_[u] &= static_cast<std::uint8_t>(~(1u << s));
            moved_ = true;
        }
    }
    loadStore(now);
    // The load/store unit takes the oldest of what the collectors have finished.
    constexpr auto mem = static_cast<std::size_t>(Unit::Mem);
    if (!dispatch_.used && collectedMask_[mem]) {
        unsigned oldest = 8;
        for (unsigned left = collectedMask_[mem]; left; left &= left - 1) {
            const auto s = static_cast<unsigned>(std::countr_zero(left));
            if (oldest == 8 || collected_[mem][s].order < collected_[mem][oldest].order) oldest = s;
        }
        dispatch_ = collected_[mem][oldest];
        dispatch_.used = true;
        collectedMask_[mem] &= static_cast<std::uint8_t>(~(1u << oldest));
        moved_ = true;
        const StaticInstruction& one = what(dispatch_);
        dispatchReady_ = now + 1;
        dispatchLeft_ = dispatch_.count;
        // A wavefront's lanes pass at the width of L1, whether or not they share sectors.
        dispatchHeld_ = 0;
        if (machine_.lanes > 32) {
            const double bytes = static_cast<double>(std::popcount(dispatch_.mask)) * one.bytes;
            dispatchHeld_ = now + static_cast<std::uint64_t>(bytes / machine_.generation.l1Bytes);
        }
        switch (one.action) {
            case Action::SharedLoad:
            case Action::SharedStore:
            case Action::SharedAtomic:
                dispatchReady_ = now + std::max(1u, dispatch_.count);
                dispatchLeft_ = 0;
                warps_[dispatch_.warp].counts->sharedPasses += dispatch_.count;
                break;
            case Action::Store:
                if (!machine_.ordersMemory) break;
                [[fallthrough]];
            case Action::Load:
            case Action::Atomic:
            case Action::CopyToShared: {
                if (freeLoads_.empty()) {
                    freeLoads_.push_back(static_cast<std::uint32_t>(loads_.size()));
                    loads_.emplace_back();
                }
                dispatchLoad_ = freeLoads_.back();
                freeLoads_.pop_back();
                loads_[dispatchLoad_] = {
                    dispatch_.warp, one.destination, static_cast<std::int32_t>(std::max(1u, dispatch_.count)),
                    one.action == Action::CopyToShared ? static_cast<std::int32_t>(dispatch_.group) : -1,
                    warps_[dispatch_.warp].age};
                if (machine_.ordersMemory) warps_[dispatch_.warp].ordered.push(dispatchLoad_);
                break;
            }
            case Action::Fence:
                dispatchLeft_ = 0;
                break;
            default:
                break;
        }
    }
}

void Sm::operands() {
    for (int pass = 0; pass < machine_.registerPasses; ++pass) {
        for (std::uint64_t left = complete_; left; left &= left - 1) {
            const auto c = static_cast<std::size_t>(std::countr_zero(left));
            const Flight& f = collectors_[c];
            const auto u = static_cast<std::size_t>(what(f).unit);
            if (collectedMask_[u] >> f.scheduler & 1) continue;
            collected_[u][f.scheduler] = f;
            collectedMask_[u] |= static_cast<std::uint8_t>(1u << f.scheduler);
            collecting_ &= ~(std::uint64_t{1} << c), complete_ &= ~(std::uint64_t{1} << c);
            moved_ = true;
        }
        for (std::uint64_t left = queuedBanks_ & ~writtenBanks_; left; left &= left - 1) {
            const auto bank = static_cast<std::size_t>(std::countr_zero(left));
            auto& queue = bankQueues_[bank];
            const std::uint8_t c = queue.take();
            if (queue.empty()) queuedBanks_ &= ~(std::uint64_t{1} << bank);
            if (--collectors_[c].left == 0) complete_ |= std::uint64_t{1} << c;
            moved_ = true;
        }
        // Each port takes the oldest of the first class that has something; where its sub-core has no collector free,
        // the others would meet the same one.
        for (int port = 0; port < machine_.collectorPorts; ++port) {
            std::size_t u = 0;
            while (u < unitCount && !issuedMask_[u]) ++u;
            if (u == unitCount) break;
            unsigned oldest = 8;
            for (unsigned left = issuedMask_[u]; left; left &= left - 1) {
                const auto s = static_cast<unsigned>(std::countr_zero(left));
                if (oldest == 8 || issued_[u][s].order < issued_[u][oldest].order) oldest = s;
            }
            const unsigned per = static_cast<unsigned>(machine_.collectors / machine_.schedulers);
            const std::uint64_t own = ((std::uint64_t{1} << per) - 1) << (oldest * per);
            const std::uint64_t free = own & ~collecting_;
            if (!free) break;
            const auto c = static_cast<std::size_t>(std::countr_zero(free));
            Flight& f = collectors_[c];
            f = issued_[u][oldest];
            issuedMask_[u] &= static_cast<std::uint8_t>(~(1u << oldest));
            collecting_ |= std::uint64_t{1} << c;
            const StaticInstruction& one = what(f);
            f.left = one.sources;
            if (one.sources == 0) complete_ |= std::uint64_t{1} << c;
            for (unsigned i = 0; i < one.sources; ++i) {
                const auto bank = bankOf(f.warp, one.source[i]);
                bankQueues_[bank].push(static_cast<std::uint8_t>(c));
                queuedBanks_ |= std::uint64_t{1} << bank;
            }
            moved_ = true;
        }
        writtenBanks_ = 0;
    }
}

std::uint64_t Sm::nextTimer(std::uint64_t now) const {
    std::uint64_t out = never;
    const std::size_t from = (now + 1) % wheelSize;
    for (std::size_t k = 0; k <= wheelMask_.size(); ++k) {
        const std::size_t w = (from / 64 + k) % wheelMask_.size();
        auto bits = wheelMask_[w];
        if (k == 0) bits &= ~std::uint64_t{0} << (from % 64);
        if (!bits) continue;
        const std::size_t slot = w * 64 + static_cast<std::size_t>(std::countr_zero(bits));
        out = now + 1 + (slot + wheelSize - from) % wheelSize;
        break;
    }
    for (std::size_t u = 0; u < unitCount; ++u) {
        for (unsigned left = collectedMask_[u]; left; left &= left - 1) {
            const auto free = unitFree_[u][static_cast<std::size_t>(std::countr_zero(left))];
            if (free > now) out = std::min(out, free);
        }
    }
    if (machine_.modernCore) {
        for (std::size_t s = 0; s < static_cast<std::size_t>(machine_.schedulers); ++s) {
            const auto later = [&](std::uint64_t at) {
                if (at > now) out = std::min(out, at);
            };
            later(portFree_[s]), later(remoteFree_ > 256 ? remoteFree_ - 256 : 0), later(memoryQueue_[s][memoryAt_[s]]);
            for (const auto& unit : unitFree_) later(unit[s]);
        }
        for (auto left = codeWaits_; left; left &= left - 1)
            out = std::min(out, std::max(now + 1, codeReady_[static_cast<std::size_t>(std::countr_zero(left))]));
    }
    for (const ClusterWord& word : words_) out = std::min(out, std::max(now + 1, word.at));
    if (!shared_.empty()) out = std::min(out, std::max(now + 1, shared_.front().at));
    if (dispatch_.used && dispatchReady_ > now) out = std::min(out, dispatchReady_);
    for (const auto& queue : l1Queue_) {
        if (!queue.empty() && queue.front().at > now) out = std::min(out, queue.front().at);
    }
    if (!accepted_.empty() || !replies_.empty()) out = now + 1;
    return std::min(out, std::max(now + 1, retryAt_));
}

void Sm::cycle(std::uint64_t now) {
    settle(now);
    moved_ = false;
    retryAt_ = never;
    idleNow_ = dependenceNow_ = unitNow_ = refusedNow_ = conflictNow_ = bankNow_ = codeNow_ = constantNow_ = 0;
    const auto resident = static_cast<unsigned>(std::popcount(live_));
    if (!words_.empty()) listen(now);
    writeBack(now);
    execute(now);
    operands();
    issue(now);
    fetch(now);
    Counters& own = *owner_;
    own.stallNoInstruction += idleNow_, own.stallDependence += dependenceNow_, own.stallUnit += unitNow_;
    own.stallCode += codeNow_, own.stallConstant += constantNow_;
    own.sharedConflictCycles += conflictNow_, own.l1BankCycles += bankNow_;
    ++own.activeSmCycles;
    own.residentWarpCycles += resident;
    if (recorder) recorder->endCycle(now, own, dispatch_.used);
    last_ = now;
    slept_ = true;
    wake_ = empty() ? never : moved_ ? now + 1 : nextTimer(now);
}

}  // namespace orrery::gpusim
