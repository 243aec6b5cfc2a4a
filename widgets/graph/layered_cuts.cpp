#include "widgets/graph/layered_cuts.h"

#include <algorithm>
#include <unordered_map>

namespace orrery::ui::layered {
namespace {

std::size_t at(std::int32_t i) {
    return static_cast<std::size_t>(i);
}

struct Key {
    std::int32_t a = 0, b = 0, c = 0;
    bool operator==(const Key&) const = default;
};
struct KeyHash {
    std::size_t operator()(const Key& k) const {
        std::uint64_t h = static_cast<std::uint32_t>(k.a) * 0x9E3779B97F4A7C15ull;
        h = (h ^ static_cast<std::uint32_t>(k.b)) * 0xC2B2AE3D27D4EB4Full;
        h = (h ^ (h >> 29) ^ static_cast<std::uint32_t>(k.c)) * 0x165667B19E3779F9ull;
        return static_cast<std::size_t>(h ^ (h >> 32));
    }
};

/// Which item pairs run against a level's order: the order is topological where there is one, and goes on with the
/// first item that waits where items wait for each other.
std::vector<std::int32_t> orderOf(std::size_t items, const std::vector<std::pair<std::int32_t, std::int32_t>>& pairs) {
    std::vector<std::int32_t> waits(items, 0), start(items + 1, 0), below(pairs.size()), rank(items, -1), ready;
    for (const auto& [from, to] : pairs) ++waits[at(to)], ++start[at(from) + 1];
    for (std::size_t i = 0; i < items; ++i) start[i + 1] += start[i];
    std::vector<std::int32_t> fill(start.begin(), start.end() - 1);
    for (const auto& [from, to] : pairs) below[at(fill[at(from)]++)] = to;
    ready.reserve(items);
    for (std::size_t i = 0; i < items; ++i) {
        if (waits[i] == 0) ready.push_back(static_cast<std::int32_t>(i));
    }
    std::int32_t next = 0;
    for (std::size_t done = 0, stuck = 0; next < static_cast<std::int32_t>(items); ++done) {
        if (done == ready.size()) {
            while (rank[stuck] >= 0) ++stuck;
            waits[stuck] = 0;
            ready.push_back(static_cast<std::int32_t>(stuck));
        }
        const std::int32_t item = ready[done];
        if (rank[at(item)] >= 0) continue;
        rank[at(item)] = next++;
        for (std::int32_t k = start[at(item)]; k < start[at(item) + 1]; ++k) {
            if (rank[at(below[at(k)])] < 0 && --waits[at(below[at(k)])] == 0) ready.push_back(below[at(k)]);
        }
    }
    return rank;
}

class Cutter {
public:
    Cutter(const LayoutGraph& graph, const std::vector<QSizeF>& sizes) : graph_(graph) {
        const std::size_t frames = graph.frameParent.size();
        cuts_.levels.resize(frames + 1);
        cuts_.nodeAt.resize(frames + 1), cuts_.frameAt.resize(frames + 1), cuts_.ports.resize(frames + 1);
        depth_.assign(frames + 1, 0);
        frameItem_.assign(frames, -1);
        for (std::size_t f = 0; f < frames; ++f) depth_[f + 1] = depth_[levelAround(f)] + 1;
        // Items in the order of nodes, frames where their first node is.
        for (std::size_t n = 0; n < sizes.size(); ++n) {
            const std::int32_t frame = n < graph.frame.size() ? graph.frame[n] : -1;
            for (std::int32_t f = frame; f >= 0 && frameItem_[at(f)] < 0; f = graph.frameParent[at(f)]) {
                frameItem_[at(f)] = addItem(levelAround(at(f)), QSizeF(), Side::Inside, -1, f);
            }
            nodeItem_.push_back(addItem(at(frame + 1), sizes[n], Side::Inside, static_cast<std::int32_t>(n), -1));
        }
        cuts_.pieces.resize(graph.edges.size());
        cuts_.upwards.assign(graph.edges.size(), 0);
        decideDirections();
        for (std::size_t e = 0; e < graph.edges.size(); ++e) {
            if (graph.edges[e].from != graph.edges[e].to) cutEdge(e);
        }
    }
    Cuts take() { return std::move(cuts_); }

private:
    struct Meeting {  ///< the level where an edge's two ends are in different items
        std::size_t level = 0;
        std::int32_t from = 0, to = 0;
    };

    std::size_t levelAround(std::size_t frame) const { return at(graph_.frameParent[frame] + 1); }
    std::size_t levelOf(std::int32_t node) const {
        return at(node) < graph_.frame.size() ? at(graph_.frame[at(node)] + 1) : 0;
    }

    std::int32_t addItem(std::size_t level, QSizeF size, Side side, std::int32_t node, std::int32_t frame) {
        Level& in = cuts_.levels[level];
        in.width.push_back(size.width());
        in.height.push_back(size.height());
        in.side.push_back(side);
        cuts_.nodeAt[level].push_back(node);
        cuts_.frameAt[level].push_back(frame);
        return static_cast<std::int32_t>(in.width.size()) - 1;
    }

    Meeting meet(const LayoutGraph::Edge& edge) const {
        Meeting m{0, nodeItem_[at(edge.from)], nodeItem_[at(edge.to)]};
        std::size_t a = levelOf(edge.from), b = levelOf(edge.to);
        while (a != b) {
            if (depth_[a] >= depth_[b]) {
                m.from = frameItem_[a - 1];
                a = levelAround(a - 1);
            } else {
                m.to = frameItem_[b - 1];
                b = levelAround(b - 1);
            }
        }
        m.level = a;
        return m;
    }

    void decideDirections() {
        std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> pairs(cuts_.levels.size());
        std::vector<Meeting> meetings;
        for (const auto& edge : graph_.edges) {
            meetings.push_back(meet(edge));
            const Meeting& m = meetings.back();
            if (m.from != m.to) pairs[m.level].emplace_back(m.from, m.to);
        }
        std::vector<std::vector<std::int32_t>> order;
        for (std::size_t l = 0; l < pairs.size(); ++l) order.push_back(orderOf(cuts_.levels[l].width.size(), pairs[l]));
        for (std::size_t e = 0; e < meetings.size(); ++e) {
            const Meeting& m = meetings[e];
            cuts_.upwards[e] = order[m.level][at(m.from)] > order[m.level][at(m.to)];
        }
    }

    std::int32_t port(std::int32_t frame, std::int32_t source, Side side) {
        const auto [place, fresh] =
            ports_.emplace(Key{frame, source, static_cast<std::int32_t>(side)}, std::int32_t{-1});
        if (fresh) place->second = addItem(at(frame) + 1, QSizeF(0, 0), side, -1, -1);
        return place->second;
    }

    /// A segment drawn from `from` to `to` or, upwards, the other way.
    Cuts::Piece segment(std::size_t level, std::int32_t source, std::int32_t from, std::int32_t to,
                        std::int32_t fromPort, std::int32_t toPort, bool upwards) {
        auto& known = segments_[Key{static_cast<std::int32_t>(level), source, to}];
        if (known == 0) {
            Segment s;
            s.source = source;
            s.shares = !upwards;
            s.from = upwards ? to : from;
            s.to = upwards ? from : to;
            cuts_.levels[level].segments.push_back(s);
            cuts_.ports[level].push_back(upwards ? std::pair{toPort, fromPort} : std::pair{fromPort, toPort});
            known = static_cast<std::int32_t>(cuts_.levels[level].segments.size());
        }
        return {static_cast<std::int32_t>(level), known - 1};
    }

    void cutEdge(std::size_t e) {
        const auto& edge = graph_.edges[e];
        const bool upwards = cuts_.upwards[e];
        const Meeting m = meet(edge);
        auto& pieces = cuts_.pieces[e];
        std::int32_t item = nodeItem_[at(edge.from)], inner = -1;
        for (std::size_t l = levelOf(edge.from); l != m.level; l = levelAround(l - 1)) {
            const std::int32_t out =
                port(static_cast<std::int32_t>(l) - 1, edge.from, upwards ? Side::Top : Side::Bottom);
            pieces.push_back(segment(l, edge.from, item, out, inner, -1, upwards));
            item = frameItem_[l - 1];
            inner = out;
        }
        std::vector<Cuts::Piece> last;
        std::int32_t target = nodeItem_[at(edge.to)], targetInner = -1;
        for (std::size_t l = levelOf(edge.to); l != m.level; l = levelAround(l - 1)) {
            const std::int32_t in =
                port(static_cast<std::int32_t>(l) - 1, edge.from, upwards ? Side::Bottom : Side::Top);
            last.push_back(segment(l, edge.from, in, target, -1, targetInner, upwards));
            target = frameItem_[l - 1];
            targetInner = in;
        }
        pieces.push_back(segment(m.level, edge.from, item, target, inner, targetInner, upwards));
        pieces.insert(pieces.end(), last.rbegin(), last.rend());
    }

    const LayoutGraph& graph_;
    Cuts cuts_;
    std::vector<std::int32_t> depth_, nodeItem_, frameItem_;
    std::unordered_map<Key, std::int32_t, KeyHash> ports_, segments_;
};

}  // namespace

Cuts cut(const LayoutGraph& graph, const std::vector<QSizeF>& sizes) {
    return Cutter(graph, sizes).take();
}

}  // namespace orrery::ui::layered
