#include "simulation/gpu/memory_side.h"

#include <algorithm>

namespace orrery::gpusim {

void Slice::cycle(std::uint64_t coreCycle, Counters* counts) {
    const auto room = [](const Fifo<Request*>& queue, int limit) {
        return queue.size() < static_cast<std::size_t>(limit);
    };
    if (cache.hasReady() && room(replies, machine_.fromL2)) replies.push(cache.takeReady());
    if (!fromDram.empty()) {
        cache.fill(*fromDram.front());
        fromDram.pop();
    }
    if (!cache.misses().empty() && room(toDram, machine_.toDram)) {
        Request* miss = cache.misses().take();
        if (miss->kind == Request::Kind::WriteBack) {
            // A line of its own, in a row of its own.
            const auto spot = map_.spot(miss->address);
            miss->bank = static_cast<std::uint8_t>(spot.bank), miss->row = spot.row;
        }
        toDram.push(miss);
    }
    if (cache.portBusy > 0) --cache.portBusy;
    const bool portFree = cache.portBusy == 0;
    if (!toL2_.empty() && room(toDram, machine_.toDram) && room(replies, machine_.fromL2) && portFree) {
        Request* request = toL2_.front();
        if (resident && !request->isWrite() && resident->take(request->address))
            cache.warm(request->address, map_.l2Set(request->address), coreCycle);
        const auto status =
            cache.access(*request, map_.l2Set(request->address), coreCycle, counts[request->kernel].l2, pool);
        if (status != CacheStatus::Refused) {
            toL2_.pop();
            if (status == CacheStatus::Hit || request->isWrite()) replies.push(request);
        }
    }
    if (!rop_.empty() && coreCycle >= rop_.front().ready && room(toL2_, machine_.toL2)) toL2_.push(rop_.take().request);
}

DramChannel::DramChannel(const Machine& machine, const AddressMap& map, std::vector<Slice*> slices)
    : machine_(machine),
      t_(machine.dram),
      slices_(std::move(slices)),
      credits_(slices_.size(), 0),
      banks_(static_cast<std::size_t>(machine.dram.banks)),
      groups_(static_cast<std::size_t>(machine.dram.groups)),
      lastLevel_(machine),
      map_(map),
      minimum_(machine.dram.cl) {
    tail_ = static_cast<std::uint64_t>(minimum_);
}

bool DramChannel::full() const {
    return machine_.firstReadyFirst ? machine_.dramQueue > 0 && waiting_ >= machine_.dramQueue : arrived_.size() >= 2;
}

bool DramChannel::isSound() const {
    std::size_t queued = 0;
    for (const Bank& bank : banks_) {
        queued += bank.queue.size();
        if (bank.serving && bank.burstsLeft == 0) return false;
        const auto isOfRow = [&](const Request* one) { return one->row == bank.stickyRow; };
        if (bank.sticky && std::none_of(bank.queue.begin(), bank.queue.end(), isOfRow)) return false;
    }
    return static_cast<std::size_t>(waiting_) == queued && priority_ < banks_.size() &&
           (minimum_ == t_.wl || minimum_ == t_.cl);
}

bool DramChannel::called() const {
    return std::any_of(slices_.begin(), slices_.end(), [](const Slice* one) { return !one->toDram.empty(); });
}

void DramChannel::schedule() {
    if (!machine_.firstReadyFirst) {
        if (arrived_.empty()) return;
        Bank& bank = banks_[arrived_.front()->bank];
        if (bank.serving) return;
        bank.serving = arrived_.take();
        bank.burstsLeft = bank.serving->bursts;
        return;
    }
    while (!arrived_.empty()) {
        Request* one = arrived_.take();
        banks_[one->bank].queue.push_back(one);
        ++waiting_;
        idleBankHasWork_ = true;
    }
    if (!idleBankHasWork_) return;
    const std::size_t n = banks_.size();
    for (std::size_t i = 0; i < n; ++i) {
        Bank& bank = banks_[(i + priority_) % n];
        if (bank.serving || bank.queue.empty()) continue;
        const auto ofRow = [&](std::uint32_t row) {
            return std::find_if(bank.queue.begin(), bank.queue.end(), [&](const Request* r) { return r->row == row; });
        };
        if (!bank.sticky) {
            bank.sticky = true;
            bank.stickyRow = ofRow(bank.row) != bank.queue.end() ? bank.row : bank.queue.front()->row;
        }
        const auto found = ofRow(bank.stickyRow);
        bank.serving = *found;
        bank.burstsLeft = bank.serving->bursts;
        bank.queue.erase(found);
        bank.sticky = ofRow(bank.stickyRow) != bank.queue.end();
        --waiting_;
        priority_ = (priority_ + 1) % n;
    }
    idleBankHasWork_ =
        std::any_of(banks_.begin(), banks_.end(), [](const Bank& b) { return !b.serving && !b.queue.empty(); });
}

bool DramChannel::column(std::size_t at, std::uint64_t now, Counters* counts) {
    Bank& bank = banks_[at];
    if (!bank.serving || !bank.open || bank.row != bank.serving->row) return false;
    Group& group = groups_[at & (groups_.size() - 1)];
    if (now < ccd_ || now < group.ccd) return false;
    const bool write = bank.serving->isWrite();
    if (write ? now < bank.rcdWrite || now < readToWrite_ : now < bank.rcd || now < writeToRead_) return false;
    const auto in = [&](int cycles) { return now + static_cast<std::uint64_t>(std::max(0, cycles)); };
    if (write != writing_) {
        // The pipeline of data takes the other latency; empty places at its end go or come.
        writing_ = write;
        minimum_ = write ? t_.wl : t_.cl;
        const std::uint64_t least = now + static_cast<std::uint64_t>(minimum_);
        std::uint64_t lastData = now;
        if (!data_.empty()) lastData = tailOfData_;
        tail_ = tail_ > least ? std::max(least, lastData) : least;
    }
    ++tail_;
    tailOfData_ = tail_;
    --bank.burstsLeft;
    data_.push({bank.serving, tail_, bank.burstsLeft == 0});
    ccd_ = in(t_.ccd), group.ccd = in(t_.ccdl);
    if (write) {
        writeToRead_ = in(t_.writeToRead), bank.writeToPrecharge = in(t_.writeToPrecharge);
        ++counts[bank.serving->kernel].dramWrites;
    } else {
        readToWrite_ = in(t_.readToWrite), bank.readToPrecharge = in(t_.burst), group.rtp = in(t_.rtpl);
        ++counts[bank.serving->kernel].dramReads;
    }
    if (bank.burstsLeft == 0) {
        bank.serving = nullptr;
        idleBankHasWork_ |= !bank.queue.empty();
    }
    return true;
}

bool DramChannel::row(std::size_t at, std::uint64_t now, Counters* counts) {
    Bank& bank = banks_[at];
    if (!bank.serving) return false;
    const Group& group = groups_[at & (groups_.size() - 1)];
    const auto in = [&](int cycles) { return now + static_cast<std::uint64_t>(std::max(0, cycles)); };
    if (!bank.open) {
        if (now < rrd_ || now < bank.rp || now < bank.rc) return false;
        bank.open = true, bank.row = bank.serving->row;
        rrd_ = in(t_.rrd), bank.rcd = in(t_.rcd), bank.rcdWrite = in(t_.rowToWrite), bank.ras = in(t_.ras),
        bank.rc = in(t_.rc);
        ++counts[bank.serving->kernel].dramActivations;
    } else {
        if (bank.row == bank.serving->row || now < bank.ras || now < bank.writeToPrecharge ||
            now < bank.readToPrecharge || now < group.rtp)
            return false;
        bank.open = false, bank.rp = in(t_.rp);
        ++counts[bank.serving->kernel].dramPrecharges;
    }
    priority_ = (at + 1) % banks_.size();
    return true;
}

std::uint64_t DramChannel::earliest(std::size_t at) const {
    const Bank& bank = banks_[at];
    if (!bank.serving) return never;
    const Group& group = groups_[at & (groups_.size() - 1)];
    if (!bank.open) return std::max({rrd_, bank.rp, bank.rc});
    if (bank.row != bank.serving->row)
        return std::max({bank.ras, bank.writeToPrecharge, bank.readToPrecharge, group.rtp});
    return bank.serving->isWrite() ? std::max({ccd_, group.ccd, bank.rcdWrite, readToWrite_})
                                   : std::max({ccd_, group.ccd, bank.rcd, writeToRead_});
}

bool DramChannel::lastLevelTakes(Request* request, std::uint64_t coreCycle, Counters& counts) {
    const bool write = request->kind == Request::Kind::WriteBack;
    const auto found = lastLevel_.access(request->address, write, request->bursts);
    Slice& slice = *slices_[request->slice % slices_.size()];
    if (found.writtenBack) {
        Request* out = slice.pool.take();
        out->kind = Request::Kind::WriteBack, out->address = *found.writtenBack, out->slice = request->slice,
        out->kernel = request->kernel;
        out->bursts = static_cast<std::uint8_t>(found.sectors);
        const auto spot = map_.spot(out->address);
        out->bank = static_cast<std::uint8_t>(spot.bank), out->row = spot.row;
        delay_.push({out, coreCycle + static_cast<std::uint64_t>(machine_.dramLatency)});
    }
    if (write) {
        ++counts.lastLevelWrites;
        slice.pool.give(request);
        return true;
    }
    ++counts.lastLevelReads;
    if (!found.hit) return false;
    ++counts.lastLevelHits;
    hits_.push({request, coreCycle + static_cast<std::uint64_t>(machine_.lastLevel.latency)});
    return true;
}

void DramChannel::cycle(std::uint64_t now, std::uint64_t coreCycle, Counters* counts) {
    const int most = lastLevel_.present() ? machine_.lastLevel.sectorsPerCycle : 1;
    for (int i = 0; i < most && !hits_.empty() && hits_.front().ready <= coreCycle; ++i)
        returned_.push(hits_.take().request);
    for (int i = 0; i < most && !returned_.empty(); ++i) {
        Request* one = returned_.front();
        const std::size_t slice = one->slice % slices_.size();
        if (slices_[slice]->fromDram.size() < static_cast<std::size_t>(machine_.fromDram)) {
            slices_[slice]->fromDram.push(one);
            returned_.pop();
            if (credits_[slice] > 1) --sharedCredits_;
            --credits_[slice];
        } else {
            break;
        }
    }
    if (!data_.empty() && data_.front().slot <= now) {
        const auto one = data_.take();
        if (one.last) {
            if (one.request->kind == Request::Kind::WriteBack) {
                // A write-back has no reply, and its place in the credits is not given back.
                slices_[one.request->slice % slices_.size()]->pool.give(one.request);
            } else {
                returned_.push(one.request);
            }
        }
    }
    tail_ = std::max(tail_, now + static_cast<std::uint64_t>(minimum_));
    schedule();
    const std::size_t n = banks_.size(), first = priority_;
    bool columnDone = false, rowDone = false;
    if (t_.twoCommands) {
        for (std::size_t i = 0; i < n && !columnDone; ++i) columnDone = column((i + first) % n, now, counts);
        const std::size_t then = priority_;
        for (std::size_t i = 0; i < n && !rowDone; ++i) rowDone = row((i + then) % n, now, counts);
    } else {
        for (std::size_t i = 0; i < n && !columnDone && !rowDone; ++i) {
            columnDone = column((i + first) % n, now, counts);
            if (!columnDone) rowDone = row((i + first) % n, now, counts);
        }
    }
    const auto limit = machine_.dramQueue + machine_.dramReturnQueue - (static_cast<int>(slices_.size()) - 1);
    int taken = 0;
    for (std::size_t p = 0; p < slices_.size(); ++p) {
        const std::size_t s = (p + lastSlice_ + 1) % slices_.size();
        Slice& slice = *slices_[s];
        if (slice.toDram.empty() || slice.fromDram.size() >= static_cast<std::size_t>(machine_.fromDram)) continue;
        if (credits_[s] >= 1 && sharedCredits_ >= limit) continue;
        if (full()) break;
        Request* one = slice.toDram.take();
        if (one->kind != Request::Kind::WriteBack) {
            if (credits_[s] >= 1) ++sharedCredits_;
            ++credits_[s];
        }
        if (!lastLevel_.present() || !lastLevelTakes(one, coreCycle, counts[one->kernel]))
            delay_.push({one, coreCycle + static_cast<std::uint64_t>(machine_.dramLatency)});
        lastSlice_ = s;
        if (++taken >= most) break;
    }
    bool pushed = false;
    if (!delay_.empty() && coreCycle >= delay_.front().ready && !full()) {
        arrived_.push(delay_.take().request);
        pushed = true;
    }
    wake_ = never;
    if (columnDone || rowDone || pushed || !returned_.empty() || idleBankHasWork_ || !arrived_.empty()) {
        wake_ = now + 1;
        return;
    }
    for (std::size_t b = 0; b < n; ++b) wake_ = std::min(wake_, earliest(b));
    if (!data_.empty()) wake_ = std::min(wake_, data_.front().slot);
    wake_ = std::max(wake_, now + 1);
}

}  // namespace orrery::gpusim
