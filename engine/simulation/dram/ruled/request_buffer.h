#pragma once

// Requests that wait in a controller, in lists by bank in order of arrival, with the two that can matter at hand: the
// oldest one of the open row and the oldest one of another row. Which banks have one of either stands in words of bits,
// as DramRuleState numbers them. All places are allocated once.

#include <cstdint>
#include <vector>

namespace orrery {

inline constexpr std::int64_t ruledNoRow = -1;

struct RuledEntry {
    std::int64_t row = 0;
    std::int64_t arrived = 0;
    std::int32_t column = 0, bank = 0;
    std::int32_t request = 0;  ///< of the trace
    std::int32_t next = -1, previous = -1;
    bool write = false;
    bool counted = false;  ///< as hit, miss or conflict
};

class RuledBuffer {
public:
    struct Bank {
        std::int32_t head = -1, tail = -1;
        std::int32_t hit = -1;   ///< oldest of the open row
        std::int32_t miss = -1;  ///< oldest of another row; of a closed bank the oldest
    };
    // Before these cycles none of its column, none of its row commands is allowed. Rules only ever push a command back,
    // so that what was found stays a bound; who brings a new command lowers it.
    std::int64_t columnsFrom = 0, rowsFrom = 0;

    RuledBuffer(int banks, int capacity, int perWord)
        : entries_(static_cast<std::size_t>(capacity)),
          banks_(static_cast<std::size_t>(banks)),
          hits_(static_cast<std::size_t>((banks + perWord - 1) / perWord), 0),
          misses_(hits_),
          capacity_(capacity),
          perWord_(perWord) {
        free_.reserve(entries_.size());
        for (int i = capacity - 1; i >= 0; --i) free_.push_back(i);
    }

    int size() const { return size_; }
    bool full() const { return size_ == capacity_; }
    std::uint64_t hits(int word) const { return hits_[static_cast<std::size_t>(word)]; }      ///< banks
    std::uint64_t misses(int word) const { return misses_[static_cast<std::size_t>(word)]; }  ///< banks
    const Bank& bank(int index) const { return banks_[static_cast<std::size_t>(index)]; }
    RuledEntry& entry(std::int32_t index) { return entries_[static_cast<std::size_t>(index)]; }
    const RuledEntry& entry(std::int32_t index) const { return entries_[static_cast<std::size_t>(index)]; }

    /// True: it is the first of its bank of its sort, which was none before.
    bool push(const RuledEntry& request, std::int64_t openRow) {
        const auto index = free_.back();
        free_.pop_back();
        auto& e = entry(index) = request;
        auto& list = banks_[static_cast<std::size_t>(request.bank)];
        e.previous = list.tail;
        e.next = -1;
        (list.tail >= 0 ? entry(list.tail).next : list.head) = index;
        list.tail = index;
        ++size_;
        const bool hits = request.row == openRow;
        auto& first = hits ? list.hit : list.miss;
        if (first >= 0) return false;
        first = index;
        (hits ? hits_ : misses_)[wordOf(request.bank)] |= bitOf(request.bank);
        return true;
    }

    /// `openRow` of its bank as it is afterwards for rowChanged(), or as it was.
    void remove(std::int32_t index, std::int64_t openRow) {
        const auto e = entry(index);
        auto& list = banks_[static_cast<std::size_t>(e.bank)];
        (e.previous >= 0 ? entry(e.previous).next : list.head) = e.next;
        (e.next >= 0 ? entry(e.next).previous : list.tail) = e.previous;
        if (list.hit == index) list.hit = first(e.next, openRow, true);
        if (list.miss == index) list.miss = first(e.next, openRow, false);
        note(e.bank);
        free_.push_back(index);
        --size_;
    }

    void rowChanged(int bank, std::int64_t openRow) {
        auto& list = banks_[static_cast<std::size_t>(bank)];
        if (list.head < 0) return;
        list.hit = first(list.head, openRow, true);
        list.miss = first(list.head, openRow, false);
        note(bank);
    }

    bool contains(int bank, std::int64_t row, std::int32_t column) const {
        for (auto i = banks_[static_cast<std::size_t>(bank)].head; i >= 0; i = entry(i).next)
            if (entry(i).row == row && entry(i).column == column) return true;
        return false;
    }

private:
    std::size_t wordOf(int bank) const { return static_cast<std::size_t>(bank / perWord_); }
    std::uint64_t bitOf(int bank) const { return std::uint64_t{1} << (bank % perWord_); }
    std::int32_t first(std::int32_t from, std::int64_t row, bool same) const {
        while (from >= 0 && (entry(from).row == row) != same) from = entry(from).next;
        return from;
    }
    void note(int bank) {
        const Bank& list = banks_[static_cast<std::size_t>(bank)];
        const std::size_t word = wordOf(bank);
        const std::uint64_t bit = bitOf(bank);
        hits_[word] = list.hit >= 0 ? hits_[word] | bit : hits_[word] & ~bit;
        misses_[word] = list.miss >= 0 ? misses_[word] | bit : misses_[word] & ~bit;
    }

    std::vector<RuledEntry> entries_;
    std::vector<std::int32_t> free_;
    std::vector<Bank> banks_;
    std::vector<std::uint64_t> hits_, misses_;
    int size_ = 0, capacity_ = 0, perWord_ = 64;
};

}  // namespace orrery
