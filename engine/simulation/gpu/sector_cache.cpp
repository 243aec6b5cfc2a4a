#include "simulation/gpu/sector_cache.h"

#include "base/hash.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace orrery::gpusim {

void SectorCache::configure(const CacheShape& shape, double dirtyPercent, bool isL1) {
    shape_ = shape, dirtyPercent_ = dirtyPercent, isL1_ = isL1;
    pending_.assign(static_cast<std::size_t>(shape.mshrs) + 1, {});
    freePending_.clear();
    for (std::int32_t i = shape.mshrs; i >= 0; --i) freePending_.push_back(i);
    buckets_.assign(std::bit_ceil(static_cast<std::size_t>(shape.mshrs) * 2), -1);
    setWays(shape.ways);
}

void SectorCache::setWays(int ways) {
    ways_ = std::max(1, ways);
    const auto lines = static_cast<std::size_t>(shape_.sets) * static_cast<std::size_t>(ways_);
    tags_.assign(lines, ~std::uint64_t{0});
    lines_.assign(lines, {});
    dirty_ = 0, touched_ = false;
}

void SectorCache::invalidate() {
    if (!touched_) return;
    for (Line& line : lines_) line.state.fill(Invalid);
    dirty_ = 0, touched_ = false;
}

std::int32_t SectorCache::find(std::uint64_t sector) const {
    for (auto at = buckets_[mixedBits(sector) & (buckets_.size() - 1)]; at >= 0;
         at = pending_[static_cast<std::size_t>(at)].next) {
        if (pending_[static_cast<std::size_t>(at)].sector == sector) return at;
    }
    return -1;
}

std::int32_t SectorCache::insert(std::uint64_t sector) {
    const auto at = freePending_.back();
    freePending_.pop_back();
    auto& bucket = buckets_[mixedBits(sector) & (buckets_.size() - 1)];
    pending_[static_cast<std::size_t>(at)] = {sector, nullptr, nullptr, 0, bucket, false};
    bucket = at;
    ++pendingCount_;
    return at;
}

void SectorCache::erase(std::int32_t entry) {
    auto* link = &buckets_[mixedBits(pending_[static_cast<std::size_t>(entry)].sector) & (buckets_.size() - 1)];
    while (*link != entry) link = &pending_[static_cast<std::size_t>(*link)].next;
    *link = pending_[static_cast<std::size_t>(entry)].next;
    freePending_.push_back(entry);
    --pendingCount_;
}

std::vector<Request*> SectorCache::waitingFor(const Pending& one) const {
    std::vector<Request*> out;
    for (Request* at = one.first; at; at = at == one.last ? nullptr : isL1_ ? at->nextL1 : at->nextL2)
        out.push_back(at);
    return out;
}

void SectorCache::waitFor(Pending& one, const std::vector<Request*>& requests) const {
    one.first = requests.empty() ? nullptr : requests.front();
    one.last = requests.empty() ? nullptr : requests.back();
    for (std::size_t i = 0; i + 1 < requests.size(); ++i)
        (isL1_ ? requests[i]->nextL1 : requests[i]->nextL2) = requests[i + 1];
}

// Every place for a sector under fill is free or in the chain of its bucket, once; those that are filled are ready.
bool SectorCache::isSound() const {
    const auto most = pending_.size();
    std::vector<char> seen(most, false), ready(most, false);
    for (const std::int32_t free : freePending_) {
        if (free < 0 || static_cast<std::size_t>(free) >= most || seen[static_cast<std::size_t>(free)]) return false;
        seen[static_cast<std::size_t>(free)] = true;
    }
    for (std::size_t i = 0; i < ready_.size(); ++i) {
        const auto entry = static_cast<std::size_t>(ready_.at(i));
        if (entry >= most || ready[entry] || seen[entry]) return false;
        ready[entry] = true;
    }
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
        for (std::int32_t at = buckets_[bucket]; at != -1; at = pending_[static_cast<std::size_t>(at)].next) {
            const auto entry = static_cast<std::size_t>(at);
            if (at < 0 || entry >= most || seen[entry]) return false;
            seen[entry] = true;
            const Pending& one = pending_[entry];
            if ((mixedBits(one.sector) & (buckets_.size() - 1)) != bucket || one.filled != (ready[entry] != 0) ||
                !one.first || one.count < 1)
                return false;
        }
    }
    const auto under = most - freePending_.size();
    const auto isState = [](const Line& line) {
        return std::all_of(line.state.begin(), line.state.end(), [](State s) { return s <= Modified; });
    };
    return std::all_of(seen.begin(), seen.end(), [](char one) { return one != 0; }) && pendingCount_ >= 0 &&
           static_cast<std::size_t>(pendingCount_) == under && pendingCount_ <= shape_.mshrs && portBusy >= 0 &&
           std::all_of(lines_.begin(), lines_.end(), isState);
}

CacheStatus SectorCache::probe(std::uint64_t line, std::uint32_t set, unsigned sector, bool write,
                               std::int32_t& index) const {
    const std::size_t begin = static_cast<std::size_t>(set) * static_cast<std::size_t>(ways_);
    const std::uint64_t* tags = tags_.data() + begin;
    for (int way = 0; way < ways_; ++way) {
        if (tags[way] != line) continue;
        const Line& one = lines_[begin + static_cast<std::size_t>(way)];
        index = static_cast<std::int32_t>(begin) + way;
        switch (one.state[sector]) {
            case Reserved:
                return CacheStatus::HitPending;
            case Valid:
                return CacheStatus::Hit;
            case Modified:
                return write || (one.readable >> sector & 1) ? CacheStatus::Hit : CacheStatus::SectorMiss;
            case Invalid:
                break;
        }
        if (!one.invalid()) return CacheStatus::SectorMiss;
    }
    // The last line without data, else the least recently used that may go: clean ones while few are dirty.
    const bool dirtyMayGo = static_cast<double>(dirty_) * 100 >= dirtyPercent_ * static_cast<double>(lines_.size());
    std::int32_t free = -1, oldest = -1;
    std::uint64_t when = std::numeric_limits<std::uint64_t>::max();
    for (int way = 0; way < ways_; ++way) {
        const Line& one = lines_[begin + static_cast<std::size_t>(way)];
        if (one.has(Reserved) || (!dirtyMayGo && one.has(Modified))) continue;
        if (one.invalid())
            free = static_cast<std::int32_t>(begin) + way;
        else if (one.used < when)
            when = one.used, oldest = static_cast<std::int32_t>(begin) + way;
    }
    index = free >= 0 ? free : oldest;
    return index >= 0 ? CacheStatus::Miss : CacheStatus::Refused;
}

void SectorCache::modify(Line& line, unsigned sector, std::uint32_t bytes) {
    if (!line.has(Modified)) ++dirty_;
    line.state[sector] = Modified;
    line.written[sector] |= bytes;
}

Request* SectorCache::victimOf(std::int32_t index, RequestPool& pool, const Request& by) {
    const Line& line = lines_[static_cast<std::size_t>(index)];
    if (isL1_ || !line.has(Modified)) return nullptr;
    Request* out = pool.take();
    out->kind = Request::Kind::WriteBack;
    out->address = tags_[static_cast<std::size_t>(index)] << 7;
    out->slice = by.slice, out->kernel = by.kernel;
    out->bursts = static_cast<std::uint8_t>(std::count(line.state.begin(), line.state.end(), Modified));
    return out;
}

void SectorCache::touch(std::int32_t index, CacheStatus status, std::uint64_t address, unsigned sector,
                        std::uint64_t time) {
    Line& line = lines_[static_cast<std::size_t>(index)];
    touched_ = true;
    if (status == CacheStatus::Miss) {
        if (line.has(Modified)) --dirty_;
        line = Line{};
        tags_[static_cast<std::size_t>(index)] = address;
        line.state[sector] = Reserved;
    } else if (status == CacheStatus::SectorMiss) {
        const bool before = line.has(Modified);
        const auto bit = static_cast<std::uint8_t>(1u << sector);
        if (line.state[sector] == Modified)
            line.modifiedOnFill |= bit;
        else
            line.modifiedOnFill &= static_cast<std::uint8_t>(~bit);
        line.readableOnFill &= static_cast<std::uint8_t>(~bit);
        line.state[sector] = Reserved;
        line.readable |= bit;
        if (before && !line.has(Modified)) --dirty_;
    }
    line.used = stamp(time);
}

CacheStatus SectorCache::write(Request& request, CacheStatus found, std::int32_t index, std::uint64_t time,
                               RequestPool& pool) {
    if (misses_.size() >= static_cast<std::size_t>(shape_.missQueue)) return CacheStatus::Refused;
    const unsigned sector = static_cast<unsigned>(request.address >> 5) & 3;
    const auto bit = static_cast<std::uint8_t>(1u << sector);
    if (!shape_.writeBack) misses_.push(&request);
    Request* victim = found == CacheStatus::Miss ? victimOf(index, pool, request) : nullptr;
    touch(index, found, request.address >> 7, sector, time);
    Line& line = lines_[static_cast<std::size_t>(index)];
    modify(line, sector, request.bytes);
    if (found != CacheStatus::Hit) {
        if (found == CacheStatus::HitPending) line.modifiedOnFill |= bit;
        if (request.bytes == 0xffffffffu)
            line.readable |= bit;
        else {
            line.readable &= static_cast<std::uint8_t>(~bit);
            if (found == CacheStatus::HitPending) line.readableOnFill |= bit;
        }
    }
    if (line.written[sector] == 0xffffffffu) line.readable |= bit;
    if (victim) misses_.push(victim);
    return found == CacheStatus::Hit ? CacheStatus::Hit : CacheStatus::Miss;
}

CacheStatus SectorCache::read(Request& request, CacheStatus found, std::int32_t index, std::uint64_t time,
                              RequestPool& pool) {
    const unsigned sector = static_cast<unsigned>(request.address >> 5) & 3;
    if (found == CacheStatus::Hit) {
        touch(index, found, request.address >> 7, sector, time);
        if (request.kind == Request::Kind::Atomic)
            modify(lines_[static_cast<std::size_t>(index)], sector, request.bytes);
        return CacheStatus::Hit;
    }
    // A miss may need two requests: its own and a line that is written back.
    if (misses_.size() + 1 >= static_cast<std::size_t>(shape_.missQueue)) return CacheStatus::Refused;
    const auto entry = find(request.address);
    if (entry >= 0 ? pending_[static_cast<std::size_t>(entry)].count >= shape_.merges : pendingCount_ >= shape_.mshrs)
        return CacheStatus::Refused;
    Request* victim = found == CacheStatus::Miss ? victimOf(index, pool, request) : nullptr;
    touch(index, found, request.address >> 7, sector, time);
    auto& one = pending_[static_cast<std::size_t>(entry >= 0 ? entry : insert(request.address))];
    Request*& link = isL1_ ? request.nextL1 : request.nextL2;
    link = nullptr;
    if (one.last)
        (isL1_ ? one.last->nextL1 : one.last->nextL2) = &request;
    else
        one.first = &request;
    one.last = &request;
    ++one.count;
    (isL1_ ? request.l1Line : request.l2Line) = index;
    if (entry < 0) misses_.push(&request);
    if (victim) misses_.push(victim);
    return CacheStatus::Miss;
}

CacheStatus SectorCache::access(Request& request, std::uint32_t set, std::uint64_t time, CacheCounts& counts,
                                RequestPool& pool) {
    const bool isWrite = request.isWrite();
    std::int32_t index = -1;
    const auto found =
        probe(request.address >> 7, set, static_cast<unsigned>(request.address >> 5) & 3, isWrite, index);
    auto status = found;
    if (found != CacheStatus::Refused)
        status = isWrite ? write(request, found, index, time, pool) : read(request, found, index, time, pool);
    if (status == CacheStatus::Refused) {
        ++counts.refused;
        return status;
    }
    if (isWrite) {
        ++counts.writes;
        ++(found == CacheStatus::Hit ? counts.writeHits : counts.writeMisses);
    } else {
        ++counts.reads;
        if (request.kind == Request::Kind::Atomic) ++counts.atomics;
        ++(found == CacheStatus::Hit          ? counts.readHits
           : found == CacheStatus::HitPending ? counts.readPending
                                              : counts.readMisses);
    }
    if (status == CacheStatus::Hit) portBusy += 1;
    return status;
}

void SectorCache::fill(Request& request) {
    const auto index = isL1_ ? request.l1Line : request.l2Line;
    const unsigned sector = static_cast<unsigned>(request.address >> 5) & 3;
    const auto bit = static_cast<std::uint8_t>(1u << sector);
    // L1 may have fewer ways by now than when the sector was asked for.
    if (index >= 0 && static_cast<std::size_t>(index) < tags_.size() &&
        tags_[static_cast<std::size_t>(index)] == request.address >> 7) {
        Line& line = lines_[static_cast<std::size_t>(index)];
        const bool before = line.has(Modified);
        line.state[sector] = line.modifiedOnFill & bit ? Modified : Valid;
        if (line.readableOnFill & bit) line.readable |= bit, line.readableOnFill &= static_cast<std::uint8_t>(~bit);
        if (!before && line.has(Modified)) ++dirty_;
        if (request.kind == Request::Kind::Atomic) modify(line, sector, request.bytes);
        touched_ = true;
    }
    const auto entry = find(request.address);
    if (entry < 0 || pending_[static_cast<std::size_t>(entry)].filled) return;
    pending_[static_cast<std::size_t>(entry)].filled = true;
    ready_.push(entry);
}

Request* SectorCache::takeReady() {
    const auto entry = ready_.front();
    auto& one = pending_[static_cast<std::size_t>(entry)];
    Request* out = one.first;
    one.first = isL1_ ? out->nextL1 : out->nextL2;
    if (!one.first) {
        ready_.pop();
        erase(entry);
    }
    return out;
}

void SectorCache::warm(std::uint64_t sector, std::uint32_t set, std::uint64_t time) {
    std::int32_t index = -1;
    const unsigned part = static_cast<unsigned>(sector >> 5) & 3;
    const auto found = probe(sector >> 7, set, part, false, index);
    if (found == CacheStatus::Refused) return;
    if (found == CacheStatus::Miss || found == CacheStatus::SectorMiss) {
        touch(index, found, sector >> 7, part, time);
        Line& line = lines_[static_cast<std::size_t>(index)];
        line.state[part] = Valid;
    } else {
        lines_[static_cast<std::size_t>(index)].used = stamp(time);
    }
}

bool SectorCache::pass(std::uint64_t address, std::uint32_t bytes, std::uint32_t set, std::uint64_t time, bool write) {
    std::int32_t index = -1;
    const unsigned sector = static_cast<unsigned>(address >> 5) & 3;
    const auto bit = static_cast<std::uint8_t>(1u << sector);
    const auto found = probe(address >> 7, set, sector, write, index);
    if (found == CacheStatus::Refused) return false;
    const bool missed = found == CacheStatus::Miss || found == CacheStatus::SectorMiss;
    Line& line = lines_[static_cast<std::size_t>(index)];
    const bool wasModified = found == CacheStatus::SectorMiss && line.state[sector] == Modified;
    touch(index, found, address >> 7, sector, time);
    if (missed) {
        line.state[sector] = Valid;
        if (wasModified) modify(line, sector, 0);
    }
    if (write) {
        modify(line, sector, bytes);
        if (found == CacheStatus::HitPending) line.modifiedOnFill |= bit;
        if (bytes == 0xffffffffu || line.written[sector] == 0xffffffffu)
            line.readable |= bit;
        else if (missed)
            line.readable &= static_cast<std::uint8_t>(~bit);
    }
    line.used = passed_ = std::max(passed_ + 1, stamp(time));
    return !missed;
}

}  // namespace orrery::gpusim
