#pragma once

// One sector on its way through the memory system, and the queues that it waits in.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace orrery::gpusim {

struct Request {
    enum class Kind : std::uint8_t { Read, Write, Atomic, WriteBack };
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;  ///< which of the sector's 32
    std::uint32_t lanes = 0;
    std::uint32_t load = 0;  ///< the load instruction that waits, in its SM
    std::uint32_t row = 0;
    Request* nextL1 = nullptr;  ///< waits for the same sector
    Request* nextL2 = nullptr;
    std::int32_t l1Line = -1, l2Line = -1;
    std::uint16_t sm = 0, slice = 0;
    std::uint8_t bank = 0, bursts = 1, warp = 0;
    std::uint8_t kernel = 0;  ///< the place, among the kernels that run, of the one that asked
    Kind kind = Kind::Read;
    bool bypasses = false;
    bool isWrite() const { return kind == Kind::Write || kind == Kind::WriteBack; }
};

/// Requests are taken and given back by one owner; their addresses stay.
class RequestPool {
public:
    Request* take() {
        if (free_.empty()) {
            all_.emplace_back();
            return &all_.back();
        }
        Request* one = free_.back();
        free_.pop_back();
        *one = Request{};
        return one;
    }
    void give(Request* one) { free_.push_back(one); }

private:
    std::deque<Request> all_;
    std::vector<Request*> free_;
};

/// First in, first out; grows.
template <class T>
class Fifo {
public:
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    T& front() { return items_[head_]; }
    const T& front() const { return items_[head_]; }
    void push(T item) {
        if (size_ == items_.size()) grow();
        items_[(head_ + size_++) & (items_.size() - 1)] = item;
    }
    void pop() {
        head_ = (head_ + 1) & (items_.size() - 1);
        --size_;
    }
    /// From the oldest on.
    const T& at(std::size_t i) const { return items_[(head_ + i) & (items_.size() - 1)]; }
    T take() {
        T item = front();
        pop();
        return item;
    }

private:
    void grow() {
        std::vector<T> more(items_.empty() ? 4 : items_.size() * 2);
        for (std::size_t i = 0; i < size_; ++i) more[i] = items_[(head_ + i) & (items_.size() - 1)];
        items_.swap(more);
        head_ = 0;
    }
    std::vector<T> items_;
    std::size_t head_ = 0, size_ = 0;
};

}  // namespace orrery::gpusim
