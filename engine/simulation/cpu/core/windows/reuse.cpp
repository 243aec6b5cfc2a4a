#include "simulation/cpu/core/windows/reuse.h"

#include <algorithm>
#include <cmath>

namespace orrery::pipeline {

namespace {

constexpr double lineBytes = 64;

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
    Reuse(const LoopNest& nest, const Machine& machine, const KernelStart& start)
        : nest_(nest), machine_(machine), start_(start) {}

    NestReuse run() {
        name();
        const std::size_t cells = nest_.nodes.size() * static_cast<std::size_t>(out_.arrays);
        out_.lines.assign(cells, 0);
        out_.missing.assign(cells, {});
        out_.dirtied.assign(cells, 0);
        turn_.assign(cells, 0);
        stores_.assign(cells, false);
        groups_.resize(cells);
        collect(0);
        for (int a = 0; a < out_.arrays; ++a) out_.footprint += out_.linesOf(0, a);
        for (std::size_t c = 0; c < mostCaches; ++c) {
            if (c >= machine_.caches.size()) {
                if (c > 0)
                    for (auto& each : out_.missing) each[c] = each[c - 1];
                continue;
            }
            capacity_ = machine_.caches[c].bytes / lineBytes;
            setLine_ = capacity_ / std::max(1, machine_.caches[c].ways);
            std::vector<double> cold(static_cast<std::size_t>(out_.arrays));
            for (std::size_t a = 0; a < cold.size(); ++a) {
                const bool stands = a < nest_.uses.size() && start_.of(nest_.uses[a]) <= c;
                cold[a] = stands ? 0 : out_.linesOf(0, static_cast<int>(a));
            }
            spread(0, cold, std::vector<double>(cold.size(), 0.0), c);
        }
        weigh();
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
                if (nest_.ops[op].kind == OpKind::Store) stores_[cell(at, out_.arrayOf[op])] = true;
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
            for (int a = 0; a < out_.arrays; ++a) {
                join(groups_[cell(at, a)], groups_[cell(child, a)]);
                if (stores_[cell(child, a)]) stores_[cell(at, a)] = true;
            }
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

    // Lines of each array that are touched between two touches of one line: of what is touched first in a sweep, and of
    // what is touched last.
    struct Between {
        std::vector<double> early, late;
        explicit Between(std::size_t arrays) : early(arrays, 0.0), late(arrays, 0.0) {}
        void add(const Between& more, double share) {
            for (std::size_t a = 0; a < early.size(); ++a)
                early[a] += share * more.early[a], late[a] += share * more.late[a];
        }
    };

    void addLines(std::vector<double>& to, int node) const {
        for (std::size_t a = 0; a < to.size(); ++a) to[a] += out_.linesOf(node, static_cast<int>(a));
    }

    // What is touched of other arrays in a turn of a loop behind the last touch of each line of this one, or before the
    // first touch. The children that touch it last (first) hold so many of its lines each.
    Between edgeOfTurn(int at, int array, bool behind) const {
        const std::size_t arrays = static_cast<std::size_t>(out_.arrays);
        const auto& inside = nest_.nodes[static_cast<std::size_t>(at)].inside;
        Between sum(arrays), passed(arrays);
        const double turn = turn_[cell(at, array)];
        double left = turn;
        for (std::size_t i = 0; i < inside.size() && left > 1e-9 * turn; ++i) {
            const int child = behind ? inside[inside.size() - 1 - i] : inside[i];
            const double held = std::min(left, out_.linesOf(child, array));
            if (held > 0) {
                Between here = edge(child, array, behind);
                here.add(passed, 1);
                sum.add(here, held / turn);
                left -= held;
            }
            addLines(passed.early, child), addLines(passed.late, child);
        }
        return sum;
    }
    Between edge(int at, int array, bool behind) const {
        const std::size_t arrays = static_cast<std::size_t>(out_.arrays);
        const auto& node = nest_.nodes[static_cast<std::size_t>(at)];
        if (node.trips == 0) return Between(arrays);
        Between sum = edgeOfTurn(at, array, behind);
        // Each turn touches lines of its own: those of the first stand behind all turns.
        if (turn_[cell(at, array)] < 0.75 * out_.linesOf(at, array))
            for (std::size_t a = 0; a < arrays; ++a)
                (behind ? sum.early : sum.late)[a] = out_.linesOf(at, static_cast<int>(a));
        return sum;
    }

    // Share of the lines of a sweep that are gone when they are touched again: the least recently used goes first.
    // `most`: lines of each array that can be touched between.
    double gone(int array, double own, const Between& behind, const std::vector<double>& between, const Between& before,
                const std::vector<double>& most) const {
        double first = own, last = own;
        for (std::size_t a = 0; a < between.size(); ++a) {
            if (static_cast<int>(a) == array) continue;
            first += std::min(most[a], behind.early[a] + between[a] + before.early[a]);
            last += std::min(most[a], behind.late[a] + between[a] + before.late[a]);
        }
        return goneOf(first, last);
    }
    double goneOf(double first, double last) const {
        const double low = std::min(first, last), high = std::max(low + 1, std::max(first, last));
        return (overfull(high) - overfull(low)) / (high - low);
    }
    // Integral of the share of sets that so many lines overfill: what lies in one piece puts as many lines, or one
    // more, into every set.
    double overfull(double lines) const {
        const double beyond = lines - capacity_;
        if (beyond <= 0) return 0;
        return beyond < setLine_ ? beyond * beyond / (2 * setLine_) : beyond - setLine_ / 2;
    }

    // Top down: of the lines that one execution of a node finds missing, who finds them. `dirtied`: share of each
    // array's lines that are stored to behind this node before they leave the cache.
    void spread(int at, const std::vector<double>& missing, const std::vector<double>& dirtied, std::size_t cache) {
        const auto& node = nest_.nodes[static_cast<std::size_t>(at)];
        const std::size_t arrays = static_cast<std::size_t>(out_.arrays), children = node.inside.size();
        if (node.trips == 0) {
            for (std::size_t a = 0; a < arrays; ++a) {
                const std::size_t here = cell(at, static_cast<int>(a));
                out_.missing[here][cache] = missing[a];
                out_.dirtied[here] = stores_[here] ? 1 : dirtied[a];
            }
            return;
        }
        const auto trips = static_cast<double>(node.trips);
        std::vector<std::vector<double>> found(children, std::vector<double>(arrays, 0.0)), later = found;
        std::vector<double> inTurn(arrays), acrossTurns(arrays);
        for (std::size_t a = 0; a < arrays; ++a) {
            const int array = static_cast<int>(a);
            inTurn[a] = turn_[cell(at, array)];
            acrossTurns[a] = std::min(out_.linesOf(at, array), inTurn[a] + out_.linesOf(at, array) / trips);
        }
        for (std::size_t a = 0; a < arrays; ++a) {
            const int array = static_cast<int>(a);
            const double once = inTurn[a], whole = out_.linesOf(at, array);
            if (once <= 0) continue;
            // Of the lines of a turn that many were not touched in the one before.
            const double fresh = std::min(1.0, whole / trips / once);
            const Between behindTurn = edgeOfTurn(at, array, true);
            double seen = 0, goneSum = 0;
            std::vector<double> passed(arrays, 0.0);
            for (std::size_t c = 0; c < children; ++c) {
                const int child = node.inside[c];
                const double lines = out_.linesOf(child, array);
                if (lines > 0) {
                    const Between before = edge(child, array, false);
                    const double first = std::min(lines, std::max(0.0, once - seen));
                    double sum = first * fresh * (whole > 0 ? std::min(1.0, missing[a] / whole) : 0);
                    if (first > 0 && fresh < 1) {
                        const double share = gone(array, once, behindTurn, passed, before, acrossTurns);
                        sum += first * (1 - fresh) * share;
                        goneSum += first * share;
                    }
                    double left = lines - first;
                    std::vector<double> between(arrays, 0.0);
                    for (std::size_t p = c; p-- > 0 && left > 1e-9 * lines;) {
                        const int earlier = node.inside[p];
                        const double held = std::min(left, out_.linesOf(earlier, array));
                        if (held > 0) {
                            const double own = std::max(lines, out_.linesOf(earlier, array));
                            sum += held * gone(array, own, edge(earlier, array, true), between, before, inTurn);
                            left -= held;
                        }
                        addLines(between, earlier);
                    }
                    found[c][a] = std::min(lines, sum);
                    seen = std::min(once, seen + lines);
                }
                addLines(passed, child);
            }
            // Backwards: who stores next to what each child touched, if it is still there.
            const double returns = (1 - fresh) * (stores_[cell(at, array)] ? 1 - goneSum / once : 0.0);
            const double behind = returns + fresh * dirtied[a];
            for (std::size_t c = children; c-- > 0;) {
                const double lines = out_.linesOf(node.inside[c], array);
                double left = lines, sum = 0;
                for (std::size_t d = c + 1; d < children && left > 1e-9 * lines; ++d) {
                    const double touched = out_.linesOf(node.inside[d], array), held = std::min(left, touched);
                    if (held <= 0) continue;
                    const double there = 1 - found[d][a] / touched;
                    sum += held * there * (stores_[cell(node.inside[d], array)] ? 1 : later[d][a]);
                    left -= held;
                }
                later[c][a] = lines > 0 ? (sum + left * behind) / lines : 0;
            }
        }
        for (std::size_t c = 0; c < children; ++c) spread(node.inside[c], found[c], later[c], cache);
    }

    // Lines that come from memory, and how many of them go back to it: what was stored to, but for what the outermost
    // cache still has in the end.
    void weigh() {
        const std::size_t arrays = static_cast<std::size_t>(out_.arrays);
        std::vector<double> times(nest_.nodes.size(), 0), dirty(arrays, 0.0), brought(arrays, 0.0);
        times[0] = 1;
        for (std::size_t at = 0; at < nest_.nodes.size(); ++at) {  // parents stand before their children
            const auto& node = nest_.nodes[at];
            for (const int child : node.inside)
                times[static_cast<std::size_t>(child)] = times[at] * static_cast<double>(node.trips);
            if (node.trips > 0) continue;
            for (std::size_t a = 0; a < arrays; ++a) {
                const std::size_t here = cell(static_cast<int>(at), static_cast<int>(a));
                const double lines = times[at] * out_.missing[here][mostCaches - 1];
                brought[a] += lines, dirty[a] += lines * out_.dirtied[here];
            }
        }
        double written = 0;
        for (std::size_t a = 0; a < arrays; ++a) {
            const int array = static_cast<int>(a);
            if (dirty[a] <= 0) continue;
            const Between end = edge(0, array, true);
            double first = out_.linesOf(0, array), last = 0;  // lines touched behind its own, to the end
            for (std::size_t other = 0; other < arrays; ++other)
                if (other != a) first += end.early[other], last += end.late[other];
            const double stays = out_.linesOf(0, array) * (1 - goneOf(first, last));
            written += dirty[a] * (1 - std::min(1.0, stays / brought[a]));
            out_.fromMemory += brought[a];
        }
        for (std::size_t a = 0; a < arrays; ++a)
            if (dirty[a] <= 0) out_.fromMemory += brought[a];
        out_.writesPerRead = out_.fromMemory > 0 ? written / out_.fromMemory : 0;
    }

    const LoopNest& nest_;
    const Machine& machine_;
    const KernelStart& start_;
    NestReuse out_;
    std::vector<double> turn_;  ///< as NestReuse::lines, of one turn of a loop
    std::vector<bool> stores_;  ///< as NestReuse::lines
    std::vector<std::vector<Group>> groups_;
    double capacity_ = 0;  ///< lines
    double setLine_ = 0;   ///< the same of one way
};

}  // namespace

NestReuse reuseOf(const LoopNest& nest, const Machine& machine, const KernelStart& start) {
    return Reuse(nest, machine, start).run();
}

}  // namespace orrery::pipeline
