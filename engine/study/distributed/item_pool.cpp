#include "study/distributed/item_pool.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace orrery {

ItemPool::ItemPool(int threads, AnswerItem answer) : answer_(std::move(answer)), count_(std::max(threads, 1)) {
    for (int i = 0; i < count_; ++i) threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

ItemPool::~ItemPool() {
    clear();
    for (std::jthread& thread : threads_) thread.request_stop();
}

void ItemPool::work(const std::stop_token& stop) {
    std::vector<Item> mine;
    std::vector<AnsweredItem> out;
    std::unique_lock lock(mutex_);
    for (;;) {
        if (!wanted_.wait(lock, stop, [&] { return !queue_.empty(); })) return;
        // Several cheap ones at once, so that threads do not queue for the lock.
        const std::size_t size = std::clamp<std::size_t>(queue_.size() / (4 * static_cast<std::size_t>(count_)), 1, 64);
        mine.assign(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(size));
        queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(size));
        running_ += size;
        lock.unlock();
        using Clock = std::chrono::steady_clock;
        const auto begun = Clock::now();
        std::exception_ptr thrown;
        try {
            for (const Item& item : mine) out.push_back({item, answer_(item.number)});
        } catch (...) {
            thrown = std::current_exception();
        }
        const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
        lock.lock();
        busy_ += seconds;
        running_ -= size;
        answered_ += out.size();
        std::move(out.begin(), out.end(), std::back_inserter(done_));
        out.clear();
        if (thrown) thrown_ = thrown;
        ready_.notify_one();
    }
}

void ItemPool::push(std::span<const Item> items) {
    const std::lock_guard lock(mutex_);
    queue_.insert(queue_.end(), items.begin(), items.end());
    wanted_.notify_all();
}

std::vector<AnsweredItem> ItemPool::take() {
    const std::lock_guard lock(mutex_);
    if (thrown_) std::rethrow_exception(thrown_);
    return std::exchange(done_, {});
}

void ItemPool::wait(std::chrono::microseconds most) {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, most, [&] { return !done_.empty() || thrown_; });
}

void ItemPool::clear() {
    const std::lock_guard lock(mutex_);
    queue_.clear();
    done_.clear();
}

bool ItemPool::idle() const {
    const std::lock_guard lock(mutex_);
    return queue_.empty() && running_ == 0;
}

double ItemPool::busySeconds() const {
    const std::lock_guard lock(mutex_);
    return busy_;
}

std::size_t ItemPool::answered() const {
    const std::lock_guard lock(mutex_);
    return answered_;
}

}  // namespace orrery
