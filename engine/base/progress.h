#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace orrery {

/// How far a job is: written by workers without locks, polled by whoever shows it (never one event per step).
class Progress {
public:
    void setTotal(std::uint64_t total) { total_.store(total, std::memory_order_relaxed); }
    void advance(std::uint64_t steps = 1) { done_.fetch_add(steps, std::memory_order_relaxed); }
    std::uint64_t done() const { return done_.load(std::memory_order_relaxed); }
    std::uint64_t total() const { return total_.load(std::memory_order_relaxed); }
    /// 0…1; 0 while the total is unknown.
    double fraction() const {
        const auto all = total();
        return all == 0 ? 0.0 : static_cast<double>(done()) / static_cast<double>(all);
    }

private:
    std::atomic<std::uint64_t> done_{0};
    std::atomic<std::uint64_t> total_{0};
};

}  // namespace orrery
