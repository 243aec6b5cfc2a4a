#include "simulation/cpu/core/windows/reuse.h"

#include <algorithm>
#include <cmath>

namespace orrery::pipeline {

namespace {

constexpr double lineBytes = 64;
// What a cache of some ways keeps of a working set of its size.
constexpr double keeps = 0.95;

// References that differ by a constant: one shape, several offsets.
struct Group {
    std::array<std::int64_t, deepestNest> stride{};
    std::array<std::uint64_t, deepestNest> turns{};             ///< of the loops around, as far as they are counted
    std::vector<std::pair<std::int64_t, std::int64_t>> pieces;  ///< offset and bytes
};

struct Span {
    double lines = 0;
    std::int64_t low = 0, high = 0;
};

class Reuse {
public:
    Reuse(const LoopNest& nest, const Machine& machine) : nest_(nest), machine_(machine) {}

    NestReuse run() {
        name();
        const std::size_t cells = nest_.nodes.size() * static_cast<std::size_t>(out_.arrays);
        out_.lines.assign(cells, 0);
        out_.missing.assign(cells, {});
        turn_.assign(cells, 0);
        groups_.resize(cells);
        collect(0);
        for (int a = 0; a < out_.arrays; ++a) out_.footprint += out_.linesOf(0, a);
        for (std::size_t c = 0; c < mostCaches; ++c) {
            if (c >= machine_.caches.size()) {
                if (c > 0)
                    for (auto& each : out_.missing) each[c] = each[c - 1];
                continue;
            }
            capacity_ = machine_.caches[c].bytes / lineBytes * keeps;
            std::vector<double> cold(static_cast<std::size_t>(out_.arrays));
            for (int a = 0; a < out_.arrays; ++a) cold[static_cast<std::size_t>(a)] = out_.linesOf(0, a);
            spread(0, cold, c);
        }
        return std::move(out_);
    }

private:
    std::size_t cell(int node, int array) const {
        return static_cast<std::size_t>(node) * static_cast<std::size_t>(out_.arrays) + static_cast<std::size_t>(array);
    }

    // Arrays stand apart by more than a page; what lies nearer belongs together.
    void name() {
        out_.arrayOf.assign(nest_.ops.size(), -1);
        std::vector<std::pair<std::uint64_t, std::size_t>> starts;
        for (std::size_t i = 0; i < nest_.ops.size(); ++i) {
            if (nest_.addressOf[i] >= 0)
                starts.emplace_back(nest_.addresses[static_cast<std::size_t>(nest_.addressOf[i])].base, i);
        }
        std::sort(starts.begin(), starts.end());
        const auto& begins = nest_.arrays;
        for (const auto& [base, op] : starts) {
            const auto at = std::upper_bound(begins.begin(), begins.end(), base) - begins.begin();
            out_.arrayOf[op] = static_cast<int>(std::max<std::ptrdiff_t>(0, at - 1));
        }
        out_.arrays = std::max<int>(1, static_cast<int>(begins.size()));
    }

    // Lines of some groups over the loops that they count.
    static Span spanOf(const std::vector<Group>& groups) {
        Span whole;
        bool first = true;
        for (const Group& group : groups) {
            auto pieces = group.pieces;
            std::sort(pieces.begin(), pieces.end());
            double clusters = 0, bytes = 0;
            std::int64_t low = pieces.front().first, high = low, end = low - 2 * 64 - 1;
            for (const auto& [offset, size] : pieces) {
                if (offset > end + 64) {
                    ++clusters;
                    bytes += static_cast<double>(size);
                    end = offset + size;
                } else if (offset + size > end) {
                    bytes += static_cast<double>(offset + size - end);
                    end = offset + size;
                }
                high = std::max(high, offset + size);
            }
            double span = bytes / clusters;
            std::vector<std::pair<std::int64_t, double>> steps;  // stride and turns
            for (std::size_t depth = 0; depth < deepestNest; ++depth) {
                const std::int64_t stride = group.stride[depth];
                if (stride == 0 || group.turns[depth] <= 1) continue;
                const std::int64_t reach = stride * static_cast<std::int64_t>(group.turns[depth] - 1);
                (reach < 0 ? low : high) += reach;
                steps.emplace_back(std::abs(stride), static_cast<double>(group.turns[depth]));
            }
            std::sort(steps.begin(), steps.end());
            for (const auto& [stride, turns] : steps) {
                if (static_cast<double>(stride) <= span + lineBytes - 1)
                    span += static_cast<double>(stride) * (turns - 1);
                else
                    clusters *= turns;
            }
            const double most = static_cast<double>(high - low) / lineBytes + 1;
            const double lines = std::min(most, clusters * std::max(1.0, std::ceil(span / lineBytes)));
            whole.low = first ? low : std::min(whole.low, low);
            whole.high = first ? high : std::max(whole.high, high);
            whole.lines += lines;
            first = false;
        }
        if (!first)
            whole.lines = std::min(whole.lines, std::ceil(static_cast<double>(whole.high - whole.low) / lineBytes));
        return whole;
    }

    static void join(std::vector<Group>& into, const std::vector<Group>& more) {
        for (const Group& group : more) {
            const auto same = std::find_if(into.begin(), into.end(), [&](const Group& each) {
                return each.stride == group.stride && each.turns == group.turns;
            });
            if (same == into.end())
                into.push_back(group);
            else
                same->pieces.insert(same->pieces.end(), group.pieces.begin(), group.pieces.end());
        }
    }

    // Bottom up: the groups of every node, and their lines.
    void collect(int at) {
        const auto& node = nest_.nodes[static_cast<std::size_t>(at)];
        if (node.trips == 0) {
            for (std::uint32_t op = node.firstOp; op < node.firstOp + node.ops; ++op) {
                if (nest_.addressOf[op] < 0) continue;
                const AffineAddress& address = nest_.addresses[static_cast<std::size_t>(nest_.addressOf[op])];
                Group one;
                one.stride = address.stride;
                one.pieces.emplace_back(static_cast<std::int64_t>(address.base), nest_.ops[op].bytes);
                join(groups_[cell(at, out_.arrayOf[op])], {one});
            }
            for (int a = 0; a < out_.arrays; ++a)
                if (!groups_[cell(at, a)].empty()) out_.lines[cell(at, a)] = spanOf(groups_[cell(at, a)]).lines;
            return;
        }
        for (const int child : node.inside) {
            collect(child);
            for (int a = 0; a < out_.arrays; ++a) join(groups_[cell(at, a)], groups_[cell(child, a)]);
        }
        for (int a = 0; a < out_.arrays; ++a) {
            auto& groups = groups_[cell(at, a)];
            if (groups.empty()) continue;
            double sum = 0;
            for (const int child : node.inside) sum += out_.linesOf(child, a);
            const double turn = turn_[cell(at, a)] = std::min(sum, spanOf(groups).lines);
            for (Group& group : groups) group.turns[static_cast<std::size_t>(node.depth)] = node.trips;
            out_.lines[cell(at, a)] = std::clamp(spanOf(groups).lines, turn, turn * static_cast<double>(node.trips));
        }
    }

    double all(int node) const {
        double sum = 0;
        for (int a = 0; a < out_.arrays; ++a) sum += out_.linesOf(node, a);
        return sum;
    }

    // Top down: of the lines that one execution of a node finds missing, who finds them.
    void spread(int at, const std::vector<double>& missing, std::size_t cache) {
        const auto& node = nest_.nodes[static_cast<std::size_t>(at)];
        if (node.trips == 0) {
            for (int a = 0; a < out_.arrays; ++a)
                out_.missing[cell(at, a)][cache] = missing[static_cast<std::size_t>(a)];
            return;
        }
        double turn = 0;
        for (int a = 0; a < out_.arrays; ++a) turn += turn_[cell(at, a)];
        const bool kept = turn <= capacity_;
        const std::size_t arrays = static_cast<std::size_t>(out_.arrays);
        std::vector<double> budget(arrays), seen(arrays, 0.0), share(arrays);
        std::vector<int> last(arrays, -1);
        for (std::size_t a = 0; a < arrays; ++a) {
            const double once = turn_[cell(at, static_cast<int>(a))];
            // A turn that fits leaves its lines to the next one; else every turn begins anew.
            budget[a] = kept ? std::min(once, missing[a] / static_cast<double>(node.trips)) : once;
        }
        for (std::size_t c = 0; c < node.inside.size(); ++c) {
            const int child = node.inside[c];
            for (std::size_t a = 0; a < arrays; ++a) {
                const int array = static_cast<int>(a);
                const double lines = out_.linesOf(child, array), once = turn_[cell(at, array)];
                share[a] = 0;
                if (lines <= 0) continue;
                const double fresh = std::min(lines, std::max(0.0, once - seen[a]));
                if (kept) {
                    share[a] = once > 0 ? budget[a] * fresh / once : 0;
                } else {
                    double between = lines;
                    if (last[a] >= 0) {
                        for (std::size_t k = static_cast<std::size_t>(last[a]); k < c; ++k)
                            between += all(node.inside[k]);
                    }
                    share[a] = last[a] >= 0 && between <= capacity_ ? fresh : lines;
                }
                seen[a] = std::min(once, seen[a] + lines);
                last[a] = static_cast<int>(c);
            }
            spread(child, share, cache);
        }
    }

    const LoopNest& nest_;
    const Machine& machine_;
    NestReuse out_;
    std::vector<double> turn_;  ///< as NestReuse::lines, of one turn of a loop
    std::vector<std::vector<Group>> groups_;
    double capacity_ = 0;
};

}  // namespace

NestReuse reuseOf(const LoopNest& nest, const Machine& machine) {
    return Reuse(nest, machine).run();
}

}  // namespace orrery::pipeline
