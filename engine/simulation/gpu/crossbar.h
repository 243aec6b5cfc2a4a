#pragma once

// One direction of the interconnect: a crossbar of one cycle, packets without size.

#include "simulation/gpu/request.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
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
          fresh_((static_cast<std::size_t>(inputs) + 7) / 8 * 8, 0),
          words_(words(inputs)),
          firstInput_(firstInput),
          nodes_(nodes),
          limit_(static_cast<std::size_t>(limit)) {}

    bool hasRoom(std::size_t input) const { return in_[input].queue.size() < limit_; }
    /// Touches nothing but what is the input's own, so that several threads may push, each to inputs of its own.
    void push(std::size_t input, std::size_t output, Request* packet) {
        auto& queue = in_[input].queue;
        if (queue.empty()) fresh_[input] = 1;
        queue.push({packet, static_cast<std::uint32_t>(output)});
    }
    Fifo<Request*>& output(std::size_t i) { return out_[i].queue; }
    bool busy() {
        show();
        return shown_ > 0;
    }

    template <class Archive>
    void keep(Archive& archive) {
        archive(in_, out_, next_);
        if (!archive.reads()) return;
        for (const auto& port : in_) {
            for (std::size_t i = 0; i < port.queue.size(); ++i) archive.check(port.queue.at(i).output < out_.size());
        }
        for (const int node : next_) archive.check(node >= 0 && node < nodes_);
        if (!archive.sound()) return;
        // Every input that has a packet shows it anew.
        std::fill(wanted_.begin(), wanted_.end(), 0), std::fill(active_.begin(), active_.end(), 0);
        for (std::size_t i = 0; i < in_.size(); ++i) fresh_[i] = !in_[i].queue.empty();
        shown_ = 0;
    }

    /// Calls `arrived(output)` for each output that got a packet.
    template <class F>
    void advance(F&& arrived) {
        show();
        if (shown_ == 0) return;
        for (std::size_t w = 0; w < active_.size(); ++w) {
            // An input that has sent shows its next packet to the outputs behind.
            std::uint64_t done = 0;
            while (const std::uint64_t left = active_[w] & ~done) {
                const int bit = std::countr_zero(left);
                done |= (std::uint64_t{2} << bit) - 1;
                const std::size_t o = w * 64 + static_cast<std::size_t>(bit);
                if (out_[o].queue.size() >= limit_) continue;
                const std::size_t i = pick(o);
                auto& queue = in_[i].queue;
                out_[o].queue.push(queue.take().packet);
                std::uint64_t* wanted = &wanted_[o * words_];
                wanted[i / 64] &= ~(std::uint64_t{1} << (i % 64));
                bool any = false;
                for (std::size_t k = 0; k < words_; ++k) any |= wanted[k] != 0;
                if (!any) active_[w] &= ~(std::uint64_t{1} << bit);
                if (queue.empty())
                    --shown_;
                else
                    want(i, queue.front().output);
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
        template <class Archive>
        void keep(Archive& archive) {
            archive(packet, output);
        }
    };
    static std::size_t words(int n) { return (static_cast<std::size_t>(n) + 63) / 64; }
    // Inputs that were empty and got a packet show it to its output.
    void show() {
        for (std::size_t from = 0; from < fresh_.size(); from += 8) {
            std::uint64_t any = 0;
            std::memcpy(&any, &fresh_[from], 8);
            if (any == 0) continue;
            for (std::size_t i = from; i < from + 8; ++i) {
                if (!fresh_[i]) continue;
                fresh_[i] = 0;
                want(i, in_[i].queue.front().output);
                ++shown_;
            }
        }
    }
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
    // A line of the computer's cache each, for threads that use neighbours.
    template <class T>
    struct alignas(64) Port {
        Fifo<T> queue;
        template <class Archive>
        void keep(Archive& archive) {
            archive(queue);
        }
    };
    std::vector<Port<Packet>> in_;
    std::vector<Port<Request*>> out_;
    std::vector<int> next_;
    std::vector<std::uint64_t> wanted_, active_;
    std::vector<std::uint8_t> fresh_;
    std::size_t words_;
    int firstInput_, nodes_;
    std::size_t limit_;
    std::size_t shown_ = 0;  ///< inputs whose oldest packet an output knows
};

}  // namespace orrery::gpusim
