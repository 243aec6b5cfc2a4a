// Horizontal coordinates: vertices are aligned with their median neighbours into blocks, four ways (upwards or
// downwards, left or right first); blocks are packed; the mean of the two middle results is balanced and keeps order
// and gaps (Brandes and Köpf 2001). Segments that pass several layers come first, so they stay straight. Where an edge
// leaves a wide item away from its centre, the block shifts by as much, so it stays straight too.

#include "widgets/graph/layered_level.h"

#include <algorithm>
#include <array>
#include <limits>

namespace orrery::ui::layered {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t at(std::int32_t i) {
    return static_cast<std::size_t>(i);
}

double gapBetween(const Layers& g, const Spacing& spacing, std::int32_t left, std::int32_t right) {
    const bool thin = g.width[at(left)] == 0 || g.width[at(right)] == 0;
    return (g.width[at(left)] + g.width[at(right)]) / 2 + (thin ? spacing.dummy : spacing.node);
}

class Aligner {
public:
    Aligner(const Layers& g, const Spacing& spacing) : g_(g), spacing_(spacing) {
        const std::size_t count = g.layer.size();
        root_.resize(count), next_.resize(count), waits_.resize(count), queue_.reserve(count);
        shift_.resize(count), block_.resize(count);
        conflict_.assign(g.edges.size(), 0);
        std::size_t most = 1;
        for (std::size_t v = 0; v < count; ++v) {
            most = std::max(
                {most, std::size_t(g.upStart[v + 1] - g.upStart[v]), std::size_t(g.downStart[v + 1] - g.downStart[v])});
        }
        around_.reserve(most);
        markConflicts();
    }

    void align(bool downwards, bool leftFirst) {
        for (std::size_t v = 0; v < root_.size(); ++v) {
            root_[v] = next_[v] = static_cast<std::int32_t>(v);
            shift_[v] = 0;
        }
        const auto& start = downwards ? g_.upStart : g_.downStart;
        const auto& list = downwards ? g_.up : g_.down;
        for (std::int32_t step = 1; step < g_.count(); ++step) {
            const std::int32_t l = downwards ? step : g_.count() - 1 - step;
            const std::int32_t begin = g_.start[at(l)], size = g_.start[at(l) + 1] - begin;
            std::int32_t limit = leftFirst ? -1 : std::numeric_limits<std::int32_t>::max();
            for (std::int32_t k = 0; k < size; ++k) {
                const std::int32_t v = g_.order[at(begin + (leftFirst ? k : size - 1 - k))];
                const std::int32_t degree = start[at(v) + 1] - start[at(v)];
                if (degree == 0) continue;
                around_.assign(list.begin() + start[at(v)], list.begin() + start[at(v) + 1]);
                const auto other = [&](std::int32_t e) {
                    return downwards ? g_.edges[at(e)].from : g_.edges[at(e)].to;
                };
                const auto otherAt = [&](std::int32_t e) {
                    return downwards ? g_.edges[at(e)].fromAt : g_.edges[at(e)].toAt;
                };
                std::sort(around_.begin(), around_.end(), [&](std::int32_t a, std::int32_t b) {
                    const std::int32_t left = g_.place[at(other(a))], right = g_.place[at(other(b))];
                    if (left != right) return left < right;
                    return otherAt(a) != otherAt(b) ? otherAt(a) < otherAt(b) : a < b;
                });
                const std::int32_t low = (degree - 1) / 2, high = degree / 2;
                for (const std::int32_t m : leftFirst ? std::array{low, high} : std::array{high, low}) {
                    if (next_[at(v)] != v) break;
                    const std::int32_t e = around_[at(m)];
                    const std::int32_t u = other(e), place = g_.place[at(u)];
                    if (conflict_[at(e)] || (leftFirst ? place <= limit : place >= limit)) continue;
                    const double ownAt = downwards ? g_.edges[at(e)].toAt : g_.edges[at(e)].fromAt;
                    next_[at(u)] = v;
                    root_[at(v)] = root_[at(u)];
                    next_[at(v)] = root_[at(v)];
                    shift_[at(v)] = shift_[at(u)] + otherAt(e) - ownAt;
                    limit = place;
                }
            }
        }
    }

    /// Blocks as far to the left as gaps allow, then those with room towards their right neighbours again.
    void pack(bool leftFirst, std::vector<double>& x) {
        const std::size_t count = root_.size();
        std::fill(waits_.begin(), waits_.end(), 0);
        std::fill(block_.begin(), block_.end(), 0);
        const double sign = leftFirst ? 1 : -1;
        const auto beside = [&](std::int32_t v, std::int32_t by) {
            const std::int32_t l = g_.layer[at(v)], k = g_.place[at(v)] + (leftFirst ? by : -by);
            const std::int32_t size = g_.start[at(l) + 1] - g_.start[at(l)];
            return k < 0 || k >= size ? -1 : g_.order[at(g_.start[at(l)] + k)];
        };
        for (std::size_t v = 0; v < count; ++v) waits_[at(root_[v])] += beside(static_cast<std::int32_t>(v), -1) >= 0;
        queue_.clear();
        for (std::size_t v = 0; v < count; ++v) {
            const auto id = static_cast<std::int32_t>(v);
            if (root_[v] != id) continue;
            block_[v] = 0;
            if (waits_[v] == 0) queue_.push_back(id);
        }
        const auto each = [&](std::int32_t block, auto visit) {
            std::int32_t v = block;
            do {
                if (const std::int32_t right = beside(v, 1); right >= 0) {
                    const double distance =
                        gapBetween(g_, spacing_, v, right) + sign * (shift_[at(v)] - shift_[at(right)]);
                    visit(root_[at(right)], distance);
                }
                v = next_[at(v)];
            } while (v != block);
        };
        std::vector<char>& placed = placed_;
        placed.assign(count, 0);
        for (std::size_t done = 0; done < queue_.size(); ++done) {
            each(queue_[done], [&](std::int32_t right, double distance) {
                double& to = block_[at(right)];
                const double least = block_[at(queue_[done])] + distance;
                to = placed[at(right)] ? std::max(to, least) : least;
                placed[at(right)] = 1;
                if (--waits_[at(right)] == 0) queue_.push_back(right);
            });
        }
        for (std::size_t done = queue_.size(); done-- > 0;) {
            double room = infinity;
            each(queue_[done],
                 [&](std::int32_t right, double distance) { room = std::min(room, block_[at(right)] - distance); });
            if (room != infinity) block_[at(queue_[done])] = std::max(block_[at(queue_[done])], room);
        }
        for (std::size_t v = 0; v < count; ++v) x[v] = sign * block_[at(root_[v])] + shift_[v];
    }

private:
    /// Edges that cross one between two dummies give way to it.
    void markConflicts() {
        for (std::int32_t l = 0; l + 1 < g_.count(); ++l) {
            const std::int32_t begin = g_.start[at(l) + 1], size = g_.start[at(l) + 2] - begin;
            const std::int32_t above = g_.start[at(l) + 1] - g_.start[at(l)];
            std::int32_t from = 0, left = 0;
            for (std::int32_t k = 0; k < size; ++k) {
                const std::int32_t v = g_.order[at(begin + k)];
                std::int32_t inner = -1;
                if (g_.dummy(v)) {
                    const std::int32_t u = g_.edges[at(g_.up[at(g_.upStart[at(v)])])].from;
                    if (g_.dummy(u)) inner = g_.place[at(u)];
                }
                if (inner < 0 && k + 1 < size) continue;
                const std::int32_t right = inner >= 0 ? inner : above - 1;
                for (; from <= k; ++from) {
                    const std::int32_t w = g_.order[at(begin + from)];
                    for (std::int32_t e = g_.upStart[at(w)]; e < g_.upStart[at(w) + 1]; ++e) {
                        const Layers::Edge& edge = g_.edges[at(g_.up[at(e)])];
                        const std::int32_t place = g_.place[at(edge.from)];
                        const bool isInner = g_.dummy(w) && g_.dummy(edge.from);
                        if (!isInner && (place < left || place > right)) conflict_[at(g_.up[at(e)])] = 1;
                    }
                }
                left = right;
            }
        }
    }

    const Layers& g_;
    const Spacing& spacing_;
    std::vector<std::int32_t> root_, next_, waits_, queue_, around_;
    std::vector<double> shift_, block_;
    std::vector<char> conflict_, placed_;
};

struct Extent {
    double left = infinity, right = -infinity;
};

Extent extent(const Layers& g, const std::vector<double>& x) {
    Extent all;
    for (std::size_t v = 0; v < x.size(); ++v) {
        all.left = std::min(all.left, x[v] - g.width[v] / 2);
        all.right = std::max(all.right, x[v] + g.width[v] / 2);
    }
    return all;
}

std::vector<double> packed(const Layers& g, const Spacing& spacing) {
    std::vector<double> x(g.layer.size(), 0);
    for (std::int32_t l = 0; l < g.count(); ++l) {
        double right = 0;
        for (std::int32_t k = g.start[at(l)]; k < g.start[at(l) + 1]; ++k) {
            const std::int32_t v = g.order[at(k)];
            right = k == g.start[at(l)] ? g.width[at(v)] / 2 : right + gapBetween(g, spacing, g.order[at(k - 1)], v);
            x[at(v)] = right;
        }
    }
    return x;
}

}  // namespace

std::vector<double> horizontal(const Layers& layers, const Spacing& spacing, const std::stop_token& stop) {
    const std::size_t count = layers.layer.size();
    if (stop.stop_requested()) return packed(layers, spacing);
    Aligner aligner(layers, spacing);
    std::array<std::vector<double>, 4> ways;
    std::array<Extent, 4> extents;
    std::size_t narrowest = 0;
    for (std::size_t way = 0; way < 4; ++way) {
        if (stop.stop_requested()) return packed(layers, spacing);
        const bool downwards = way < 2, leftFirst = way % 2 == 0;
        aligner.align(downwards, leftFirst);
        ways[way].resize(count);
        aligner.pack(leftFirst, ways[way]);
        extents[way] = extent(layers, ways[way]);
        const auto width = [&](std::size_t w) { return extents[w].right - extents[w].left; };
        if (width(way) < width(narrowest)) narrowest = way;
    }
    for (std::size_t way = 0; way < 4; ++way) {
        const double by =
            way % 2 == 0 ? extents[narrowest].left - extents[way].left : extents[narrowest].right - extents[way].right;
        for (double& x : ways[way]) x += by;
    }
    std::vector<double> x(count);
    for (std::size_t v = 0; v < count; ++v) {
        std::array<double, 4> four{ways[0][v], ways[1][v], ways[2][v], ways[3][v]};
        std::sort(four.begin(), four.end());
        x[v] = (four[1] + four[2]) / 2;
    }
    const double left = count ? extent(layers, x).left : 0;
    for (double& value : x) value -= left;
    return x;
}

}  // namespace orrery::ui::layered
