#pragma once

// One direction of the interconnect, for the interval model: inputs are queues, of which only the first packet is seen;
// an output takes one packet a cycle (or a few), from its inputs in turn. One event per packet.

#include "simulation/gpu/interval/event_wheel.h"
#include "simulation/gpu/request.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace orrery::gpusim {

class Crossing {
public:
    /// `period`: of its clock, in core cycles. `kind`: of the events that `serve` is for.
    Crossing(EventWheel& wheel, EventWheel::Kind kind, std::size_t inputs, std::size_t outputs, double period,
             int perCycle = 1)
        : wheel_(wheel), kind_(kind), in_(inputs), out_(outputs), period_(period / perCycle), several_(perCycle > 1) {}

    void push(std::size_t input, std::size_t output, std::uint32_t request, std::uint64_t ready) {
        auto& queue = in_[input];
        queue.push({request, static_cast<std::uint32_t>(output), ready});
        if (queue.size() == 1) show(input);
    }
    std::size_t waiting(std::size_t input) const { return in_[input].size(); }
    /// At the event of an output: the request that passes now, or none.
    std::int64_t serve(std::size_t at) {
        Output& out = out_[at];
        const std::uint64_t now = wheel_.now();
        if (out.called != now) return -1;
        out.called = never;
        std::size_t chosen = out.heads.size(), best = in_.size();
        std::uint64_t next = never;
        for (std::size_t i = 0; i < out.heads.size(); ++i) {
            const std::size_t input = out.heads[i];
            if (in_[input].front().ready > now) {
                next = std::min(next, in_[input].front().ready);
                continue;
            }
            const std::size_t turn = input - out.turn + (input < out.turn ? in_.size() : 0);
            if (turn < best) best = turn, chosen = i;
        }
        if (chosen == out.heads.size()) {
            if (!out.heads.empty()) call(out, at, next);
            return -1;
        }
        const std::size_t input = out.heads[chosen];
        out.heads[chosen] = out.heads.back();
        out.heads.pop_back();
        out.turn = input + 1 == in_.size() ? 0 : input + 1;
        out.free = std::max(out.free, static_cast<double>(now)) + period_;
        const auto request = in_[input].take().request;
        if (!in_[input].empty()) {
            // Outputs are asked in order: those behind see the next packet in this very cycle.
            Packet& behind = in_[input].front();
            behind.ready = std::max(behind.ready, several_ || behind.output > at ? now : now + 1);
            show(input);
        }
        // `show` may have called this very output.
        if (!out.heads.empty()) call(out, at, several_ ? now : now + 1);
        return request;
    }

private:
    static constexpr std::uint64_t never = ~std::uint64_t{0};
    struct Packet {
        std::uint32_t request = 0, output = 0;
        std::uint64_t ready = 0;
    };
    struct Output {
        std::vector<std::size_t> heads;  ///< inputs whose first packet is for it
        std::size_t turn = 0;
        double free = 0;
        std::uint64_t called = never;  ///< its next event
    };
    void show(std::size_t input) {
        const Packet& packet = in_[input].front();
        Output& out = out_[packet.output];
        out.heads.push_back(input);
        call(out, packet.output, packet.ready);
    }
    void call(Output& out, std::size_t at, std::uint64_t ready) {
        const double free = several_ ? std::floor(out.free + 1e-9) : std::ceil(out.free - 1e-9);
        const auto when = std::max(ready, static_cast<std::uint64_t>(free));
        if (when >= out.called) return;
        out.called = when;
        wheel_.push(when, kind_, static_cast<std::uint32_t>(at));
    }
    EventWheel& wheel_;
    EventWheel::Kind kind_;
    std::vector<Fifo<Packet>> in_;
    std::vector<Output> out_;
    double period_;
    bool several_;  ///< packets of a cycle
};

}  // namespace orrery::gpusim
