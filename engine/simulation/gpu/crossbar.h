#pragma once

// One direction of the interconnect: a crossbar of one cycle, packets without size.

#include "simulation/gpu/request.h"

#include <bit>
#include <cstdint>
#include <vector>

namespace orrery::gpusim {

/// `nodes` go around in the order of the arbitration pointers: SMs first, then slices.
class Crossbar {
public:
    Crossbar(int inputs, int firstInput, int outputs, int nodes, int limit)
        : in_(static_cast<std::size_t>(inputs)),
          out_(static_cast<std::size_t>(outputs)),
          next_(static_cast<std::size_t>(outputs), 0),
          wanted_(static_cast<std::size_t>(outputs) * words(inputs), 0),
          active_(words(outputs), 0),
          words_(words(inputs)),
          firstInput_(firstInput),
          nodes_(nodes),
          limit_(static_cast<std::size_t>(limit)) {}

    bool hasRoom(std::size_t input) const { return in_[input].size() < limit_; }
    void push(std::size_t input, std::size_t output, Request* packet) {
        if (in_[input].empty()) want(input, output);
        in_[input].push({packet, static_cast<std::uint32_t>(output)});
        ++waiting_;
    }
    Fifo<Request*>& output(std::size_t i) { return out_[i]; }
    bool busy() const { return waiting_ > 0; }

    /// Calls `arrived(output)` for each output that got a packet.
    template <class F>
    void advance(F&& arrived) {
        if (waiting_ == 0) return;
        for (std::size_t w = 0; w < active_.size(); ++w) {
            // An input that has sent shows its next packet to the outputs behind.
            std::uint64_t done = 0;
            while (const std::uint64_t left = active_[w] & ~done) {
                const int bit = std::countr_zero(left);
                done |= (std::uint64_t{2} << bit) - 1;
                const std::size_t o = w * 64 + static_cast<std::size_t>(bit);
                if (out_[o].size() >= limit_) continue;
                const std::size_t i = pick(o);
                auto& queue = in_[i];
                out_[o].push(queue.take().packet);
                --waiting_;
                std::uint64_t* wanted = &wanted_[o * words_];
                wanted[i / 64] &= ~(std::uint64_t{1} << (i % 64));
                bool any = false;
                for (std::size_t k = 0; k < words_; ++k) any |= wanted[k] != 0;
                if (!any) active_[w] &= ~(std::uint64_t{1} << bit);
                if (!queue.empty()) want(i, queue.front().output);
                next_[o] = (static_cast<int>(i) + firstInput_ + 1) % nodes_;
                arrived(o);
                if (done == ~std::uint64_t{0}) break;
            }
        }
    }

private:
    struct Packet {
        Request* packet = nullptr;
        std::uint32_t output = 0;
    };
    static std::size_t words(int n) { return (static_cast<std::size_t>(n) + 63) / 64; }
    void want(std::size_t input, std::size_t output) {
        wanted_[output * words_ + input / 64] |= std::uint64_t{1} << (input % 64);
        active_[output / 64] |= std::uint64_t{1} << (output % 64);
    }
    // The first input from the pointer on, around.
    std::size_t pick(std::size_t output) const {
        const std::uint64_t* wanted = &wanted_[output * words_];
        const int from = next_[output] - firstInput_;
        const std::size_t start = from < 0 || from >= static_cast<int>(in_.size()) ? 0 : static_cast<std::size_t>(from);
        std::size_t w = start / 64;
        if (const auto left = wanted[w] & (~std::uint64_t{0} << (start % 64)))
            return w * 64 + static_cast<std::size_t>(std::countr_zero(left));
        for (std::size_t k = 1; k <= words_; ++k) {
            w = (start / 64 + k) % words_;
            if (wanted[w]) return w * 64 + static_cast<std::size_t>(std::countr_zero(wanted[w]));
        }
        return start;
    }
    std::vector<Fifo<Packet>> in_;
    std::vector<Fifo<Request*>> out_;
    std::vector<int> next_;
    std::vector<std::uint64_t> wanted_, active_;
    std::size_t words_;
    int firstInput_, nodes_;
    std::size_t limit_;
    std::size_t waiting_ = 0;
};

}  // namespace orrery::gpusim
