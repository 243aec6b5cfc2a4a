#pragma once

// Threads that wait for work in a loop, one per core: what parallel kernels of our own run on, with a start that costs
// microseconds and not a thread's birth.

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace orrery {

class Workers {
public:
    explicit Workers(std::size_t count);
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;
    std::size_t count() const { return threads_.size() + 1; }
    /// part(i) for every i < count(), at once; returns when all are done.
    void run(const std::function<void(std::size_t)>& part);

private:
    void loop(std::size_t own);
    std::vector<std::thread> threads_;
    const std::function<void(std::size_t)>* part_ = nullptr;
    std::atomic<std::uint32_t> round_{0}, left_{0};
    std::atomic<bool> ended_{false};
};

/// Cores that this process may run on.
std::size_t usableCores();
/// Leaves this process the first `count` of them: libraries that are loaded afterwards make so many threads. False
/// where it has not so many.
bool useCores(std::size_t count);

}  // namespace orrery
