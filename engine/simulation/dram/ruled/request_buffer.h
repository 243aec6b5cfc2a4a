#pragma once

// Requests that wait in a controller, in lists by bank in order of arrival, with the two that can matter at hand: the
// oldest one of the open row and the oldest one of another row. Which banks have one of either stands in words of bits,
// as DramRuleState numbers them. All places are allocated once.

#include "simulation/dram/ruled/rule_tables.h"

namespace orrery {

inline constexpr std::int64_t ruledNoRow = -1;

/// Where a burst lies in a channel.
struct RuledPlace {
    std::int32_t bank = 0;  ///< counted over all levels above the row
    std::int32_t column = 0;
    std::int64_t row = 0;
};

/// Arrivals in order, with the bank to be told from them.
inline std::int64_t ruledArrival(std::int64_t arrived, int bank) {
    return arrived << 12 | bank;
}
inline std::int32_t ruledBankOf(std::int64_t order) {
    return static_cast<std::int32_t>(order & 4095);
}

struct RuledEntry {
    RuledPlace place;
    std::int64_t arrived = 0;
    std::int32_t request = 0;  ///< of the trace
    std::int32_t next = -1, previous = -1;
    std::uint8_t ofRow = 0, ofPlace = 0;  ///< a few bits of where it lies
    bool write = false;
    bool counted = false;  ///< as hit, miss or conflict
};

/// Lanes as in DramRuleState.
template <int Lanes>
class RuledBuffer {
public:
    struct Bank {
        std::int32_t head = -1, tail = -1;
        std::int32_t hit = -1;   ///< oldest of the open row
        std::int32_t miss = -1;  ///< oldest of another row; of a closed bank the oldest
    };

    RuledBuffer(std::size_t banks, int capacity) : entries_(static_cast<std::size_t>(capacity)), capacity_(capacity) {
        if constexpr (Lanes == 0) {
            banks_.resize(banks);
            hitOrder_.resize(banks);
            missOrder_.resize(banks);
            hits_.resize((banks + 63) / 64);
            misses_.resize(hits_.size());
        }
        free_.reserve(entries_.size());
        for (int i = capacity - 1; i >= 0; --i) free_.push_back(i);
    }

    int size() const { return size_; }
    bool full() const { return size_ == capacity_; }
    std::uint64_t hits(int word) const { return hits_[static_cast<std::size_t>(word)]; }      ///< banks
    std::uint64_t misses(int word) const { return misses_[static_cast<std::size_t>(word)]; }  ///< banks
    /// ruledArrival() of each bank's hit and miss, where it has one.
    const std::int64_t* hitOrder() const { return hitOrder_.data(); }
    const std::int64_t* missOrder() const { return missOrder_.data(); }
    const Bank& bank(int index) const { return banks_[static_cast<std::size_t>(index)]; }
    RuledEntry& entry(std::int32_t index) { return entries_[static_cast<std::size_t>(index)]; }
    const RuledEntry& entry(std::int32_t index) const { return entries_[static_cast<std::size_t>(index)]; }

    /// True: it is the first of its bank of its sort, which was none before.
    bool push(std::int32_t request, bool write, const RuledPlace& place, std::int64_t arrived, std::int64_t openRow) {
        const auto index = free_.back();
        free_.pop_back();
        auto& e = entry(index);
        e.place = place;
        e.arrived = arrived;
        e.request = request;
        e.write = write;
        e.counted = false;
        e.ofRow = rowBits(place.bank, place.row);
        e.ofPlace = placeBits(e.ofRow, place.column);
        auto& list = bankOf(place.bank);
        e.previous = list.tail;
        e.next = -1;
        (list.tail >= 0 ? entry(list.tail).next : list.head) = index;
        list.tail = index;
        ++size_;
        ++rows_[e.ofRow];
        ++places_[e.ofPlace];
        const bool hits = place.row == openRow;
        auto& first = hits ? list.hit : list.miss;
        if (first >= 0) return false;
        first = index;
        note(hits ? hitOrder_ : missOrder_, hits ? hits_ : misses_, place.bank, index);
        return true;
    }

    /// One of the open row.
    void removeHit(std::int32_t index) {
        unlink(index);
        const auto& e = entry(index);
        auto& list = bankOf(e.place.bank);
        if (list.hit != index) return;
        list.hit = rows_[e.ofRow] == 0 ? -1 : first(e.next, e.place.row, true);
        note(hitOrder_, hits_, e.place.bank, list.hit);
    }
    /// The miss of a closed bank, whose row is to be opened: rowOpened() must follow.
    void removeMiss(std::int32_t index) { unlink(index); }

    void rowOpened(int bank, std::int64_t row) {
        auto& list = bankOf(bank);
        list.hit = -1, list.miss = list.head;
        if (rows_[rowBits(bank, row)] != 0) {
            list.hit = first(list.head, row, true);
            list.miss = first(list.head, row, false);
            note(hitOrder_, hits_, bank, list.hit);
        }
        note(missOrder_, misses_, bank, list.miss);
    }
    void rowClosed(int bank) {
        auto& list = bankOf(bank);
        list.hit = -1, list.miss = list.head;
        hits_[wordOf(bank)] &= ~bitOf(bank);
        note(missOrder_, misses_, bank, list.miss);
    }

    bool contains(const RuledPlace& place) const {
        if (places_[placeBits(rowBits(place.bank, place.row), place.column)] == 0) return false;
        for (auto i = bank(place.bank).head; i >= 0; i = entry(i).next)
            if (entry(i).place.row == place.row && entry(i).place.column == place.column) return true;
        return false;
    }

private:
    static constexpr int mostBanks = Lanes == 0 ? 0 : 64, mostWords = Lanes == 0 ? 0 : 1;
    static std::size_t wordOf(int bank) { return Lanes > 0 ? 0 : static_cast<std::size_t>(bank) / 64; }
    static std::uint64_t bitOf(int bank) { return std::uint64_t{1} << (bank & 63); }
    Bank& bankOf(int index) { return banks_[static_cast<std::size_t>(index)]; }
    void unlink(std::int32_t index) {
        const auto& e = entry(index);
        auto& list = bankOf(e.place.bank);
        (e.previous >= 0 ? entry(e.previous).next : list.head) = e.next;
        (e.next >= 0 ? entry(e.next).previous : list.tail) = e.previous;
        --rows_[e.ofRow];
        --places_[e.ofPlace];
        free_.push_back(index);
        --size_;
    }
    std::int32_t first(std::int32_t from, std::int64_t row, bool same) const {
        while (from >= 0 && (entry(from).place.row == row) != same) from = entry(from).next;
        return from;
    }
    template <class Order, class Words>
    void note(Order& order, Words& words, int bank, std::int32_t found) {
        auto& word = words[wordOf(bank)];
        const std::uint64_t bit = bitOf(bank);
        word = found >= 0 ? word | bit : word & ~bit;
        if (found >= 0) order[static_cast<std::size_t>(bank)] = ruledArrival(entry(found).arrived, bank);
    }
    // Requests are counted by a few bits of their row and of their place, so that most searches for one end at once.
    static std::uint8_t rowBits(int bank, std::int64_t row) {
        const std::uint64_t mixed = static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15u +
                                    static_cast<std::uint64_t>(bank) * 0x165667b19e3779f9u;
        return static_cast<std::uint8_t>(mixed >> 56);
    }
    static std::uint8_t placeBits(std::uint8_t ofRow, std::int32_t column) {
        return static_cast<std::uint8_t>(ofRow + static_cast<std::uint32_t>(column) * 0x2bu);
    }

    std::vector<RuledEntry> entries_;
    std::vector<std::int32_t> free_;
    DramRow<Bank, mostBanks> banks_{};
    DramRow<std::int64_t, mostBanks> hitOrder_{}, missOrder_{};  ///< [bank]
    DramRow<std::uint64_t, mostWords> hits_{}, misses_{};        ///< [word], bits of banks
    std::array<std::uint16_t, 256> rows_{}, places_{};
    int size_ = 0, capacity_ = 0;
};

}  // namespace orrery
