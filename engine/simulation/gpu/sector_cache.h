#pragma once

// A sectored cache with lines of 128 bytes that are allocated on a miss: tags, sectors under fill, the queue of misses.
// L1 (write-through) and each slice of L2 (write-back) are one.

#include "simulation/gpu/counters.h"
#include "simulation/gpu/machine.h"
#include "simulation/gpu/request.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace orrery::gpusim {

enum class CacheStatus : std::uint8_t { Hit, HitPending, Miss, SectorMiss, Refused };

class SectorCache {
public:
    void configure(const CacheShape& shape, double dirtyPercent, bool isL1);
    void setWays(int ways);  ///< empties it
    int ways() const { return ways_; }

    /// `set`: of the address, by whoever knows the index function. A hit has done its work; a miss has queued what it
    /// needs; a refusal has done nothing. `pool` gives the requests of lines that are written back.
    CacheStatus access(Request& request, std::uint32_t set, std::uint64_t time, CacheCounts& counts, RequestPool& pool);
    void fill(Request& request);
    bool hasReady() const { return !ready_.empty(); }
    Request* takeReady();
    Fifo<Request*>& misses() { return misses_; }
    bool awaits(std::uint64_t sector) const { return find(sector) >= 0; }
    void invalidate();
    /// Calls `each(address, sectors)` for every line that main memory lacks, and forgets all.
    template <class Each>
    void flush(Each&& each) {
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const auto sectors = std::count(lines_[i].state.begin(), lines_[i].state.end(), Modified);
            if (sectors > 0) each(tags_[i] << 7, static_cast<int>(sectors));
        }
        invalidate();
    }
    /// A host copy: the sector is valid, in no time.
    void warm(std::uint64_t sector, std::uint32_t set, std::uint64_t time);
    /// An access in no time: what it brings in is there at once, what it displaces is gone. Whether it was there. Many
    /// at one time keep their order for replacement.
    bool pass(std::uint64_t sector, std::uint32_t bytes, std::uint32_t set, std::uint64_t time, bool write);
    template <class Archive>
    void keep(Archive& archive) {
        int ways = ways_;
        archive(ways);
        if (archive.reads() && ways != ways_) {
            const auto most = archive.left() / sizeof(Line) / static_cast<std::size_t>(shape_.sets);
            if (!archive.check(isL1_ && ways > 0 && static_cast<std::size_t>(ways) <= most)) return;
            setWays(ways);
        }
        archive(dirty_, tags_, lines_, touched_, passed_, pending_);
        for (Pending& one : pending_) {
            auto waiting = waitingFor(one);
            archive.chain(waiting, isL1_);
            if (archive.reads()) waitFor(one, waiting);
        }
        archive.list(freePending_);
        archive(buckets_, pendingCount_, misses_, ready_, portBusy);
        if (archive.reads() && archive.sound()) archive.check(isSound());
    }
    int portBusy = 0;  ///< cycles for which the data port is taken

private:
    enum State : std::uint8_t { Invalid, Reserved, Valid, Modified };
    struct Line {
        std::array<State, 4> state{};
        std::uint8_t readable = 0xf, modifiedOnFill = 0, readableOnFill = 0;
        std::array<std::uint32_t, 4> written{};
        std::uint64_t used = 0;  ///< `stamp` of the last access
        bool invalid() const {
            return state[0] == Invalid && state[1] == Invalid && state[2] == Invalid && state[3] == Invalid;
        }
        bool has(State s) const { return state[0] == s || state[1] == s || state[2] == s || state[3] == s; }
    };
    // Leaves room for accesses in no time between two cycles.
    static constexpr std::uint64_t stamp(std::uint64_t time) { return time << 20; }
    CacheStatus probe(std::uint64_t line, std::uint32_t set, unsigned sector, bool write, std::int32_t& index) const;
    void touch(std::int32_t index, CacheStatus status, std::uint64_t line, unsigned sector, std::uint64_t time);
    void modify(Line& line, unsigned sector, std::uint32_t bytes);
    CacheStatus write(Request& request, CacheStatus found, std::int32_t index, std::uint64_t time, RequestPool& pool);
    CacheStatus read(Request& request, CacheStatus found, std::int32_t index, std::uint64_t time, RequestPool& pool);
    Request* victimOf(std::int32_t index, RequestPool& pool, const Request& by);

    bool isSound() const;  ///< what a file said
    std::int32_t find(std::uint64_t sector) const;
    std::int32_t insert(std::uint64_t sector);
    void erase(std::int32_t entry);

    struct Pending {
        std::uint64_t sector = 0;
        Request* first = nullptr;
        Request* last = nullptr;
        std::int32_t count = 0, next = -1;
        bool filled = false;  ///< its requests are ready
        template <class Archive>
        void keep(Archive& archive) {
            archive(sector, count, next, filled);
        }
    };
    std::vector<Request*> waitingFor(const Pending& one) const;
    void waitFor(Pending& one, const std::vector<Request*>& requests) const;

    CacheShape shape_;
    int ways_ = 1;
    bool isL1_ = true;
    double dirtyPercent_ = 0;
    std::int64_t dirty_ = 0;
    std::vector<std::uint64_t> tags_;
    std::vector<Line> lines_;
    bool touched_ = false;
    std::uint64_t passed_ = 0;  ///< stamp of the last access in no time
    std::vector<Pending> pending_;
    std::vector<std::int32_t> freePending_, buckets_;
    int pendingCount_ = 0;
    Fifo<Request*> misses_;
    Fifo<std::int32_t> ready_;
};

}  // namespace orrery::gpusim
