#pragma once

// The threads of one rank: items go in, answers come out, in any order.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace orrery {

/// One of the things to answer: its place in the round and its number (a point, a pair).
struct Item {
    std::uint64_t place = 0, number = 0;
};
struct AnsweredItem {
    Item item;
    std::string bytes;
};
/// Called from several threads at once. Empty: not answered, because it was stopped.
using AnswerItem = std::function<std::string(std::uint64_t number)>;

class ItemPool {
public:
    ItemPool(int threads, AnswerItem answer);
    ~ItemPool();  ///< waits for what is being answered, drops the rest
    void push(std::span<const Item> items);
    /// What was answered since. Throws what an answer has thrown.
    std::vector<AnsweredItem> take();
    /// Until something is answered, at most so long.
    void wait(std::chrono::microseconds most);
    void clear();  ///< drops what nobody has begun, and answers that nobody took
    bool idle() const;
    int threads() const { return count_; }
    double busySeconds() const;  ///< of all threads, since the beginning
    std::size_t answered() const;

private:
    void work(const std::stop_token& stop);

    AnswerItem answer_;
    int count_;
    mutable std::mutex mutex_;
    std::condition_variable_any wanted_;
    std::condition_variable ready_;
    std::deque<Item> queue_;
    std::vector<AnsweredItem> done_;
    std::exception_ptr thrown_;
    std::size_t running_ = 0, answered_ = 0;
    double busy_ = 0;
    std::vector<std::jthread> threads_;  // last: they use the others
};

}  // namespace orrery
