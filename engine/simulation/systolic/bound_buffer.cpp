#include "simulation/systolic/bound_buffer.h"

#include "base/maths.h"

#include <algorithm>

namespace orrery::systolic {

BoundBuffer::BoundBuffer(std::int64_t words, std::int64_t bandwidth, std::int64_t elements, std::int64_t places,
                         bool waitsTwice, std::int64_t line)
    : bandwidth_(bandwidth), waitsTwice_(waitsTwice) {
    const std::int64_t activeWords = ceilDiv(words, 2);
    const std::int64_t refillWords = words - activeWords;
    line_ = line > 0 ? line : ceilDiv(words, 100);
    lines_ = elements / line_ + 1;  // the last is short, perhaps empty
    active_ = std::min(lines_, ceilDiv(activeWords, line_));
    refill_ = std::min(lines_ - active_, ceilDiv(refillWords, line_));
    end_ = active_;
    firstCycles_ = std::min(ceilDiv(activeWords, bandwidth), ceilDiv(places, bandwidth));
    refillCycles_ = ceilDiv(refillWords, bandwidth);
    fetched_ = firstCycles_ * bandwidth;
}

std::int64_t BoundBuffer::exchange(std::int64_t cycle, std::int64_t wait) {
    constexpr std::int64_t latency = 1;
    begin_ = (begin_ + refill_) % lines_;
    end_ = (begin_ + active_) % lines_;
    ready_ += refillCycles_ + latency;
    fetched_ += refillCycles_ * bandwidth_;
    ++exchanges_;
    const std::int64_t missing = ready_ - cycle - latency - wait;  // a hit takes a cycle in any case
    if (waitsTwice_) return wait + missing + std::max<std::int64_t>(0, missing);
    return wait + std::max<std::int64_t>(0, missing);
}

// Elements from a place on, in fetch order, until visit(place of the first, stretch) returns false. One run of the
// input matrix per tile that a step crosses.
template <class Visit>
void BoundInput::walk(Place from, Visit visit) const {
    const std::int64_t height = order_.height();
    const std::int64_t steps = order_.diagonal ? height + order_.width - 1 : height;
    bool more = true;
    for (; more && from.step < steps; ++from.step, from.lane = 0) {
        std::int64_t lane = from.lane;
        std::int64_t last = order_.width - 1;
        if (order_.diagonal) {
            lane = std::max(lane, from.step - height + 1);
            last = std::min(last, from.step);
        }
        while (more && lane <= last) {
            const std::int64_t y = order_.diagonal ? from.step - lane : from.step;
            const std::int64_t tile = y / order_.tileHeight;
            const std::int64_t row = y % order_.tileHeight;
            // A diagonal leaves its tile upwards as lanes ascend.
            const std::int64_t leaves = order_.diagonal ? lane + row : last;
            const std::int64_t used = tile == order_.tiles - 1 ? order_.lastLanes - 1 : order_.width - 1;
            const std::int64_t end = std::min({last, leaves, used});
            InputRun run{0, 0, 1, order_.diagonal ? -1 : 0, end - lane + 1};
            const std::int64_t across = tile * order_.width + lane;
            if (plan_.dataflow == Dataflow::WeightStationary)
                run = {row, across, -1, 1, run.count};
            else
                run.m = across, run.k = row;
            words_.sweep(run, [&](const Stretch& stretch) {
                return more = visit(Place{from.step, lane + stretch.at}, stretch);
            });
            lane = std::min(last, leaves) + 1;
        }
    }
}

BoundInput::BoundInput(const FoldPlan& plan, const InputWords& words, std::int64_t bufferWords, std::int64_t bandwidth,
                       bool waitsTwice)
    : plan_(plan), words_(words), order_(ifmapOrder(plan)), buffer_(bufferWords, bandwidth, 0, 1, waitsTwice) {
    held_.assign(static_cast<std::size_t>(words.numbers()), 0);
    std::int64_t elements = 0;
    walk({0, 0}, [&](Place place, const Stretch& stretch) {
        const std::int64_t line = buffer_.line();
        for (std::int64_t at = (line - elements % line) % line; at < stretch.count; at += line)
            lineStarts_.push_back({place.step, place.lane + at});
        elements += stretch.count;
        return true;
    });
    buffer_ = BoundBuffer(bufferWords, bandwidth, elements, order_.places(), waitsTwice);
    mark();
}

void BoundInput::mark() {
    if (++stamp_ == 0) {
        std::fill(held_.begin(), held_.end(), Stamp{0});
        stamp_ = 1;
    }
    const auto lines = static_cast<std::int64_t>(lineStarts_.size());
    const auto markFrom = [&](std::int64_t line, std::int64_t count) {
        if (line >= lines || count <= 0) return;
        std::int64_t left = count * buffer_.line();
        walk(lineStarts_[static_cast<std::size_t>(line)], [&](Place, const Stretch& stretch) {
            const std::int64_t taken = std::min(left, stretch.count);
            std::fill_n(held_.begin() + static_cast<std::ptrdiff_t>(stretch.lowestOf(taken)), taken, stamp_);
            left -= taken;
            return left > 0;
        });
    };
    if (buffer_.begin() < buffer_.end()) {
        markFrom(buffer_.begin(), buffer_.end() - buffer_.begin());
    } else {
        markFrom(buffer_.begin(), buffer_.lines() - buffer_.begin());
        markFrom(0, buffer_.end());
    }
}

std::int64_t BoundInput::sweepSlowly(std::int64_t cycle, std::int64_t wait, const Stretch& words) {
    std::size_t address = words.first;
    for (std::int64_t left = words.count; left > 0; --left, address += static_cast<std::size_t>(words.step)) {
        for (std::int64_t tries = 0; held_[address] != stamp_ && tries <= buffer_.lines(); ++tries) {
            wait = buffer_.exchange(cycle, wait);
            mark();
        }
    }
    return wait;
}

}  // namespace orrery::systolic
