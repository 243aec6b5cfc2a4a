#pragma once

// Requests in a line, to be taken from the front and put back there. A ring: nothing is allocated once it has grown.

#include "serving/request_table.h"

#include <cassert>
#include <vector>

namespace orrery {

class RequestQueue {
public:
    explicit RequestQueue(const RequestTable& requests) : requests_(requests), ring_(64) {}
    bool empty() const { return count_ == 0; }
    std::size_t size() const { return count_; }
    RequestIndex front() const { return (*this)[0]; }
    RequestIndex operator[](std::size_t i) const { return ring_[(head_ + i) & (ring_.size() - 1)]; }
    /// Tokens that those in the line have still to compute.
    std::int64_t tokens() const { return tokens_; }

    void pushBack(RequestIndex r) {
        grow();
        ring_[(head_ + count_++) & (ring_.size() - 1)] = r;
        tokens_ += requests_.left(r);
    }
    void pushFront(RequestIndex r) {
        grow();
        head_ = (head_ - 1) & (ring_.size() - 1);
        ring_[head_] = r;
        ++count_;
        tokens_ += requests_.left(r);
    }
    RequestIndex popFront() {
        assert(count_ > 0);
        const RequestIndex r = ring_[head_];
        head_ = (head_ + 1) & (ring_.size() - 1);
        --count_;
        tokens_ -= requests_.left(r);
        return r;
    }

private:
    void grow() {
        if (count_ < ring_.size()) return;
        std::vector<RequestIndex> wider(ring_.size() * 2);
        for (std::size_t i = 0; i < count_; ++i) wider[i] = (*this)[i];
        ring_ = std::move(wider);
        head_ = 0;
    }
    const RequestTable& requests_;
    std::vector<RequestIndex> ring_;
    std::size_t head_ = 0, count_ = 0;
    std::int64_t tokens_ = 0;
};

}  // namespace orrery
