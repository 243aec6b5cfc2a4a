#pragma once

// What happens when: buckets of one core cycle, of which a ring covers the near future. What lies beyond waits in the
// last bucket and moves on from there.

#include <bit>
#include <cstdint>
#include <vector>

namespace orrery::gpusim {

class EventWheel {
public:
    enum class Kind : std::uint8_t { Wake, L1, Service, Request, L2, Dram, Fill, Reply, Ideal, Leave, Place };
    struct Event {
        std::uint64_t at = 0;
        std::uint32_t index = 0;
        Kind kind = Kind::Wake;
    };
    EventWheel() : buckets_(size), filled_(size / 64, 0) {}

    std::uint64_t now() const { return now_; }
    /// Not before now. What comes now is handled in the order of its coming.
    void push(std::uint64_t at, Kind kind, std::uint32_t index) {
        if (at < now_) at = now_;
        const std::uint64_t slot = (at - now_ < size ? at : now_ + size - 1) & (size - 1);
        buckets_[slot].push_back({at, index, kind});
        filled_[slot / 64] |= std::uint64_t{1} << (slot % 64);
        ++waiting_;
    }
    /// The next event; false if there is none.
    bool take(Event& event) {
        while (waiting_ > 0) {
            auto& bucket = buckets_[now_ & (size - 1)];
            if (at_ < bucket.size()) {
                event = bucket[at_++];
                --waiting_;
                if (event.at <= now_) return true;
                const Event later = event;
                push(later.at, later.kind, later.index);
                continue;
            }
            bucket.clear();
            at_ = 0;
            const std::uint64_t slot = now_ & (size - 1);
            filled_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
            advance();
        }
        return false;
    }
    /// Of an empty wheel: goes on to a time.
    void jump(std::uint64_t to) {
        if (to <= now_) return;
        buckets_[now_ & (size - 1)].clear();
        filled_[(now_ & (size - 1)) / 64] &= ~(std::uint64_t{1} << (now_ % 64));
        at_ = 0;
        now_ = to;
    }

private:
    static constexpr std::uint64_t size = 4096;
    void advance() {
        if (waiting_ == 0) return;
        const std::uint64_t from = (now_ + 1) & (size - 1);
        for (std::uint64_t k = 0; k <= filled_.size(); ++k) {
            const std::uint64_t word = (from / 64 + k) % filled_.size();
            std::uint64_t bits = filled_[word];
            if (k == 0) bits &= ~std::uint64_t{0} << (from % 64);
            if (!bits) continue;
            const std::uint64_t slot = word * 64 + static_cast<std::uint64_t>(std::countr_zero(bits));
            now_ += 1 + ((slot - from) & (size - 1));
            return;
        }
    }
    std::vector<std::vector<Event>> buckets_;
    std::vector<std::uint64_t> filled_;
    std::uint64_t now_ = 0, waiting_ = 0;
    std::size_t at_ = 0;
};

}  // namespace orrery::gpusim
