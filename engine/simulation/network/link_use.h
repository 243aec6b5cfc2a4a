#pragma once

// How busy links are over time, in a fixed number of equal spans that grow with the run: for heat on a drawing.

#include "simulation/picoseconds.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace orrery {

class LinkUseOverTime {
public:
    static constexpr std::size_t spans = 64;

    LinkUseOverTime() = default;
    explicit LinkUseOverTime(std::size_t links) : busy_(links * spans, 0) {}

    bool wanted() const { return !busy_.empty(); }
    /// Busy with `share` of the link from `begin` to `end`.
    void add(std::size_t link, SimTime begin, SimTime end, double share = 1) {
        while (end > width_ * static_cast<SimTime>(spans)) widen();
        for (SimTime at = begin; at < end;) {
            const SimTime span = at / width_, until = std::min(end, (span + 1) * width_);
            busy_[link * spans + static_cast<std::size_t>(span)] += share * static_cast<double>(until - at);
            at = until;
        }
    }
    SimTime width() const { return width_; }  ///< of a span
    /// Picoseconds of full use in a span.
    double busy(std::size_t link, std::size_t span) const { return busy_[link * spans + span]; }

private:
    void widen() {
        width_ *= 2;
        for (std::size_t first = 0; first < busy_.size(); first += spans) {
            for (std::size_t i = 0; i < spans / 2; ++i)
                busy_[first + i] = busy_[first + 2 * i] + busy_[first + 2 * i + 1];
            std::fill_n(busy_.begin() + static_cast<std::ptrdiff_t>(first + spans / 2), spans / 2, 0.0);
        }
    }

    SimTime width_ = 1'000'000;  ///< 1 us
    std::vector<double> busy_;   ///< by link and span
};

}  // namespace orrery
