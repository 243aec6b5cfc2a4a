#include "widgets/graph/layered_level.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace orrery::ui::layered {
namespace {

std::size_t at(std::int32_t i) {
    return static_cast<std::size_t>(i);
}

/// Offsets into a list grouped by `key`, and the list.
template <class Key>
void group(std::size_t groups, std::size_t count, Key key, std::vector<std::int32_t>& start,
           std::vector<std::int32_t>& list) {
    start.assign(groups + 1, 0);
    for (std::size_t i = 0; i < count; ++i) ++start[at(key(i)) + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    list.resize(count);
    std::vector<std::int32_t> fill(start.begin(), start.end() - 1);
    for (std::size_t i = 0; i < count; ++i) list[at(fill[at(key(i))]++)] = static_cast<std::int32_t>(i);
}

std::vector<std::int32_t> longestPaths(const Level& level) {
    const std::size_t count = level.width.size(), segments = level.segments.size();
    std::vector<std::int32_t> rank(count, 0), waits(count, 0), order, start, below;
    group(
        count, segments, [&](std::size_t s) { return level.segments[s].from; }, start, below);
    for (const Segment& segment : level.segments) ++waits[at(segment.to)];
    const std::vector<std::int32_t> inputs = waits;
    order.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (waits[i] == 0) order.push_back(static_cast<std::int32_t>(i));
    }
    const auto inside = [&](std::int32_t item) { return level.side[at(item)] == Side::Inside; };
    for (std::size_t done = 0; done < order.size(); ++done) {
        const std::int32_t item = order[done];
        for (std::int32_t k = start[at(item)]; k < start[at(item) + 1]; ++k) {
            const std::int32_t to = level.segments[at(below[at(k)])].to;
            if (inside(item)) rank[at(to)] = std::max(rank[at(to)], rank[at(item)] + 1);
            if (--waits[at(to)] == 0) order.push_back(to);
        }
    }
    for (std::size_t done = order.size(); done-- > 0;) {
        const std::int32_t item = order[done];
        if (!inside(item) || inputs[at(item)] > 0) continue;
        std::int32_t first = std::numeric_limits<std::int32_t>::max();
        for (std::int32_t k = start[at(item)]; k < start[at(item) + 1]; ++k) {
            const std::int32_t to = level.segments[at(below[at(k)])].to;
            if (inside(to)) first = std::min(first, rank[at(to)]);
        }
        if (first != std::numeric_limits<std::int32_t>::max()) rank[at(item)] = first - 1;
    }
    std::int32_t last = -1;
    bool top = false;
    for (std::size_t i = 0; i < count; ++i) {
        if (level.side[i] == Side::Inside) last = std::max(last, rank[i]);
        top = top || level.side[i] == Side::Top;
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (level.side[i] == Side::Inside) rank[i] += top ? 1 : 0;
        if (level.side[i] == Side::Top) rank[i] = 0;
        if (level.side[i] == Side::Bottom) rank[i] = last + (top ? 2 : 1);
    }
    // no empty layers
    std::vector<std::int32_t> used(count + 3, 0);
    for (const std::int32_t r : rank) used[at(r)] = 1;
    std::exclusive_scan(used.begin(), used.end(), used.begin(), 0);
    for (std::int32_t& r : rank) r = used[at(r)];
    return rank;
}

}  // namespace

Layers rank(const Level& level) {
    Layers layers;
    layers.items = static_cast<std::int32_t>(level.width.size());
    layers.layer = longestPaths(level);
    layers.width = level.width;
    layers.height = level.height;

    // Segments that leave an item together share dummies, down to the layer above each one's target.
    const std::size_t segments = level.segments.size();
    std::vector<std::int32_t> sorted(segments);
    std::iota(sorted.begin(), sorted.end(), 0);
    const auto target = [&](const Segment& s) { return layers.layer[at(s.to)]; };
    std::sort(sorted.begin(), sorted.end(), [&](std::int32_t a, std::int32_t b) {
        const Segment &l = level.segments[at(a)], &r = level.segments[at(b)];
        if (l.from != r.from) return l.from < r.from;
        if (l.shares != r.shares) return l.shares;
        if (l.source != r.source) return l.source < r.source;
        return target(l) != target(r) ? target(l) < target(r) : a < b;
    });
    layers.paths.resize(segments);
    std::int32_t trunk = 0, length = 0;  // dummies of the group now
    for (std::size_t k = 0; k < segments; ++k) {
        const Segment& segment = level.segments[at(sorted[k])];
        const Segment* before = k > 0 ? &level.segments[at(sorted[k - 1])] : nullptr;
        if (!before || before->from != segment.from || before->source != segment.source || !segment.shares ||
            !before->shares) {
            trunk = static_cast<std::int32_t>(layers.layer.size());
            length = 0;
        }
        const std::int32_t top = layers.layer[at(segment.from)];
        const std::int32_t needed = target(segment) - top - 1;
        for (; length < needed; ++length) {
            const auto dummy = static_cast<std::int32_t>(layers.layer.size());
            layers.layer.push_back(top + length + 1);
            layers.width.push_back(0);
            layers.height.push_back(0);
            layers.edges.push_back(
                {length == 0 ? segment.from : dummy - 1, dummy, length == 0 ? segment.fromAt : 0, 0});
        }
        layers.paths[at(sorted[k])] = {trunk, needed};
        const std::int32_t last = needed == 0 ? segment.from : trunk + needed - 1;
        layers.edges.push_back({last, segment.to, needed == 0 ? segment.fromAt : 0, segment.toAt});
    }

    const std::size_t vertices = layers.layer.size();
    const std::int32_t count = vertices ? *std::max_element(layers.layer.begin(), layers.layer.end()) + 1 : 0;
    group(
        at(count), vertices, [&](std::size_t v) { return layers.layer[v]; }, layers.start, layers.order);
    layers.place.resize(vertices);
    for (std::int32_t l = 0; l < count; ++l) {
        for (std::int32_t k = layers.start[at(l)]; k < layers.start[at(l) + 1]; ++k) {
            layers.place[at(layers.order[at(k)])] = k - layers.start[at(l)];
        }
    }
    group(
        vertices, layers.edges.size(), [&](std::size_t e) { return layers.edges[e].from; }, layers.downStart,
        layers.down);
    group(
        vertices, layers.edges.size(), [&](std::size_t e) { return layers.edges[e].to; }, layers.upStart, layers.up);
    return layers;
}

}  // namespace orrery::ui::layered
