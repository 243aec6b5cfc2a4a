#include "methods/trace/attention_grid.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace orrery {

AxisPlace placeOn(std::span<const double> axis, double x) {
    if (axis.size() < 2 || x <= axis.front()) return {};
    const auto above = static_cast<std::size_t>(std::upper_bound(axis.begin(), axis.end(), x) - axis.begin());
    const std::size_t high = std::min(above, axis.size() - 1);
    const std::size_t low = high - 1;
    return {low, high, (x - axis[low]) / (axis[high] - axis[low])};
}

AttentionGrid AttentionGrid::of(std::vector<Point> points) {
    const auto place = [](const Point& p) { return std::tie(p.chunk, p.decodes, p.cachedPrompt, p.cachedDecode); };
    std::stable_sort(points.begin(), points.end(), [&](const Point& a, const Point& b) { return place(a) < place(b); });
    AttentionGrid grid;
    std::vector<std::pair<double, double>> pairs;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const Point& p = points[i];
        if (i + 1 < points.size() && place(points[i + 1]) == place(p)) continue;
        if (pairs.empty() || pairs.back() != std::pair<double, double>(p.chunk, p.decodes)) {
            pairs.emplace_back(p.chunk, p.decodes);
            const auto at = static_cast<std::uint32_t>(grid.rows_.size());
            grid.slices_.push_back({at, at});
        }
        Slice& slice = grid.slices_.back();
        if (slice.begin == slice.end || grid.cachedPrompt_.back() != p.cachedPrompt) {
            const auto at = static_cast<std::uint32_t>(grid.seconds_.size());
            grid.cachedPrompt_.push_back(p.cachedPrompt);
            grid.rows_.push_back({at, at});
            ++slice.end;
        }
        grid.cachedDecode_.push_back(p.cachedDecode);
        grid.seconds_.push_back(p.seconds);
        ++grid.rows_.back().end;
        grid.chunks_.push_back(p.chunk);
        grid.decodes_.push_back(p.decodes);
        grid.largestPrompt_ = std::max(grid.largestPrompt_, static_cast<double>(p.cachedPrompt));
        grid.largestDecode_ = std::max(grid.largestDecode_, static_cast<double>(p.cachedDecode));
    }
    for (auto* axis : {&grid.chunks_, &grid.decodes_}) {
        std::sort(axis->begin(), axis->end());
        axis->erase(std::unique(axis->begin(), axis->end()), axis->end());
    }
    for (const double chunk : grid.chunks_)
        for (const double decodes : grid.decodes_) {
            double nearest = std::numeric_limits<double>::infinity();
            std::uint32_t best = 0;
            for (std::uint32_t s = 0; s < pairs.size(); ++s) {
                const double dx = pairs[s].first - chunk, dy = pairs[s].second - decodes;
                if (const double distance = dx * dx + dy * dy; distance < nearest) {
                    nearest = distance;
                    best = s;
                }
            }
            grid.sliceAt_.push_back(best);
        }
    return grid;
}

double AttentionGrid::inRow(std::uint32_t row, double cachedDecode) const {
    const auto [begin, end] = rows_[row];
    const AxisPlace at = placeOn(std::span(cachedDecode_).subspan(begin, end - begin), cachedDecode);
    const double low = seconds_[begin + at.low];
    return low + at.share * (seconds_[begin + at.high] - low);
}

double AttentionGrid::inSlice(std::uint32_t slice, double cachedPrompt, double cachedDecode) const {
    const auto [begin, end] = slices_[slice];
    const AxisPlace at = placeOn(std::span(cachedPrompt_).subspan(begin, end - begin), cachedPrompt);
    const double low = inRow(begin + static_cast<std::uint32_t>(at.low), cachedDecode);
    if (at.low == at.high) return low;
    return low + at.share * (inRow(begin + static_cast<std::uint32_t>(at.high), cachedDecode) - low);
}

double AttentionGrid::at(double chunk, double cachedPrompt, double decodes, double cachedDecode) const {
    const AxisPlace c = placeOn(chunks_, chunk), d = placeOn(decodes_, decodes);
    const auto corner = [&](std::size_t i, std::size_t j) {
        return inSlice(sliceAt_[i * decodes_.size() + j], cachedPrompt, cachedDecode);
    };
    const auto along = [&](std::size_t i) {
        const double low = corner(i, d.low);
        return d.share == 0 ? low : low + d.share * (corner(i, d.high) - low);
    };
    const double low = along(c.low);
    return c.share == 0 ? low : low + c.share * (along(c.high) - low);
}

DomainVerdict AttentionGrid::domain(double chunk, double cachedPrompt, double decodes, double cachedDecode) const {
    const double beyond =
        std::max({chunk / std::max(1.0, chunks_.back()), decodes / std::max(1.0, decodes_.back()),
                  cachedPrompt / std::max(1.0, largestPrompt_), cachedDecode / std::max(1.0, largestDecode_)});
    return beyond > 2 ? DomainVerdict::Outside : beyond > 1 ? DomainVerdict::Edge : DomainVerdict::Inside;
}

}  // namespace orrery
