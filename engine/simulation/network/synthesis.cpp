#include "simulation/network/synthesis.h"

#include "base/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

namespace orrery {

namespace {

/// A set of pieces.
class PieceSet {
public:
    explicit PieceSet(std::size_t pieces) : words_((pieces + 63) / 64, 0) {}
    void add(std::size_t piece) { words_[piece / 64] |= std::uint64_t{1} << piece % 64; }
    /// A piece that is in here and not in `other`, the first from `from` on, all around; -1: none.
    std::int64_t firstBeyond(const PieceSet& other, std::size_t from) const {
        const std::size_t count = words_.size(), first = from / 64;
        for (std::size_t i = 0; i <= count; ++i) {
            const std::size_t w = (first + i) % count;
            std::uint64_t open = words_[w] & ~other.words_[w];
            if (i == 0) open &= ~std::uint64_t{0} << from % 64;
            if (open != 0) return static_cast<std::int64_t>(w * 64) + std::countr_zero(open);
        }
        return -1;
    }

private:
    std::vector<std::uint64_t> words_;
};

SimTime picoseconds(double nanoseconds) {
    return static_cast<SimTime>(std::min(nanoseconds * 1000 + 0.5, 1e17));
}

class Matching {
public:
    Matching(const FabricGraph& graph, double bytes, std::int32_t pieces, std::uint64_t seed)
        : graph_(graph), pieces_(static_cast<std::size_t>(pieces)), random_(seed) {
        const auto n = static_cast<std::size_t>(graph.endpoints), all = n * pieces_;
        has_.assign(n, PieceSet(all));
        comes_.assign(n, PieceSet(all));
        for (std::size_t m = 0; m < n; ++m)
            for (std::size_t p = m * pieces_; p < (m + 1) * pieces_; ++p) {
                has_[m].add(p);
                comes_[m].add(p);
            }
        for (const FabricGraph::Link& link : graph.links) {
            const double serial = bytes / (link.bandwidth / 1e9);
            times_.push_back({picoseconds(serial), picoseconds(serial + link.latency)});
        }
        open_ = all * (n - 1);
        out_.members = graph.endpoints;
        out_.pieces = pieces;
    }

    SynthesisedSchedule make() {
        wakes_[0];
        while (open_ > 0 && !wakes_.empty()) {
            const SimTime now = wakes_.begin()->first;
            std::vector<SynthesisedSend> arrived = std::move(wakes_.begin()->second);
            wakes_.erase(wakes_.begin());
            for (const SynthesisedSend& one : arrived) has_[to(one.link)].add(static_cast<std::size_t>(one.piece));
            match(now);
        }
        return std::move(out_);
    }

private:
    struct Times {
        SimTime busy = 0, arrives = 0;
    };
    std::size_t to(std::int32_t link) const {
        return static_cast<std::size_t>(graph_.links[static_cast<std::size_t>(link)].to);
    }

    // Links in a random order; a piece of a random place. The quickest links first, so that the slow ones take what is
    // left.
    void match(SimTime now) {
        if (order_.empty()) {
            order_.resize(graph_.links.size());
            for (std::size_t l = 0; l < order_.size(); ++l) order_[l] = static_cast<std::int32_t>(l);
            free_.assign(order_.size(), 0);
        }
        for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_.below(i)]);
        std::stable_sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
            return times_[static_cast<std::size_t>(a)].arrives < times_[static_cast<std::size_t>(b)].arrives;
        });
        const std::size_t all = static_cast<std::size_t>(graph_.endpoints) * pieces_;
        for (const std::int32_t link : order_) {
            const auto l = static_cast<std::size_t>(link);
            if (free_[l] > now) continue;
            const auto from = static_cast<std::size_t>(graph_.links[l].from);
            const std::int64_t piece = has_[from].firstBeyond(comes_[to(link)], random_.below(all));
            if (piece < 0) continue;
            const SynthesisedSend send{static_cast<std::int32_t>(piece), link, now, now + times_[l].arrives};
            comes_[to(link)].add(static_cast<std::size_t>(piece));
            free_[l] = now + std::max<SimTime>(1, times_[l].busy);
            wakes_[free_[l]];
            wakes_[send.end].push_back(send);
            out_.sends.push_back(send);
            out_.end = std::max(out_.end, send.end);
            --open_;
        }
    }

    const FabricGraph& graph_;
    std::size_t pieces_, open_ = 0;
    RandomStream random_;
    std::vector<PieceSet> has_, comes_;
    std::vector<Times> times_;
    std::vector<std::int32_t> order_;
    std::vector<SimTime> free_;
    std::map<SimTime, std::vector<SynthesisedSend>> wakes_;
    SynthesisedSchedule out_;
};

}  // namespace

Expected<SynthesisedSchedule> synthesiseAllGather(const FabricGraph& graph, double bytes, std::int32_t pieces,
                                                  std::uint64_t seed) {
    if (graph.vertices != graph.endpoints || pieces < 1)
        return fail("network.synthesis",
                    fmt::format("{} of {} vertices of the network are switches", graph.vertices - graph.endpoints,
                                graph.vertices),
                    "links from device to device", "take ring or direct where devices meet in switches");
    const double sends = double(graph.endpoints) * double(graph.endpoints - 1) * pieces;
    if (sends > double(1 << 24))
        return fail("network.synthesis", fmt::format("a schedule of {:.0f} million sends", sends / 1e6),
                    "at most 16 million", "take fewer pieces, or another algorithm");
    // Everyone reaches everyone, and numbers are in order.
    if (const auto routes = FabricRoutes::make(graph, false); !routes) return Unexpected(routes.error());
    return Matching(graph, bytes, pieces, seed).make();
}

Expected<SynthesisedSchedule> synthesiseReduceScatter(const FabricGraph& graph, double bytes, std::int32_t pieces,
                                                      std::uint64_t seed) {
    FabricGraph reversed = graph;
    for (FabricGraph::Link& link : reversed.links) std::swap(link.from, link.to);
    auto made = synthesiseAllGather(reversed, bytes, pieces, seed);
    if (!made) return made;
    for (SynthesisedSend& send : made->sends) {
        const SimTime begin = made->end - send.end;
        send.end = made->end - send.begin;
        send.begin = begin;
    }
    std::stable_sort(made->sends.begin(), made->sends.end(),
                     [](const SynthesisedSend& a, const SynthesisedSend& b) { return a.begin < b.begin; });
    return made;
}

}  // namespace orrery
