#include "simulation/gpu/interval/memory_model.h"

#include <algorithm>
#include <cmath>

namespace orrery::gpusim {

namespace {

using Kind = EventWheel::Kind;

// The first whole cycle in which a server is free, and its next one.
std::uint64_t claim(double& free, std::uint64_t from, double period) {
    const double start = std::max(free, static_cast<double>(from));
    free = start + period;
    return static_cast<std::uint64_t>(std::ceil(start - 1e-9));
}

}  // namespace

MemoryModel::MemoryModel(const Machine& machine, EventWheel& wheel, RequestStore& requests)
    : MemoryBehind(machine),
      machine_(machine),
      wheel_(wheel),
      requests_(requests),
      map_(machine),
      slices_(static_cast<std::size_t>(machine.slices())),
      channels_(static_cast<std::size_t>(machine.channels)),
      toSlices_(wheel, Kind::Request, static_cast<std::size_t>(machine.sms), static_cast<std::size_t>(machine.slices()),
                machine.coreMhz / machine.networkMhz, machine.sectorsPerCycle),
      replies_(wheel, Kind::Reply, static_cast<std::size_t>(machine.slices()), static_cast<std::size_t>(machine.sms),
               machine.coreMhz / machine.networkMhz, machine.sectorsPerCycle),
      l2Cycle_(machine.coreMhz / machine.l2Mhz),
      dramCycle_(machine.coreMhz / machine.dramMhz) {
    for (Slice& slice : slices_) slice.cache.configure(machine.l2, 0);
    for (Channel& channel : channels_) {
        channel.lastLevel = LastLevelTags(machine);
        channel.banks.resize(static_cast<std::size_t>(machine.dram.banks));
        channel.groups.assign(static_cast<std::size_t>(machine.dram.groups), 0);
    }
}

void MemoryModel::send(std::uint32_t at, std::uint64_t from) {
    SectorRequest& request = requests_[at];
    ++counts.networkPackets;
    if (machine_.idealMemory) {
        wheel_.push(from + 2, Kind::Ideal, at);
        return;
    }
    const auto spot = map_.spot(request.address);
    request.slice = spot.slice + static_cast<unsigned>(request.sm % machine_.dies * machine_.slicesPerDie());
    request.bank = static_cast<std::uint8_t>(spot.bank), request.row = spot.row;
    toSlices_.push(request.sm, request.slice, at, from + 1);
}

void MemoryModel::requestAt(std::uint32_t slice) {
    const auto at = toSlices_.serve(slice);
    if (at < 0) return;
    const auto taken = claim(slices_[slice].accepts, wheel_.now() + 1, l2Cycle_);
    wheel_.push(taken + static_cast<std::uint64_t>(machine_.ropLatency) + 1, Kind::L2, static_cast<std::uint32_t>(at));
}

void MemoryModel::l2(std::uint32_t at) {
    Slice& slice = slices_[requests_[at].slice];
    if (slice.isBlocked || !look(at, wheel_.now())) {
        slice.isBlocked = true;
        slice.blocked.push_back(at);
        ++counts.l2.refused;
    }
}

void MemoryModel::reply(std::uint32_t at, std::uint64_t from) {
    const SectorRequest& request = requests_[at];
    replies_.push(request.slice, request.sm, at, from);
    ++counts.networkPackets;
}

// Whether the slice could take it.
bool MemoryModel::look(std::uint32_t at, std::uint64_t from) {
    SectorRequest& request = requests_[at];
    Slice& slice = slices_[request.slice];
    TimedCache& cache = slice.cache;
    const auto set = map_.l2Set(request.address);
    const unsigned part = TimedCache::sectorOf(request.address);
    std::int32_t line = -1;
    if (resident_ && !request.write && resident_->take(request.address)) warm(request.address);
    auto found = cache.find(request.address, set, line);
    if (found == TimedCache::Found::Refused) return false;
    auto& tag = cache.line(line);
    if (found == TimedCache::Found::Hit && !request.write && (tag.partial >> part & 1))
        found = TimedCache::Found::Missing;
    if (!request.write) {
        if (found == TimedCache::Found::Pending && tag.merged[part] >= machine_.l2.merges) return false;
        if (found == TimedCache::Found::Missing && cache.pending >= machine_.l2.mshrs) return false;
    }
    const auto now = claim(slice.looks, from, l2Cycle_);
    const auto allocate = [&] {
        const std::uint64_t driven = cache.tagOf(line) << 7;
        const int bursts = cache.take(line, request.address, set);
        if (bursts == 0) return;
        Channel& channel = channels_[request.slice / static_cast<unsigned>(machine_.slicesPerChannel)];
        if (!channel.lastLevel.present()) return writeBack(channel, driven, now, bursts);
        ++counts.lastLevelWrites;
        const auto taken = channel.lastLevel.access(driven, true, bursts);
        if (taken.writtenBack) writeBack(channel, *taken.writtenBack, now, taken.sectors);
    };
    if (request.write) {
        ++counts.l2.writes;
        ++(found == TimedCache::Found::Hit ? counts.l2.writeHits : counts.l2.writeMisses);
        allocate();
        cache.write(line, request.address, request.bytes);
        cache.use(line, set);
        reply(at, now + 1);
        return true;
    }
    ++counts.l2.reads;
    if (request.atomic) ++counts.l2.atomics;
    request.level = std::max(request.level, Level::L2);
    if (found == TimedCache::Found::Hit) {
        ++counts.l2.readHits;
        cache.use(line, set);
        if (request.atomic) cache.write(line, request.address, request.bytes);
        reply(at, now + 1);
        return true;
    }
    ++(found == TimedCache::Found::Pending ? counts.l2.readPending : counts.l2.readMisses);
    request.level = Level::Dram;
    if (found == TimedCache::Found::Missing) {
        allocate();
        auto& taken = cache.line(line);
        taken.pending |= static_cast<std::uint8_t>(1u << part);
        taken.merged[part] = 1, taken.waiting[part] = static_cast<std::int32_t>(at);
        ++cache.pending;
        request.next = -1, request.l2Line = line;
        Channel& channel = channels_[request.slice / static_cast<unsigned>(machine_.slicesPerChannel)];
        const bool cached = channel.lastLevel.present();
        const auto leaves =
            claim(channel.takes, now + 2, cached ? dramCycle_ / machine_.lastLevel.sectorsPerCycle : dramCycle_);
        if (cached) {
            ++counts.lastLevelReads;
            const auto held = channel.lastLevel.access(request.address, false);
            if (held.writtenBack) writeBack(channel, *held.writtenBack, now, held.sectors);
            if (held.hit) {
                ++counts.lastLevelHits;
                wheel_.push(leaves + static_cast<std::uint64_t>(machine_.lastLevel.latency) + 2, Kind::Fill, at);
                cache.use(line, set);
                return true;
            }
        }
        wheel_.push(leaves + static_cast<std::uint64_t>(machine_.dramLatency), Kind::Dram, at);
    } else {
        request.next = tag.waiting[part], request.l2Line = line;
        tag.waiting[part] = static_cast<std::int32_t>(at);
        ++tag.merged[part];
    }
    cache.use(line, set);
    return true;
}

void MemoryModel::writeBack(Channel& channel, std::uint64_t address, std::uint64_t now, int sectors) {
    const auto spot = map_.spot(address);
    serve(channel, spot.bank, spot.row, (static_cast<double>(now) + machine_.dramLatency) / dramCycle_, true, sectors);
}

// In cycles of the command clock: when the data have come.
double MemoryModel::serve(Channel& channel, std::uint32_t bankAt, std::uint32_t row, double at, bool write,
                          int bursts) {
    const DramTiming& t = machine_.dram;
    Bank& bank = channel.banks[bankAt % channel.banks.size()];
    auto& batches = bank.batches;
    while (batches.size() > 1 && batches.front().last < at) batches.pop_front();
    Batch* batch = nullptr;
    for (Batch& one : batches) {
        if (one.row == row && (one.last >= at || &one == &batches.back())) batch = &one;
    }
    if (!batch) {
        double activate = at;
        if (!batches.empty())
            activate = std::max(at, std::max(batches.back().last + t.rtpl, bank.activated + t.ras)) + t.rp;
        activate = std::max(activate, bank.activated + t.rc);
        channel.activates = std::max(channel.activates, at) + t.rrd;
        activate = std::max(activate, channel.activates - t.rrd);
        bank.activated = activate;
        batches.push_back({row, activate + t.rcd, activate + t.rcd});
        batch = &batches.back();
        ++counts.dramActivations;
        if (batches.size() > 1) ++counts.dramPrecharges;
    }
    if (write != channel.writing) {
        // While requests wait, those of one direction go together: about half of the banks that have some.
        const double waiting = std::max(0.0, channel.bus - at) / std::max(t.ccd, t.burst);
        const double together = std::max(1.0, std::min(waiting, static_cast<double>(channel.banks.size())) / 2);
        channel.bus = std::max(channel.bus, at) + (write ? t.readToWrite : t.writeToRead) / together;
        channel.writing = write;
    }
    double& group = channel.groups[bankAt & (channel.groups.size() - 1)];
    group = std::max(group, at) + bursts * t.ccdl;
    channel.bus = std::max(channel.bus, at) + bursts * std::max(t.ccd, t.burst);
    const double column = std::max({at, batch->open, group - t.ccdl, channel.bus - std::max(t.ccd, t.burst)});
    batch->last = std::max(batch->last, column);
    (write ? counts.dramWrites : counts.dramReads) += static_cast<unsigned>(bursts);
    return column + t.cl + t.burst;
}

void MemoryModel::dram(std::uint32_t at) {
    const SectorRequest& request = requests_[at];
    Channel& channel = channels_[request.slice / static_cast<unsigned>(machine_.slicesPerChannel)];
    const double done =
        serve(channel, request.bank, request.row, static_cast<double>(wheel_.now()) / dramCycle_, false, 1);
    wheel_.push(static_cast<std::uint64_t>(std::ceil(done * dramCycle_)) + 2, Kind::Fill, at);
}

void MemoryModel::fill(std::uint32_t at) {
    const SectorRequest request = requests_[at];
    Slice& slice = slices_[request.slice];
    const unsigned part = TimedCache::sectorOf(request.address);
    auto waiting = slice.cache.line(request.l2Line).waiting[part];
    slice.cache.fill(request.l2Line, request.address);
    // They wait in a stack; replies leave in the order of their coming.
    std::vector<std::uint32_t> order;
    for (; waiting >= 0; waiting = requests_[static_cast<std::uint32_t>(waiting)].next)
        order.push_back(static_cast<std::uint32_t>(waiting));
    for (auto one = order.rbegin(); one != order.rend(); ++one) {
        if (requests_[*one].atomic) slice.cache.write(request.l2Line, request.address, requests_[*one].bytes);
        reply(*one, wheel_.now() + 1);
    }
    if (!slice.isBlocked) return;
    std::size_t done = 0;
    while (done < slice.blocked.size() && look(slice.blocked[done], wheel_.now() + 1)) ++done;
    slice.blocked.erase(slice.blocked.begin(), slice.blocked.begin() + static_cast<std::ptrdiff_t>(done));
    slice.isBlocked = !slice.blocked.empty();
}

void MemoryModel::keepResident(std::span<const MemoryRange> ranges) {
    if (ranges.empty()) return;
    if (machine_.dies < 2) {
        resident_.emplace(ranges);
        return;
    }
    for (const MemoryRange& range : ranges) {
        for (std::uint64_t at = 0; at < range.bytes; at += 32) {
            const auto slice = map_.spot(range.first + at).slice;
            Channel& channel = channels_[slice / static_cast<unsigned>(machine_.slicesPerChannel)];
            if (channel.lastLevel.present()) channel.lastLevel.access(range.first + at, false);
        }
    }
}

void MemoryModel::warm(std::uint64_t sector) {
    Slice& slice = slices_[map_.spot(sector).slice];
    const auto set = map_.l2Set(sector);
    std::int32_t line = -1;
    if (slice.cache.find(sector, set, line) == TimedCache::Found::Refused) return;
    slice.cache.take(line, sector, set);
    slice.cache.line(line).valid |= static_cast<std::uint8_t>(1u << TimedCache::sectorOf(sector));
    slice.cache.use(line, set);
}

}  // namespace orrery::gpusim
