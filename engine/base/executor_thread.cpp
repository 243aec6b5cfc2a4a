#include "base/executor.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace orrery {
namespace {

class ThreadExecutor final : public Executor {
public:
    explicit ThreadExecutor(int threads)
        : threads_(threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))) {}

    void forEach(std::size_t count, const std::function<void(std::size_t)>& body) override {
        std::atomic<std::size_t> next{0};
        std::mutex guard;
        std::exception_ptr thrown;
        const auto work = [&] {
            for (std::size_t i = next++; i < count; i = next++) {
                try {
                    body(i);
                } catch (...) {
                    const std::lock_guard lock(guard);
                    if (!thrown) thrown = std::current_exception();
                }
            }
        };
        std::vector<std::thread> others;
        const std::size_t wanted = std::min(count, static_cast<std::size_t>(threads_));
        for (std::size_t i = 1; i < wanted; ++i) others.emplace_back(work);
        work();
        for (std::thread& other : others) other.join();
        if (thrown) std::rethrow_exception(thrown);
    }
    int threads() const override { return threads_; }

private:
    int threads_;
};

}  // namespace

std::unique_ptr<Executor> makeThreadExecutor(int threads) {
    return std::make_unique<ThreadExecutor>(threads);
}

}  // namespace orrery
