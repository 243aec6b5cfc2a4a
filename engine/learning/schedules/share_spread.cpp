#include "learning/schedules/share_spread.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace orrery {
namespace {

// Shares spread wide in the middle and little at both ends, so that each range is that of rows with like answers: a
// fifth of the weight around a knot.
constexpr double window = 0.2;
constexpr std::size_t knots = 33;
constexpr double othersCount = 2;

struct Row {
    double told = 0, share = 0, weight = 0;
};

// So many of them, evenly; all where there are fewer.
std::vector<UnseenOperator> evenly(std::vector<UnseenOperator> operators, std::size_t most) {
    if (operators.size() <= most) return operators;
    std::vector<UnseenOperator> some;
    for (std::size_t i = 0; i < most; ++i) some.push_back(std::move(operators[i * operators.size() / most]));
    return some;
}

// So many of its rows, evenly in order of what was said of them.
UnseenOperator thinned(const UnseenOperator& one, std::size_t most) {
    const std::size_t count = one.told.size();
    if (count <= most) return one;
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return one.told[a] < one.told[b]; });
    UnseenOperator some;
    for (std::size_t i = 0; i < most; ++i) {
        const std::size_t at = order[(2 * i + 1) * count / (2 * most)];
        some.told.push_back(one.told[at]), some.share.push_back(one.share[at]);
    }
    return some;
}

// Rows in order of what was said of them, of all operators but one, with the weights that make 1.
std::vector<Row> rowsOf(std::span<const UnseenOperator> operators, std::span<const double> weights,
                        std::size_t without) {
    double whole = 0;
    for (std::size_t o = 0; o < operators.size(); ++o) whole += o == without ? 0 : weights[o];
    std::vector<Row> rows;
    for (std::size_t o = 0; o < operators.size(); ++o) {
        if (o == without) continue;
        const double each = weights[o] / whole / static_cast<double>(operators[o].told.size());
        for (std::size_t i = 0; i < operators[o].told.size(); ++i)
            rows.push_back({operators[o].told[i], operators[o].share[i], each});
    }
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.told < b.told; });
    return rows;
}

// The weight up to the middle of each row.
std::vector<double> middlesOf(std::span<const Row> rows) {
    std::vector<double> middles;
    double sum = 0;
    for (const Row& row : rows) middles.push_back(sum + row.weight / 2), sum += row.weight;
    return middles;
}

// Rows of each knot in order of their shares.
using Windows = std::array<std::vector<Row>, knots>;
Windows windowsOf(std::span<const Row> rows, std::span<const double> middles) {
    Windows windows;
    for (std::size_t k = 0; k < knots; ++k) {
        const double at = static_cast<double>(k) / (knots - 1), from = std::clamp(at - window / 2, 0.0, 1 - window);
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (middles[i] >= from && middles[i] <= from + window) windows[k].push_back(rows[i]);
        if (windows[k].empty()) windows[k].assign(rows.begin(), rows.end());  // one row has more weight than a window
        std::sort(windows[k].begin(), windows[k].end(), [](const Row& a, const Row& b) { return a.share < b.share; });
    }
    return windows;
}

// What leaves `outside` of a window's weight out, half on each side.
ShareRange rangeOf(std::span<const Row> rows, double outside) {
    double whole = 0;
    for (const Row& row : rows) whole += row.weight;
    const double cut = outside / 2 * whole * (1 - 1e-12);
    std::size_t low = 0, high = rows.size() - 1;
    for (double sum = rows[low].weight; low < high && sum <= cut; sum += rows[low].weight) ++low;
    for (double sum = rows[high].weight; high > low && sum <= cut; sum += rows[high].weight) --high;
    return {rows[low].share, rows[high].share};
}

std::vector<ShareRange> rangesOf(const Windows& windows, double outside) {
    std::vector<ShareRange> ranges;
    for (const auto& rows : windows) ranges.push_back(rangeOf(rows, outside));
    return ranges;
}

// `told`: in order; `below`: the weight up to the middle of each.
ShareRange between(std::span<const double> told, std::span<const double> below, std::span<const ShareRange> ranges,
                   double asked) {
    const auto [first, last] = std::equal_range(told.begin(), told.end(), asked);
    double at = 0;
    if (first != last) {  // so many were told the same
        at = 0.5 * (below[static_cast<std::size_t>(first - told.begin())] +
                    below[static_cast<std::size_t>(last - told.begin()) - 1]);
    } else if (first == told.end()) {
        at = 1;
    } else if (first != told.begin()) {
        const auto next = static_cast<std::size_t>(first - told.begin());
        const double step = (asked - told[next - 1]) / (told[next] - told[next - 1]);
        at = below[next - 1] + step * (below[next] - below[next - 1]);
    }
    const double place = std::clamp(at, 0.0, 1.0) * (knots - 1);
    const auto knot = std::min(static_cast<std::size_t>(place), knots - 2);
    const double step = place - static_cast<double>(knot);
    const ShareRange range{std::lerp(ranges[knot].low, ranges[knot + 1].low, step),
                           std::lerp(ranges[knot].high, ranges[knot + 1].high, step)};
    return {std::min(range.low, asked), std::max(range.high, asked)};
}

// The best share among the first so many choices.
double bestOfFirst(const UnseenOperator& one, std::size_t count) {
    std::vector<std::size_t> order(one.told.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return one.told[a] > one.told[b]; });
    double best = 0;
    for (std::size_t i = 0; i < std::min(count, order.size()); ++i) best = std::max(best, one.share[order[i]]);
    return best;
}

// The next operator counts as one of them that may be worse than all.
ShareBound boundOf(std::span<const UnseenOperator> operators, std::span<const double> weights, std::size_t count) {
    std::vector<std::pair<double, double>> reached;
    for (std::size_t o = 0; o < operators.size(); ++o)
        reached.emplace_back(bestOfFirst(operators[o], count), weights[o]);
    std::sort(reached.begin(), reached.end());
    const double whole = 1 + std::accumulate(weights.begin(), weights.end(), 0.0);
    double worse = 1;
    ShareBound bound{reached.front().first, 1 - worse / whole};
    for (std::size_t i = 0; i + 1 < reached.size(); ++i) {
        worse += reached[i].second;
        if (worse > (1 - ShareSpread::coverage) * whole * (1 + 1e-12)) break;
        bound = {reached[i + 1].first, 1 - worse / whole};
    }
    return bound;
}

}  // namespace

ShareSpread::ShareSpread(std::vector<UnseenOperator> own, std::vector<UnseenOperator> others,
                         const std::stop_token& stop) {
    const std::size_t ownCount = own.size();
    others = evenly(std::move(others), mostOthers);
    std::vector<double> weights(ownCount, 1);
    weights.resize(ownCount + others.size(),
                   own.empty() ? 1 : std::min(1.0, othersCount / static_cast<double>(others.size())));
    own.insert(own.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
    if (own.size() < 2) {
        operators_ = own.size();
        return;
    }
    first_ = boundOf(own, weights, 1), ten_ = boundOf(own, weights, 10);
    const std::size_t each = std::clamp(mostOfAll / own.size(), std::size_t{1}, mostRows);
    for (UnseenOperator& one : own) one = thinned(one, each);
    // Ranges get wider until they hold the rows of operators that were not among those from which they are.
    constexpr std::size_t levels = 40;
    const auto outside = [](std::size_t level) { return 0.4 * static_cast<double>(level) / levels; };
    std::array<double, levels + 1> held{};
    double asked = 0;
    const auto leaveOut = [&](std::size_t o, double weight) {
        const auto rows = rowsOf(own, weights, o);
        const auto below = middlesOf(rows);
        std::vector<double> told;
        for (const Row& row : rows) told.push_back(row.told);
        const Windows windows = windowsOf(rows, below);
        for (std::size_t level = 0; level <= levels; ++level) {
            const auto ranges = rangesOf(windows, outside(level));
            double inside = 0;
            for (std::size_t i = 0; i < own[o].told.size(); ++i) {
                const ShareRange range = between(told, below, ranges, own[o].told[i]);
                inside += own[o].share[i] >= range.low && own[o].share[i] <= range.high;
            }
            held[level] += weight * inside / static_cast<double>(own[o].told.size());
        }
        asked += weight;
    };
    const std::size_t some = std::min(ownCount, mostLeftOut);
    for (std::size_t i = 0; i < some && !stop.stop_requested(); ++i)
        leaveOut(i * ownCount / some, static_cast<double>(ownCount) / static_cast<double>(some));
    for (std::size_t o = ownCount; o < own.size() && !stop.stop_requested(); ++o) leaveOut(o, weights[o]);
    if (stop.stop_requested()) {
        first_ = ten_ = {};
        return;
    }
    // The next operator counts as one that may be wholly outside.
    const double whole = std::accumulate(weights.begin(), weights.end(), 0.0);
    const auto kept = [&](std::size_t level) { return held[level] / asked * whole / (whole + 1); };
    std::size_t level = levels;
    while (level > 0 && kept(level) < coverage * (1 - 1e-12)) --level;
    chance_ = kept(level);
    const auto rows = rowsOf(own, weights, own.size());
    for (const Row& row : rows) told_.push_back(row.told);
    below_ = middlesOf(rows);
    knots_ = rangesOf(windowsOf(rows, below_), outside(level));
    operators_ = own.size();
}

ShareRange ShareSpread::of(double told) const {
    return isKnown() ? between(told_, below_, knots_, told) : ShareRange{};
}

}  // namespace orrery
