#pragma once

// Ranks as threads of one program, with faults: messages go through queues, and a rank can fall silent.

#include "study/distributed/transport.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace orrery::test {

struct QueueHub {
    explicit QueueHub(int ranks) : queues(static_cast<std::size_t>(ranks)), silent(static_cast<std::size_t>(ranks)) {}
    std::mutex mutex;
    std::vector<std::deque<RankMessage>> queues;
    std::vector<std::atomic<bool>> silent;  ///< neither says nor hears anything
    std::atomic<int> sent{0};
};

class QueueTransport : public Transport {
public:
    QueueTransport(std::shared_ptr<QueueHub> hub, int rank) : hub_(std::move(hub)), rank_(rank) {}
    int rank() const override { return rank_; }
    int ranks() const override { return static_cast<int>(hub_->queues.size()); }
    int ranksHere() const override { return ranks(); }
    void send(int to, std::string_view bytes) override {
        if (silent()) return;
        const std::lock_guard lock(hub_->mutex);
        hub_->queues[static_cast<std::size_t>(to)].push_back({rank_, std::string(bytes)});
        ++hub_->sent;
    }
    std::optional<RankMessage> receive() override {
        if (silent()) return std::nullopt;
        const std::lock_guard lock(hub_->mutex);
        auto& queue = hub_->queues[static_cast<std::size_t>(rank_)];
        if (queue.empty()) return std::nullopt;
        RankMessage message = std::move(queue.front());
        queue.pop_front();
        return message;
    }
    void leave(bool) override {}
    [[noreturn]] void end(int) override { std::abort(); }  // of real ranks alone

private:
    bool silent() const { return hub_->silent[static_cast<std::size_t>(rank_)]; }
    std::shared_ptr<QueueHub> hub_;
    int rank_;
};

}  // namespace orrery::test
