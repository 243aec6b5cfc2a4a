#pragma once

// Requests that wait in a controller, in lists by bank in order of arrival, with the two that can matter at hand: the
// oldest one of the open row and the oldest one of another row. Which banks have one of either stands in words of bits,
// as DramRuleState numbers them. All places are allocated once.

#include <array>
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
    // Before these cycles none of its columns, activates, precharges is allowed. Rules only ever push a command back,
    // so that what was found stays a bound; who brings a new command lowers it.
    std::int64_t columnsFrom = 0, activatesFrom = 0, prechargesFrom = 0;

    RuledBuffer(int banks, int capacity, int perWord)
        : entries_(static_cast<std::size_t>(capacity)),
          banks_(static_cast<std::size_t>(banks)),
          hitArrived_(banks_.size()),
          missArrived_(banks_.size()),
          hits_(static_cast<std::size_t>((banks + perWord - 1) / perWord), 0),
          misses_(hits_),
          capacity_(capacity),
          perWord_(static_cast<unsigned>(perWord)) {
        free_.reserve(entries_.size());
        for (int i = capacity - 1; i >= 0; --i) free_.push_back(i);
    }

    int size() const { return size_; }
    bool full() const { return size_ == capacity_; }
    std::uint64_t hits(int word) const { return hits_[static_cast<std::size_t>(word)]; }      ///< banks
    std::uint64_t misses(int word) const { return misses_[static_cast<std::size_t>(word)]; }  ///< banks
    /// Of a bank's hit and miss.
    std::int64_t hitArrived(int index) const { return hitArrived_[static_cast<std::size_t>(index)]; }
    std::int64_t missArrived(int index) const { return missArrived_[static_cast<std::size_t>(index)]; }
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
        ++places_[placeOf(e.bank, e.row, e.column)];
        const bool hits = request.row == openRow;
        auto& first = hits ? list.hit : list.miss;
        if (first >= 0) return false;
        first = index;
        (hits ? hitArrived_ : missArrived_)[static_cast<std::size_t>(e.bank)] = request.arrived;
        (hits ? hits_ : misses_)[wordOf(request.bank)] |= bitOf(request.bank);
        return true;
    }

    /// `openRow` of its bank as it is afterwards for rowChanged(), or as it was.
    void remove(std::int32_t index, std::int64_t openRow) {
        const auto& e = entry(index);
        auto& list = banks_[static_cast<std::size_t>(e.bank)];
        (e.previous >= 0 ? entry(e.previous).next : list.head) = e.next;
        (e.next >= 0 ? entry(e.next).previous : list.tail) = e.previous;
        if (list.hit == index) noteHit(list, e.bank, first(e.next, openRow, true));
        if (list.miss == index) noteMiss(list, e.bank, first(e.next, openRow, false));
        free_.push_back(index);
        --size_;
        --places_[placeOf(e.bank, e.row, e.column)];
    }

    void rowChanged(int bank, std::int64_t openRow) {
        auto& list = banks_[static_cast<std::size_t>(bank)];
        if (list.head < 0) return;
        noteHit(list, bank, first(list.head, openRow, true));
        noteMiss(list, bank, first(list.head, openRow, false));
    }

    bool contains(int bank, std::int64_t row, std::int32_t column) const {
        if (places_[placeOf(bank, row, column)] == 0) return false;
        for (auto i = banks_[static_cast<std::size_t>(bank)].head; i >= 0; i = entry(i).next)
            if (entry(i).row == row && entry(i).column == column) return true;
        return false;
    }

private:
    std::size_t wordOf(int bank) const { return hits_.size() == 1 ? 0 : static_cast<unsigned>(bank) / perWord_; }
    std::uint64_t bitOf(int bank) const {
        return std::uint64_t{1} << (hits_.size() == 1 ? static_cast<unsigned>(bank)
                                                      : static_cast<unsigned>(bank) % perWord_);
    }
    std::int32_t first(std::int32_t from, std::int64_t row, bool same) const {
        while (from >= 0 && (entry(from).row == row) != same) from = entry(from).next;
        return from;
    }
    void noteHit(Bank& list, int bank, std::int32_t found) {
        list.hit = found;
        if (found >= 0) hitArrived_[static_cast<std::size_t>(bank)] = entry(found).arrived;
        auto& word = hits_[wordOf(bank)];
        word = found >= 0 ? word | bitOf(bank) : word & ~bitOf(bank);
    }
    void noteMiss(Bank& list, int bank, std::int32_t found) {
        list.miss = found;
        if (found >= 0) missArrived_[static_cast<std::size_t>(bank)] = entry(found).arrived;
        auto& word = misses_[wordOf(bank)];
        word = found >= 0 ? word | bitOf(bank) : word & ~bitOf(bank);
    }
    // Requests are counted by a few bits of their place, so that most searches for one end at once.
    static std::size_t placeOf(int bank, std::int64_t row, std::int32_t column) {
        const std::uint64_t mixed = static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15u +
                                    static_cast<std::uint64_t>(column) * 0xc2b2ae3d27d4eb4fu +
                                    static_cast<std::uint64_t>(bank) * 0x165667b19e3779f9u;
        return static_cast<std::size_t>(mixed >> 56);
    }

    std::vector<RuledEntry> entries_;
    std::vector<std::int32_t> free_;
    std::vector<Bank> banks_;
    std::vector<std::int64_t> hitArrived_, missArrived_;
    std::vector<std::uint64_t> hits_, misses_;
    std::array<std::uint16_t, 256> places_{};
    int size_ = 0, capacity_ = 0;
    unsigned perWord_ = 64;
};

}  // namespace orrery
