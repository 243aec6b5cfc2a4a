#pragma once

// The lines that a set-associative cache holds, when their data arrive, and which of a set gives way: the one that was
// used longest ago.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery::pipeline {

class CacheLines {
public:
    static constexpr std::size_t absent = ~std::size_t{0};

    CacheLines() = default;
    CacheLines(double bytes, int ways)
        : sets_(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(bytes / 64.0 / ways))),
          ways_(static_cast<std::size_t>(ways)),
          powerOfTwo_(std::has_single_bit(sets_)) {
        const std::size_t lines = static_cast<std::size_t>(sets_) * ways_;
        tags_.assign(lines, 0);
        used_.assign(lines, 0);
        ready.assign(lines, 0);
        from.assign(lines, 0);
        dirty.assign(lines, 0);
    }

    // By place.
    std::vector<std::uint64_t> ready;  ///< cycle
    std::vector<std::uint8_t> from;    ///< level of the data while they are on their way
    std::vector<std::uint8_t> dirty;

    std::size_t places() const { return tags_.size(); }
    /// Where the line is, which is used now; `absent`.
    std::size_t find(std::uint64_t line) {
        const std::size_t first = firstOf(line);
        for (std::size_t i = first; i < first + ways_; ++i) {
            if (tags_[i] == line + 1) {
                used_[i] = ++clock_;
                return i;
            }
        }
        return absent;
    }
    bool holds(std::uint64_t line) const {
        const std::size_t first = firstOf(line);
        for (std::size_t i = first; i < first + ways_; ++i) {
            if (tags_[i] == line + 1) return true;
        }
        return false;
    }
    /// The place that a line takes: an empty one, else that of the line used longest ago.
    std::size_t placeFor(std::uint64_t line) const {
        const std::size_t first = firstOf(line);
        std::size_t at = first;
        for (std::size_t i = first; i < first + ways_; ++i) {
            if (tags_[i] == 0) return i;
            // Ages, not stamps: the clock may wrap.
            if (clock_ - used_[i] > clock_ - used_[at]) at = i;
        }
        return at;
    }
    bool empty(std::size_t at) const { return tags_[at] == 0; }
    std::uint64_t lineAt(std::size_t at) const { return tags_[at] - 1; }
    void put(std::size_t at, std::uint64_t line, std::uint64_t arrives, std::uint8_t level, bool written) {
        tags_[at] = line + 1;
        used_[at] = ++clock_;
        ready[at] = arrives;
        from[at] = level;
        dirty[at] = written;
    }
    void drop(std::size_t at) { tags_[at] = 0; }

private:
    std::size_t firstOf(std::uint64_t line) const {
        return static_cast<std::size_t>(powerOfTwo_ ? line & (sets_ - 1) : line % sets_) * ways_;
    }
    std::uint64_t sets_ = 1;
    std::size_t ways_ = 0;
    bool powerOfTwo_ = true;
    std::uint32_t clock_ = 0;
    std::vector<std::uint64_t> tags_;
    std::vector<std::uint32_t> used_;
};

}  // namespace orrery::pipeline
