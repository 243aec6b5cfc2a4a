#include "simulation/event_kernel.h"

#include <algorithm>
#include <cassert>

namespace orrery {

namespace {

constexpr std::size_t arity = 4;

bool before(const SimEvent& a, const SimEvent& b) {
    return a.time != b.time ? a.time < b.time : a.order < b.order;
}

}  // namespace

void EventQueue::clear() {
    heap_.clear();
    order_ = 0;
    now_ = 0;
}

void EventQueue::schedule(SimTime time, std::uint32_t code, std::uint32_t subject) {
    const SimEvent event{std::max(time, now_), order_++, code, subject};
    std::size_t hole = heap_.size();
    heap_.push_back(event);
    while (hole > 0) {
        const std::size_t parent = (hole - 1) / arity;
        if (!before(event, heap_[parent])) break;
        heap_[hole] = heap_[parent];
        hole = parent;
    }
    heap_[hole] = event;
}

SimEvent EventQueue::pop() {
    assert(!heap_.empty());
    const SimEvent first = heap_.front();
    const SimEvent last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) {
        std::size_t hole = 0;
        for (;;) {
            const std::size_t begin = hole * arity + 1;
            if (begin >= heap_.size()) break;
            std::size_t least = begin;
            const std::size_t end = std::min(begin + arity, heap_.size());
            for (std::size_t child = begin + 1; child < end; ++child) {
                if (before(heap_[child], heap_[least])) least = child;
            }
            if (!before(heap_[least], last)) break;
            heap_[hole] = heap_[least];
            hole = least;
        }
        heap_[hole] = last;
    }
    now_ = first.time;
    return first;
}

}  // namespace orrery
