#pragma once

// Who holds what in which cycle, for resources that are asked in program order and not in order of time.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace orrery::pipeline {

/// Slots of one width in time, each taken once: a way between caches, a memory channel. Times in cycles; what lies
/// before `advance()` is forgotten, what lies farther ahead than the ring is long is not held back.
class SlotRing {
public:
    SlotRing() : SlotRing(1) {}
    explicit SlotRing(double cyclesPerSlot)
        : width_(static_cast<std::uint64_t>(std::max(1.0, std::ceil(cyclesPerSlot * scale - 1e-6)))),
          words_(ringWords) {}

    void advance(std::uint64_t cycle) {
        const std::uint64_t word = cycle * scale / width_ / 64;
        if (word <= first_) return;
        const std::uint64_t last = std::min(word, first_ + ringWords);
        for (std::uint64_t w = first_; w < last; ++w) words_[w % ringWords] = 0;
        first_ = word;
    }
    /// The first free slot that begins at or after `cycle`; returns the cycle in which it begins.
    std::uint64_t reserve(std::uint64_t cycle) { return take((cycle * scale + width_ - 1) / width_, cycle); }
    /// The same where others take slots of the same way and nobody keeps to its grid: the slot that runs at `cycle`
    /// serves at once if it is free.
    std::uint64_t join(std::uint64_t cycle) {
        // The last that has begun by then, as cycles are counted; of narrow ones the first of the cycle.
        return take((width_ < scale ? cycle * scale : (cycle + 1) * scale - 1) / width_, cycle);
    }
    std::uint64_t taken() const { return taken_; }

private:
    std::uint64_t take(std::uint64_t slot, std::uint64_t cycle) {
        std::uint64_t word = slot / 64;
        if (word >= first_ + ringWords - 1 || word < first_) return cycle;
        std::uint64_t free = ~words_[word % ringWords] & (~0ull << (slot % 64));
        while (free == 0) {
            if (++word >= first_ + ringWords) return word * 64 * width_ / scale;
            free = ~words_[word % ringWords];
        }
        const auto bit = static_cast<std::uint64_t>(std::countr_zero(free));
        words_[word % ringWords] |= 1ull << bit;
        ++taken_;
        return std::max(cycle, (word * 64 + bit) * width_ / scale);
    }

    // Parts of a cycle. Slots are no narrower than was asked, so that no more passes than there is room for.
    static constexpr std::uint64_t scale = 4096, ringWords = 1024;
    std::uint64_t width_, first_ = 0, taken_ = 0;
    std::vector<std::uint64_t> words_;
};

/// A number of alike entries, each held from one cycle to another: misses in flight. Beginnings and ends are sorted by
/// themselves, for only their numbers up to a cycle matter.
class EntryPool {
public:
    explicit EntryPool(int entries = 1) : entries_(static_cast<std::size_t>(entries)) {
        begins_.reserve(most + 1);
        ends_.reserve(most + 1);
    }
    /// Whether no entry is free in this cycle.
    bool full(std::uint64_t cycle) const {
        if (ends_.size() < entries_) return false;
        return upTo(begins_, cycle) - upTo(ends_, cycle) >= entries_;
    }
    /// The first cycle from `cycle` on in which an entry is free.
    std::uint64_t freeFrom(std::uint64_t cycle) const {
        if (ends_.size() < entries_) return cycle;
        std::size_t begun = upTo(begins_, cycle), ended = upTo(ends_, cycle);
        while (begun - ended >= entries_) {
            cycle = ends_[ended++];
            while (begun < begins_.size() && begins_[begun] <= cycle) ++begun;
            while (ended < ends_.size() && ends_[ended] <= cycle) ++ended;
        }
        return cycle;
    }
    /// `now`: nobody asks for an earlier cycle any more.
    void hold(std::uint64_t from, std::uint64_t until, std::uint64_t now) {
        if (ends_.size() >= 2 * entries_ + 64) {
            const std::size_t gone = std::max<std::size_t>(upTo(ends_, now), ends_.size() >= most);
            begins_.erase(begins_.begin(), begins_.begin() + static_cast<std::ptrdiff_t>(gone));
            ends_.erase(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(gone));
        }
        begins_.insert(std::upper_bound(begins_.begin(), begins_.end(), from), from);
        ends_.insert(std::upper_bound(ends_.begin(), ends_.end(), until), until);
    }

private:
    static constexpr std::size_t most = 2048;
    static std::size_t upTo(const std::vector<std::uint64_t>& times, std::uint64_t cycle) {
        return static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), cycle) - times.begin());
    }
    std::size_t entries_;
    std::vector<std::uint64_t> begins_, ends_;
};

}  // namespace orrery::pipeline
