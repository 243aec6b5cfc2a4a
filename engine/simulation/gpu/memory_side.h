#pragma once

// What lies behind the interconnect: slices of L2 and the DRAM channels that they share.

#include "simulation/gpu/address.h"
#include "simulation/gpu/last_level.h"
#include "simulation/gpu/resident.h"
#include "simulation/gpu/sector_cache.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace orrery::gpusim {

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

class Slice {
public:
    Slice(const Machine& machine, const AddressMap& map) : machine_(machine), map_(map) {
        cache.configure(machine.l2, 0, false);
    }
    bool takes() const { return toL2_.size() + 4 <= static_cast<std::size_t>(machine_.toL2); }
    void push(Request* request, std::uint64_t coreCycle) {
        rop_.push({request, coreCycle + static_cast<std::uint64_t>(machine_.ropLatency)});
    }
    /// `counts`: by kernel, as requests name it.
    void cycle(std::uint64_t coreCycle, Counters* counts);
    /// The core cycle from which there is something to do.
    std::uint64_t wakes(std::uint64_t coreCycle) const {
        if (!toL2_.empty() || !cache_().misses().empty() || !fromDram.empty() || cache.hasReady() || cache.portBusy > 0)
            return coreCycle;
        return rop_.empty() ? never : rop_.front().ready;
    }
    template <class Archive>
    void keep(Archive& archive) {
        archive(cache, toDram, fromDram, replies, toL2_, rop_);
    }
    SectorCache cache;
    ResidentSectors* resident = nullptr;  ///< of all slices together; null: the cache is empty
    Fifo<Request*> toDram, fromDram, replies;
    RequestPool pool;

private:
    SectorCache& cache_() const { return const_cast<Slice*>(this)->cache; }
    struct Delayed {
        Request* request = nullptr;
        std::uint64_t ready = 0;
        template <class Archive>
        void keep(Archive& archive) {
            archive(request, ready);
        }
    };
    const Machine& machine_;
    const AddressMap& map_;
    Fifo<Request*> toL2_;
    Fifo<Delayed> rop_;
};

class DramChannel {
public:
    DramChannel(const Machine& machine, const AddressMap& map, std::vector<Slice*> slices);
    /// One cycle of the command clock, which counts from 0 without gaps in number though not in calls.
    void cycle(std::uint64_t now, std::uint64_t coreCycle, Counters* counts);
    /// The next cycle of the command clock at which something may happen by itself.
    std::uint64_t wakesAt() const { return wake_; }
    /// The core cycle at which the oldest request in the delay line is due.
    std::uint64_t delayedUntil() const {
        return std::min(delay_.empty() ? never : delay_.front().ready, hits_.empty() ? never : hits_.front().ready);
    }
    bool called() const;
    /// Puts a sector into the last-level cache without time.
    void warm(std::uint64_t sector, bool written = false, int sectors = 1) {
        if (lastLevel_.present()) lastLevel_.access(sector, written, sectors);
    }
    /// The row is open from now on, in no time, where its bank is not at work.
    void open(std::size_t bank, std::uint32_t row) {
        if (!banks_[bank].serving) banks_[bank].open = true, banks_[bank].row = row;
    }
    void poke() { wake_ = 0; }
    template <class Archive>
    void keep(Archive& archive) {
        archive(credits_, sharedCredits_, lastSlice_, banks_, groups_, delay_, hits_, lastLevel_, arrived_, returned_,
                data_, tail_, tailOfData_, minimum_, writing_, ccd_, rrd_, readToWrite_, writeToRead_, priority_,
                waiting_, idleBankHasWork_, wake_);
        if (archive.reads() && archive.sound()) archive.check(isSound());
    }

private:
    struct Bank {
        Request* serving = nullptr;
        std::uint8_t burstsLeft = 0;
        bool open = false, sticky = false;
        std::uint32_t row = 0, stickyRow = 0;
        std::uint64_t rcd = 0, ras = 0, rc = 0, rp = 0, rcdWrite = 0, writeToPrecharge = 0, readToPrecharge = 0;
        std::vector<Request*> queue;  ///< oldest first
        template <class Archive>
        void keep(Archive& archive) {
            archive.maybe(serving);
            archive(burstsLeft, open, sticky, row, stickyRow, rcd, ras, rc, rp, rcdWrite, writeToPrecharge,
                    readToPrecharge);
            archive.list(queue);
        }
    };
    struct Group {
        std::uint64_t ccd = 0, rtp = 0;
    };
    struct Returning {
        Request* request = nullptr;
        std::uint64_t slot = 0;
        bool last = true;
        template <class Archive>
        void keep(Archive& archive) {
            // The bursts of one request each name it.
            archive.maybe(request);
            archive(slot, last);
            archive.check(request != nullptr);
        }
    };
    struct Delayed {
        Request* request = nullptr;
        std::uint64_t ready = 0;
        template <class Archive>
        void keep(Archive& archive) {
            archive(request, ready);
        }
    };
    bool full() const;
    bool isSound() const;  ///< what a file said
    void schedule();
    bool column(std::size_t bank, std::uint64_t now, Counters* counts);
    bool row(std::size_t bank, std::uint64_t now, Counters* counts);
    /// Whether the last-level cache takes it; else it goes on to main memory.
    bool lastLevelTakes(Request* request, std::uint64_t coreCycle, Counters& counts);
    std::uint64_t earliest(std::size_t bank) const;

    const Machine& machine_;
    const DramTiming& t_;
    std::vector<Slice*> slices_;
    std::vector<int> credits_;
    int sharedCredits_ = 0;
    std::size_t lastSlice_ = 0;
    std::vector<Bank> banks_;
    std::vector<Group> groups_;
    Fifo<Delayed> delay_, hits_;
    LastLevelTags lastLevel_;
    const AddressMap& map_;
    Fifo<Request*> arrived_, returned_;
    Fifo<Returning> data_;
    std::uint64_t tail_ = 0, tailOfData_ = 0;
    int minimum_ = 0;
    bool writing_ = false;
    std::uint64_t ccd_ = 0, rrd_ = 0, readToWrite_ = 0, writeToRead_ = 0;
    std::size_t priority_ = 0;
    int waiting_ = 0;
    bool idleBankHasWork_ = false;
    std::uint64_t wake_ = 0;
};

}  // namespace orrery::gpusim
