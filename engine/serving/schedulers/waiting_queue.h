#pragma once

// Requests that wait for a place, in the order in which they get one: first come, first served with the preempted in
// front, or by priority and then arrival.

#include "serving/request_table.h"

#include <algorithm>
#include <deque>
#include <vector>

namespace orrery {

class WaitingQueue {
    static auto later(const RequestTable& requests) {
        return [&requests](RequestIndex a, RequestIndex b) { return before(requests, b, a); };
    }

public:
    explicit WaitingQueue(bool byPriority) : byPriority_(byPriority) {}
    bool empty() const { return queue_.empty(); }
    std::size_t size() const { return queue_.size(); }
    RequestIndex front() const { return queue_.front(); }
    /// True if `a` goes before `b`: smaller priority value, earlier arrival, smaller index.
    static bool before(const RequestTable& requests, RequestIndex a, RequestIndex b) {
        const auto& priority = requests.stream->priority;
        if (!priority.empty() && priority[a] != priority[b]) return priority[a] < priority[b];
        if (requests.arrived[a] != requests.arrived[b]) return requests.arrived[a] < requests.arrived[b];
        return a < b;
    }
    void add(const RequestTable& requests, RequestIndex r) {
        if (byPriority_)
            push(requests, r);
        else
            queue_.push_back(r);
    }
    void addPreempted(const RequestTable& requests, RequestIndex r) {
        if (byPriority_)
            push(requests, r);
        else
            queue_.push_front(r);
    }
    void pop(const RequestTable& requests) {
        if (!byPriority_) return queue_.pop_front();
        std::pop_heap(queue_.begin(), queue_.end(), later(requests));
        queue_.pop_back();
    }
    void remove(const RequestTable& requests, RequestIndex r) {
        queue_.erase(std::find(queue_.begin(), queue_.end(), r));
        if (byPriority_) std::make_heap(queue_.begin(), queue_.end(), later(requests));
    }
    /// All of them, in no particular order if by priority.
    const std::deque<RequestIndex>& all() const { return queue_; }
    void clear() { queue_.clear(); }

private:
    void push(const RequestTable& requests, RequestIndex r) {
        queue_.push_back(r);
        std::push_heap(queue_.begin(), queue_.end(), later(requests));
    }
    std::deque<RequestIndex> queue_;
    bool byPriority_;
};

}  // namespace orrery
