#pragma once

// Threads that take each step of a simulation together: short pieces of work between barriers, ten thousands a second.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace orrery::gpusim {

class Crew {
public:
    explicit Crew(int threads);
    std::size_t size() const { return threads_; }

    /// Calls `work` on one thread, the caller's, while the others wait for `together`; returns when `work` does.
    /// `body(member)` is what every member does in a `together`, the caller's thread as member 0.
    void run(const std::function<void()>& work, const std::function<void(std::size_t)>& body);
    /// From within `work`: all members do the body once; returns when all have.
    void together();
    /// From within the body: goes on when all members have come here.
    void meet();

private:
    void follow(std::size_t member);
    static void pause(unsigned& turns);

    std::size_t threads_;
    const std::function<void(std::size_t)>* body_ = nullptr;
    alignas(64) std::atomic<std::uint32_t> asked_{0};  ///< how often `together` was called
    alignas(64) std::atomic<std::uint32_t> here_{0};   ///< members at the barrier
    alignas(64) std::atomic<std::uint32_t> passed_{0};
    alignas(64) std::atomic<bool> over_{false};
};

}  // namespace orrery::gpusim
