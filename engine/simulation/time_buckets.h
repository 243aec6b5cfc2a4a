#pragma once

// An event queue for simulations in which many things happen at the same tick, as in a collective among equals: events
// of one tick stand in one bucket in the order of their scheduling, so adding and taking one costs O(1); only new ticks
// cost a hash and O(log ticks). Same order as EventQueue. Memory is kept between ticks.

#include "simulation/event_kernel.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace orrery {

class TimeBuckets {
public:
    struct Event {
        std::uint32_t code = 0;
        std::uint32_t subject = 0;
    };

    TimeBuckets() : table_(64) {}

    /// `time` before now() counts as now().
    void schedule(SimTime time, std::uint32_t code, std::uint32_t subject) {
        time = std::max(time, now_);
        // Neighbours in a loop schedule for the same tick.
        if (time != lastTime_) {
            lastBucket_ = bucketOf(time);
            lastTime_ = time;
        }
        buckets_[lastBucket_].push_back({code, subject});
        ++size_;
    }
    bool empty() const { return size_ == 0; }
    std::uint64_t taken() const { return taken_; }
    /// Tick of the earliest event. Not for an empty queue.
    SimTime next() const { return cursor_ < current().size() ? now_ : times_.front().time; }
    SimTime now() const { return now_; }

    /// Takes the earliest event and moves now() to it. Not for an empty queue.
    Event pop() {
        while (cursor_ == current().size()) nextBucket();
        --size_;
        ++taken_;
        return current()[cursor_++];
    }

private:
    static constexpr std::uint32_t none = ~0U;
    struct Slot {
        SimTime time = -1;
        std::uint32_t bucket = none;
    };
    struct Later {
        bool operator()(const Slot& a, const Slot& b) const { return a.time > b.time; }
    };

    const std::vector<Event>& current() const { return at_ == none ? nothing_ : buckets_[at_]; }
    std::size_t home(SimTime time) const {
        return static_cast<std::size_t>((static_cast<std::uint64_t>(time) * 0x9E3779B97F4A7C15ULL) >> 32) &
               (table_.size() - 1);
    }
    std::uint32_t bucketOf(SimTime time) {
        std::size_t i = home(time);
        for (; table_[i].bucket != none; i = (i + 1) & (table_.size() - 1))
            if (table_[i].time == time) return table_[i].bucket;
        std::uint32_t bucket = 0;
        if (free_.empty()) {
            bucket = static_cast<std::uint32_t>(buckets_.size());
            buckets_.emplace_back();
        } else {
            bucket = free_.back();
            free_.pop_back();
        }
        times_.push_back({time, bucket});
        std::push_heap(times_.begin(), times_.end(), Later{});
        table_[i] = {time, bucket};
        if (++used_ * 2 > table_.size()) grow();
        return bucket;
    }
    void grow() {
        std::vector<Slot> old(table_.size() * 2);
        old.swap(table_);
        for (const Slot& slot : old) {
            if (slot.bucket == none) continue;
            std::size_t i = home(slot.time);
            while (table_[i].bucket != none) i = (i + 1) & (table_.size() - 1);
            table_[i] = slot;
        }
    }
    /// Linear probing without tombstones (Knuth, TAOCP 3, 6.4, algorithm R).
    void forget(SimTime time) {
        const std::size_t mask = table_.size() - 1;
        std::size_t hole = home(time);
        while (table_[hole].time != time || table_[hole].bucket == none) hole = (hole + 1) & mask;
        for (std::size_t i = (hole + 1) & mask; table_[i].bucket != none; i = (i + 1) & mask) {
            if (((i - home(table_[i].time)) & mask) < ((i - hole) & mask)) continue;
            table_[hole] = table_[i];
            hole = i;
        }
        table_[hole] = {};
        --used_;
    }
    void nextBucket() {
        if (at_ != none) {
            forget(now_);
            buckets_[at_].clear();
            free_.push_back(at_);
            if (lastTime_ == now_) lastTime_ = -1;
        }
        std::pop_heap(times_.begin(), times_.end(), Later{});
        now_ = times_.back().time;
        at_ = times_.back().bucket;
        times_.pop_back();
        cursor_ = 0;
    }

    std::vector<std::vector<Event>> buckets_;
    std::vector<Event> nothing_;
    std::vector<std::uint32_t> free_;
    std::vector<Slot> table_, times_;
    std::size_t used_ = 0, size_ = 0, cursor_ = 0;
    std::uint64_t taken_ = 0;
    std::uint32_t at_ = none, lastBucket_ = none;
    SimTime now_ = 0, lastTime_ = -1;
};

}  // namespace orrery
