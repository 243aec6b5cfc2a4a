#pragma once

// Bursts that wait in a controller, sorted by bank in order of arrival, with the oldest one of the open row at hand.
// All places are allocated once.

#include "simulation/dram/bank_timing.h"

#include <cstdint>
#include <vector>

namespace orrery {

struct DramBurstEntry {
    std::int64_t row = 0;
    std::uint64_t order = 0;  ///< of entering the controller
    DramCycle entered = 0;
    std::int32_t slot = 0;  ///< of its request
    std::int32_t column = 0, bank = 0;
    std::int32_t next = -1, previous = -1;  ///< within the bank
    std::uint8_t opened = 0;                ///< 1: its row was opened for it; 2: another one was closed before
    bool outside = false;                   ///< waits in a slot for opened rows and leaves its place in the queue
};

class DramBurstQueue {
public:
    struct BankList {
        std::int32_t head = -1, tail = -1;
        std::int32_t hit = -1;    ///< oldest entry of the open row
        std::int32_t place = -1;  ///< in busy()
    };

    DramBurstQueue(int banks, int capacity, int openedSlots)
        : entries_(std::size_t(capacity + openedSlots)),
          lists_(std::size_t(banks)),
          capacity_(capacity),
          openedSlots_(openedSlots) {
        free_.reserve(entries_.size());
        for (int i = capacity + openedSlots - 1; i >= 0; --i) free_.push_back(i);
        busy_.reserve(std::size_t(banks));
    }

    int size() const { return size_; }
    bool full() const { return size_ - outside_ >= capacity_; }
    const std::vector<std::int32_t>& busy() const { return busy_; }  ///< banks with entries, in no order
    const BankList& list(int bank) const { return lists_[std::size_t(bank)]; }
    DramBurstEntry& entry(std::int32_t index) { return entries_[std::size_t(index)]; }
    const DramBurstEntry& entry(std::int32_t index) const { return entries_[std::size_t(index)]; }

    void push(const DramBurstEntry& burst, std::int64_t openRow) {
        const auto index = free_.back();
        free_.pop_back();
        auto& e = entry(index) = burst;
        auto& list = lists_[std::size_t(burst.bank)];
        e.previous = list.tail;
        e.next = -1;
        if (list.tail >= 0)
            entry(list.tail).next = index;
        else
            open(list, burst.bank, index);
        list.tail = index;
        if (list.hit < 0 && burst.row == openRow) list.hit = index;
        ++size_;
    }

    /// The next entry of the same row becomes the hit.
    void remove(std::int32_t index) {
        const auto e = entry(index);
        auto& list = lists_[std::size_t(e.bank)];
        (e.previous >= 0 ? entry(e.previous).next : list.head) = e.next;
        (e.next >= 0 ? entry(e.next).previous : list.tail) = e.previous;
        if (list.hit == index) list.hit = firstOfRow(e.next, e.row);
        if (list.head < 0) close(list);
        free_.push_back(index);
        --size_;
        outside_ -= e.outside;
    }

    /// The entry for which a row has just been opened makes room, if there is a slot for it.
    void moveOutside(std::int32_t index) {
        auto& e = entry(index);
        if (e.outside || outside_ >= openedSlots_) return;
        e.outside = true;
        ++outside_;
    }

    void rowOpened(int bank, std::int64_t row) {
        auto& list = lists_[std::size_t(bank)];
        list.hit = firstOfRow(list.head, row);
    }
    void rowClosed(int bank) { lists_[std::size_t(bank)].hit = -1; }

    bool contains(int bank, std::int64_t row, std::int32_t column) const {
        for (auto i = list(bank).head; i >= 0; i = entry(i).next)
            if (entry(i).row == row && entry(i).column == column) return true;
        return false;
    }

private:
    std::int32_t firstOfRow(std::int32_t from, std::int64_t row) const {
        while (from >= 0 && entry(from).row != row) from = entry(from).next;
        return from;
    }
    void open(BankList& list, int bank, std::int32_t index) {
        list.head = index;
        list.place = std::int32_t(busy_.size());
        busy_.push_back(bank);
    }
    void close(BankList& list) {
        const auto last = busy_.back();
        busy_[std::size_t(list.place)] = last;
        lists_[std::size_t(last)].place = list.place;
        busy_.pop_back();
        list.place = -1;
    }

    std::vector<DramBurstEntry> entries_;
    std::vector<std::int32_t> free_;
    std::vector<BankList> lists_;
    std::vector<std::int32_t> busy_;
    int size_ = 0, outside_ = 0, capacity_ = 0, openedSlots_ = 0;
};

}  // namespace orrery
