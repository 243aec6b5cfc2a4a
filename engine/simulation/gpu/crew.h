#pragma once

// Threads that take each step of a simulation together: short pieces of work between barriers, with microseconds
// between one step and the next.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace orrery::gpusim {

class Crew {
public:
    /// So many threads with the caller's, or as many as the system gives.
    explicit Crew(int threads);
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    /// Members: the caller's thread and those that were started.
    std::size_t size() const { return threads_; }

    /// Calls `work` on the caller's thread, which is member 0, while the others wait for `together`.
    /// `body(member)` is what every member does in a `together`.
    void run(const std::function<void()>& work, const std::function<void(std::size_t)>& body);
    /// From within `work`: all members do the body once; returns when all have. An exception of a body ends the bodies
    /// of all where they meet next, and is thrown again here.
    void together();
    /// From within the body: goes on when all members have come here.
    void meet();

private:
    struct Abandoned {};
    void follow(std::size_t member);
    void part(std::size_t member);
    static void pause(unsigned& turns);

    std::size_t threads_ = 1;
    const std::function<void(std::size_t)>* body_ = nullptr;
    alignas(64) std::atomic<std::uint32_t> asked_{0};  ///< how often `together` was called
    alignas(64) std::atomic<std::uint32_t> here_{0};   ///< members at the barrier
    alignas(64) std::atomic<std::uint32_t> passed_{0};
    alignas(64) std::atomic<bool> over_{false};
    std::atomic<bool> failed_{false};
    std::atomic<std::size_t> left_{0};  ///< members that have ended a body that failed
    std::mutex guard_;
    std::exception_ptr error_;  ///< the first
    std::vector<std::thread> others_;
};

}  // namespace orrery::gpusim
