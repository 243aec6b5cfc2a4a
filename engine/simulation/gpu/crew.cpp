#include "simulation/gpu/crew.h"

#include "base/executor.h"

#include <algorithm>
#include <thread>

namespace orrery::gpusim {

namespace {

constexpr unsigned patience = 2000;

}  // namespace

Crew::Crew(int threads) : threads_(static_cast<std::size_t>(std::max(1, threads))) {}

// Steps follow one another within microseconds, so a waiting member looks again at once; but where the computer has
// less to give than there are members, it leaves its processor to the one that all wait for.
void Crew::pause(unsigned& turns) {
    if (++turns < patience) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        return;
    }
    std::this_thread::yield();
}

void Crew::run(const std::function<void()>& work, const std::function<void(std::size_t)>& body) {
    if (threads_ == 1) return work();
    body_ = &body;
    over_.store(false), asked_.store(0), here_.store(0), passed_.store(0);
    // As many bodies as threads: each runs on one of its own, so they may wait for one another.
    makeThreadExecutor(static_cast<int>(threads_))->forEach(threads_, [&](std::size_t member) {
        if (member > 0) return follow(member);
        struct Ending {
            std::atomic<bool>& over;
            std::atomic<std::uint32_t>& asked;
            ~Ending() {
                over.store(true);
                asked.fetch_add(1);
                asked.notify_all();
            }
        } const ending{over_, asked_};
        work();
    });
}

void Crew::follow(std::size_t member) {
    std::uint32_t done = 0;
    while (true) {
        unsigned turns = 0;
        while (asked_.load(std::memory_order_acquire) == done) {
            if (turns >= patience)
                asked_.wait(done, std::memory_order_acquire);
            else
                pause(turns);
        }
        if (over_.load(std::memory_order_acquire)) return;
        ++done;
        (*body_)(member);
        meet();
    }
}

void Crew::together() {
    asked_.fetch_add(1, std::memory_order_release);
    asked_.notify_all();
    (*body_)(0);
    meet();
}

void Crew::meet() {
    const std::uint32_t round = passed_.load(std::memory_order_acquire);
    if (here_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
        here_.store(0, std::memory_order_relaxed);
        passed_.fetch_add(1, std::memory_order_release);
        return;
    }
    unsigned turns = 0;
    while (passed_.load(std::memory_order_acquire) == round) pause(turns);
}

}  // namespace orrery::gpusim
