#include "simulation/systolic/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace orrery::systolic {

namespace {

Expected<void> checkOne(const Layout& layout, std::size_t dimensions, std::string_view what, std::int64_t bandwidth,
                        const Banks& banks, const std::string& layer) {
    const Place place{.path = layer};
    if (layout.factors.empty()) {
        return fail("systolic.layout", fmt::format("the layer has no layout of its {}", what),
                    "a row of the layout file with the layer's name", "give a layout file", place);
    }
    const bool positive = std::all_of(layout.factors.begin(), layout.factors.end(),
                                      [](std::int64_t factor) { return factor >= 1 && factor <= (1 << 24); });
    if (layout.factors.size() != dimensions || !positive) {
        return fail("systolic.layout", fmt::format("the factors of the {} within a line are no factors", what),
                    fmt::format("{} whole numbers from 1 on", dimensions), {}, place);
    }
    std::vector<int> sorted = layout.order;
    std::sort(sorted.begin(), sorted.end());
    std::vector<int> axes(2 * dimensions);
    std::iota(axes.begin(), axes.end(), 0);
    if (sorted != axes) {
        return fail("systolic.layout", fmt::format("the orders of the {} do not name every axis once", what),
                    fmt::format("the numbers 0 to {}, each once", 2 * dimensions - 1),
                    "the first half are the tiles of each dimension, the second half the places within a tile", place);
    }
    double words = 1;
    for (const std::int64_t factor : layout.factors) words *= static_cast<double>(factor);
    if (words > static_cast<double>(bandwidth)) {
        return fail("systolic.layout", fmt::format("a line of {} {} words is wider than its banks", words, what),
                    fmt::format("factors whose product is at most {}", bandwidth), {}, place);
    }
    if (banks.count < 1 || banks.ports < 1 || bandwidth % banks.count != 0) {
        return fail("systolic.layout", fmt::format("{} banks do not share {} words per cycle", banks.count, bandwidth),
                    "a number of banks that divides the bandwidth, and at least one port", {}, place);
    }
    return {};
}

}  // namespace

Expected<void> checkLayouts(const Array& array, const Layer& layer) {
    if (!array.layouts()) return {};
    if (array.sparse) {
        return fail("systolic.layout", "a sparse array's filters have no layout", "a dense array",
                    "leave out the layouts or the sparsity", {.path = layer.name});
    }
    if (array.ifmapBanks) {
        if (auto good = checkOne(layer.ifmapLayout, 3, "input", array.ifmapBandwidth, *array.ifmapBanks, layer.name);
            !good)
            return good;
    }
    if (!array.filterBanks) return {};
    return checkOne(layer.filterLayout, 4, "filter", array.filterBandwidth, *array.filterBanks, layer.name);
}

LaidOut layOut(const Layout& layout, const std::vector<std::int64_t>& extents) {
    const std::size_t dimensions = extents.size();
    // Extent of every axis and what a step along it adds to the coordinate of its dimension.
    std::vector<std::int64_t> length(2 * dimensions), step(2 * dimensions);
    for (std::size_t d = 0; d < dimensions; ++d) {
        const std::int64_t factor = layout.factors[d];
        length[d] = (extents[d] + factor - 1) / factor, step[d] = factor;
        length[dimensions + d] = factor, step[dimensions + d] = 1;
    }
    LaidOut out;
    out.place.resize(static_cast<std::size_t>(
        std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>())));
    std::vector<std::int64_t> at(dimensions, 0);
    std::int32_t next = 0;
    const std::function<void(std::size_t)> walk = [&](std::size_t depth) {
        if (depth == 2 * dimensions) {
            ++out.places;
            std::int64_t address = 0;
            for (std::size_t d = 0; d < dimensions; ++d) {
                if (at[d] >= extents[d]) return;
                address = address * extents[d] + at[d];
            }
            out.place[static_cast<std::size_t>(address)] = next++;
            return;
        }
        const auto axis = static_cast<std::size_t>(layout.order[depth]);
        std::int64_t& coordinate = at[axis % dimensions];
        for (std::int64_t i = 0; i < length[axis]; ++i, coordinate += step[axis]) walk(depth + 1);
        coordinate -= length[axis] * step[axis];
    };
    walk(0);
    return out;
}

BankedBuffer::BankedBuffer(LaidOut words, std::int64_t bufferWords, std::int64_t bandwidth, const Banks& banks,
                           bool waitsTwice)
    : words_(std::move(words)),
      buffer_(bufferWords, bandwidth, static_cast<std::int64_t>(words_.place.size()), words_.places, waitsTwice,
              bandwidth),
      line_(bandwidth),
      bankWidth_(bandwidth / banks.count),
      banks_(banks.count),
      ports_(banks.ports) {
    asked_.assign(static_cast<std::size_t>(buffer_.lines() * banks_), 0);
    linesStamp_.assign(static_cast<std::size_t>(banks_), 0);
    lines_.assign(static_cast<std::size_t>(banks_), 0);
}

void BankedBuffer::word(std::int64_t address) {
    const std::int64_t place = words_.place[static_cast<std::size_t>(address)];
    const std::int64_t line = place / line_;
    for (std::int64_t tries = 0; !buffer_.active(line) && tries <= buffer_.lines(); ++tries)
        wait_ = buffer_.exchange(cycle_, wait_);
    const auto bank = static_cast<std::size_t>(place % line_ / bankWidth_);
    std::int64_t& asked = asked_[static_cast<std::size_t>(line * banks_) + bank];
    if (asked == stamp_) return;
    asked = stamp_;
    if (linesStamp_[bank] != stamp_) linesStamp_[bank] = stamp_, lines_[bank] = 0;
    mostLines_ = std::max(mostLines_, ++lines_[bank]);
}

std::int64_t BankedBuffer::end() {
    if (mostLines_ == 0) return wait_;
    const std::int64_t conflict = (mostLines_ + ports_ - 1) / ports_ - 1;
    conflictCycles_ += conflict;
    return wait_ + conflict;
}

}  // namespace orrery::systolic
