#include "simulation/gpu/crew.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace orrery::gpusim {

namespace {

constexpr unsigned patience = 2000;

}  // namespace

Crew::Crew(int threads) {
    const auto most = static_cast<std::size_t>(std::max(1, threads));
    others_.reserve(most - 1);
    while (others_.size() + 1 < most) {
        try {
            others_.emplace_back([this, member = others_.size() + 1] { follow(member); });
        } catch (const std::system_error&) {
            break;  // no more to be had: these must do
        }
    }
    threads_ = others_.size() + 1;
}

Crew::~Crew() {
    over_.store(true, std::memory_order_release);
    asked_.fetch_add(1, std::memory_order_release);
    asked_.notify_all();
    for (std::thread& other : others_) other.join();
}

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
    body_ = &body;
    work();
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
        part(member);
    }
}

void Crew::part(std::size_t member) {
    try {
        (*body_)(member);
        meet();
        return;
    } catch (const Abandoned&) {
    } catch (...) {
        const std::scoped_lock lock(guard_);
        if (!error_) error_ = std::current_exception();
        failed_.store(true, std::memory_order_release);
    }
    left_.fetch_add(1, std::memory_order_acq_rel);
}

void Crew::together() {
    asked_.fetch_add(1, std::memory_order_release);
    asked_.notify_all();
    part(0);
    if (!failed_.load(std::memory_order_acquire)) return;
    // Who failed never came to the barrier behind the body, so nobody has passed it.
    unsigned turns = 0;
    while (left_.load(std::memory_order_acquire) < threads_) pause(turns);
    here_.store(0), left_.store(0), failed_.store(false);
    std::rethrow_exception(std::exchange(error_, nullptr));
}

void Crew::meet() {
    const std::uint32_t round = passed_.load(std::memory_order_acquire);
    if (here_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
        here_.store(0, std::memory_order_relaxed);
        passed_.fetch_add(1, std::memory_order_release);
        return;
    }
    unsigned turns = 0;
    while (passed_.load(std::memory_order_acquire) == round) {
        if (failed_.load(std::memory_order_acquire)) throw Abandoned{};
        pause(turns);
    }
}

}  // namespace orrery::gpusim
