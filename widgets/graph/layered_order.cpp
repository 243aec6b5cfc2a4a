// Crossing reduction (Sugiyama, Tagawa, Toda 1981): each layer in turn is sorted by the mean place of its neighbours in
// the layer before, downwards and upwards; then neighbours are swapped where that helps. Crossings are counted with a
// binary indexed tree (Barth, Jünger, Mutzel 2002).

#include "base/random.h"
#include "widgets/graph/layered_level.h"

#include <algorithm>
#include <limits>

namespace orrery::ui::layered {
namespace {

constexpr int mostSweeps = 24;
constexpr int patience = 5;
constexpr std::int32_t swapsUpTo = 4000;      // vertices
constexpr std::int32_t manyStartsUpTo = 150;  // vertices
constexpr int shuffles = 6;
constexpr std::int64_t largestPair = 10'000;  // edges of one times those of the other

std::size_t at(std::int32_t i) {
    return static_cast<std::size_t>(i);
}

/// Scratch columns, allocated once.
class Sweeper {
public:
    explicit Sweeper(Layers& layers) : g_(layers), key_(layers.layer.size()) {
        std::int32_t widest = 0;
        for (std::int32_t l = 0; l < g_.count(); ++l) widest = std::max(widest, g_.start[at(l) + 1] - g_.start[at(l)]);
        tree_.resize(at(widest) + 1);
        ends_.reserve(layers.edges.size());
    }

    std::int64_t crossings() {
        std::int64_t sum = 0;
        for (std::int32_t l = 0; l + 1 < g_.count(); ++l) sum += between(l);
        return sum;
    }

    void sweep(bool downwards, bool keepEqual) {
        const std::int32_t layers = g_.count();
        for (std::int32_t step = 1; step < layers; ++step) {
            const std::int32_t l = downwards ? step : layers - 1 - step;
            const auto begin = g_.order.begin() + g_.start[at(l)], end = g_.order.begin() + g_.start[at(l) + 1];
            for (auto v = begin; v != end; ++v) key_[at(*v)] = barycentre(*v, downwards);
            std::sort(begin, end, [&](std::int32_t a, std::int32_t b) {
                if (key_[at(a)] != key_[at(b)]) return key_[at(a)] < key_[at(b)];
                return keepEqual ? g_.place[at(a)] < g_.place[at(b)] : g_.place[at(a)] > g_.place[at(b)];
            });
            renumber(l);
        }
    }

    /// Swaps neighbours of a layer while that removes crossings with the layers above and below.
    bool swapNeighbours() {
        bool better = false;
        for (std::int32_t l = 0; l < g_.count(); ++l) {
            for (std::int32_t k = g_.start[at(l)]; k + 1 < g_.start[at(l) + 1]; ++k) {
                std::int32_t &a = g_.order[at(k)], &b = g_.order[at(k + 1)];
                if (degree(a) * degree(b) > largestPair) continue;
                if (pairCrossings(a, b) <= pairCrossings(b, a)) continue;
                std::swap(a, b);
                std::swap(g_.place[at(a)], g_.place[at(b)]);
                better = true;
            }
        }
        return better;
    }

    /// Depth first from the vertices that nothing leads to (or, upwards, that lead nowhere).
    void depthFirst(bool downwards) {
        std::vector<std::int32_t> fill(g_.start.begin(), g_.start.end() - 1), pending;
        std::vector<char> seen(g_.layer.size(), 0);
        const auto& into = downwards ? g_.upStart : g_.downStart;
        const auto& outOf = downwards ? g_.downStart : g_.upStart;
        const auto& list = downwards ? g_.down : g_.up;
        for (std::size_t root = 0; root < seen.size(); ++root) {
            if (into[root] != into[root + 1] || seen[root]) continue;
            pending.push_back(static_cast<std::int32_t>(root));
            while (!pending.empty()) {
                const std::int32_t v = pending.back();
                pending.pop_back();
                if (seen[at(v)]) continue;
                seen[at(v)] = 1;
                g_.order[at(fill[at(g_.layer[at(v)])]++)] = v;
                for (std::int32_t k = outOf[at(v) + 1]; k-- > outOf[at(v)];) {
                    const Layers::Edge& edge = g_.edges[at(list[at(k)])];
                    pending.push_back(downwards ? edge.to : edge.from);
                }
            }
        }
        for (std::int32_t l = 0; l < g_.count(); ++l) renumber(l);
    }

    void shuffle(RandomStream& random) {
        for (std::int32_t l = 0; l < g_.count(); ++l) {
            for (std::int32_t k = g_.start[at(l) + 1] - 1; k > g_.start[at(l)]; --k) {
                const auto by = static_cast<std::int32_t>(random.below(std::uint64_t(k - g_.start[at(l)] + 1)));
                std::swap(g_.order[at(k)], g_.order[at(g_.start[at(l)] + by)]);
            }
            renumber(l);
        }
    }

private:
    std::int64_t degree(std::int32_t v) const {
        return g_.downStart[at(v) + 1] - g_.downStart[at(v)] + g_.upStart[at(v) + 1] - g_.upStart[at(v)];
    }

    double barycentre(std::int32_t v, bool downwards) const {
        const auto& start = downwards ? g_.upStart : g_.downStart;
        const auto& list = downwards ? g_.up : g_.down;
        const std::int32_t begin = start[at(v)], end = start[at(v) + 1];
        if (begin == end) return g_.place[at(v)];
        double sum = 0;
        for (std::int32_t k = begin; k < end; ++k) {
            const Layers::Edge& edge = g_.edges[at(list[at(k)])];
            const std::int32_t other = downwards ? edge.from : edge.to;
            const double offset = downwards ? edge.fromAt : edge.toAt;
            sum += g_.place[at(other)] + (offset != 0 ? offset / (g_.width[at(other)] + 1) : 0);
        }
        return sum / (end - begin);
    }

    void renumber(std::int32_t l) {
        for (std::int32_t k = g_.start[at(l)]; k < g_.start[at(l) + 1]; ++k) {
            g_.place[at(g_.order[at(k)])] = k - g_.start[at(l)];
        }
    }

    std::int64_t between(std::int32_t l) {
        ends_.clear();
        for (std::int32_t k = g_.start[at(l)]; k < g_.start[at(l) + 1]; ++k) {
            const std::int32_t v = g_.order[at(k)];
            const std::size_t from = ends_.size();
            for (std::int32_t e = g_.downStart[at(v)]; e < g_.downStart[at(v) + 1]; ++e) {
                ends_.push_back(g_.place[at(g_.edges[at(g_.down[at(e)])].to)]);
            }
            std::sort(ends_.begin() + static_cast<std::ptrdiff_t>(from), ends_.end());
        }
        const std::int32_t size = g_.start[at(l) + 2] - g_.start[at(l) + 1];
        std::fill_n(tree_.begin(), size + 1, 0);
        std::int64_t sum = 0, seen = 0;
        for (const std::int32_t end : ends_) {
            std::int64_t notRight = 0;
            for (std::int32_t i = end + 1; i > 0; i -= i & -i) notRight += tree_[at(i)];
            sum += seen - notRight;
            for (std::int32_t i = end + 1; i <= size; i += i & -i) ++tree_[at(i)];
            ++seen;
        }
        return sum;
    }

    std::int64_t pairCrossings(std::int32_t left, std::int32_t right) const {
        std::int64_t sum = 0;
        for (std::int32_t i = g_.downStart[at(left)]; i < g_.downStart[at(left) + 1]; ++i) {
            const std::int32_t p = g_.place[at(g_.edges[at(g_.down[at(i)])].to)];
            for (std::int32_t j = g_.downStart[at(right)]; j < g_.downStart[at(right) + 1]; ++j) {
                sum += p > g_.place[at(g_.edges[at(g_.down[at(j)])].to)];
            }
        }
        for (std::int32_t i = g_.upStart[at(left)]; i < g_.upStart[at(left) + 1]; ++i) {
            const std::int32_t p = g_.place[at(g_.edges[at(g_.up[at(i)])].from)];
            for (std::int32_t j = g_.upStart[at(right)]; j < g_.upStart[at(right) + 1]; ++j) {
                sum += p > g_.place[at(g_.edges[at(g_.up[at(j)])].from)];
            }
        }
        return sum;
    }

    Layers& g_;
    std::vector<double> key_;
    std::vector<std::int32_t> tree_, ends_;
};

}  // namespace

std::int64_t crossings(const Layers& layers) {
    Layers copy = layers;
    return Sweeper(copy).crossings();
}

void reduceCrossings(Layers& layers, const std::stop_token& stop) {
    if (layers.count() < 2 || stop.stop_requested()) return;
    Sweeper sweeper(layers);
    std::vector<std::int32_t> best, bestPlace;
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
    const auto keep = [&] {
        const std::int64_t now = sweeper.crossings();
        if (now >= fewest) return false;
        fewest = now;
        best = layers.order;
        bestPlace = layers.place;
        return true;
    };
    const auto vertices = static_cast<std::int32_t>(layers.layer.size());
    const auto improve = [&] {
        int idle = 0;
        for (int sweep = 0; sweep < mostSweeps && fewest > 0 && idle < patience && !stop.stop_requested(); ++sweep) {
            sweeper.sweep(sweep % 2 == 0, sweep % 4 < 2);
            idle = keep() ? 0 : idle + 1;
            if (vertices > swapsUpTo || stop.stop_requested()) continue;
            for (int round = 0; round < 4 && sweeper.swapNeighbours(); ++round) {
            }
            if (keep()) idle = 0;
        }
    };
    // Small graphs are tried from more than one start, large ones from the better of two.
    for (const bool downwards : {false, true}) {
        sweeper.depthFirst(downwards);
        keep();
        if (vertices <= manyStartsUpTo) improve();
    }
    if (vertices <= manyStartsUpTo) {
        RandomStream random(1);
        for (int start = 0; start < shuffles && fewest > 0 && !stop.stop_requested(); ++start) {
            sweeper.shuffle(random);
            improve();
        }
    } else {
        layers.order = best;
        layers.place = bestPlace;
        improve();
    }
    layers.order = std::move(best);
    layers.place = std::move(bestPlace);
}

}  // namespace orrery::ui::layered
