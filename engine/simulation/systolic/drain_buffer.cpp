#include "simulation/systolic/drain_buffer.h"

#include <algorithm>

namespace orrery::systolic {

std::int64_t DrainBuffer::writeSlowly(std::int64_t cycle, std::int64_t count) {
    std::int64_t now = cycle;
    for (; count > 0; --count) {
        store(1);
        if (now < busyUntil_) {
            if (free_ <= 0) now = busyUntil_;
        } else if (free_ < words_ - drain_) {
            closeLines();
            drain(now);
        }
    }
    return now - cycle;
}

void DrainBuffer::push(std::int64_t count, std::int64_t words) {
    if (count == 0) return;
    if (!waiting_.empty() && waiting_.back().words == words)
        waiting_.back().count += count;
    else
        waiting_.push_back({count, words});
}

void DrainBuffer::closeLines() {
    push(begun_ / bandwidth_, bandwidth_);
    if (begun_ % bandwidth_ > 0) push(1, begun_ % bandwidth_);
    begun_ = 0;
}

void DrainBuffer::drain(std::int64_t cycle) {
    const std::int64_t most = (drain_ + bandwidth_ - 1) / bandwidth_;
    std::int64_t lines = 0;
    std::int64_t lastWords = bandwidth_;
    while (lines < most && !waiting_.empty()) {
        Lines& front = waiting_.front();
        const std::int64_t taken = std::min(front.count, most - lines);
        lines += taken;
        lastWords = front.words;
        front.count -= taken;
        if (front.count == 0) waiting_.pop_front();
    }
    if (lines == 0) return;
    const std::int64_t words = lines * bandwidth_ - (bandwidth_ - lastWords);
    if (stop_ < 0) start_ = cycle;
    written_ += words;
    free_ += words;
    busyUntil_ = cycle + lines - 1;
    stop_ = std::max(stop_, busyUntil_);
}

void DrainBuffer::finish(std::int64_t cycle) {
    closeLines();
    while (!waiting_.empty()) {
        drain(cycle);
        cycle = busyUntil_ + 1;
    }
}

}  // namespace orrery::systolic
