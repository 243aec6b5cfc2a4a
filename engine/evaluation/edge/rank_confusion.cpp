#include "evaluation/edge/rank_confusion.h"

#include "evaluation/error_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {
namespace {

// The part of the order that each value stands in; of equal values the first given is the faster.
std::vector<std::size_t> partsOfOrder(std::span<const double> values, std::size_t parts) {
    std::vector<std::size_t> order(values.size()), part(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    for (std::size_t i = 0; i < order.size(); ++i) part[order[i]] = i * parts / order.size();
    return part;
}

}  // namespace

Expected<RankConfusion> rankConfusion(std::span<const double> first, std::span<const double> second,
                                      std::size_t parts) {
    if (first.size() != second.size() || parts == 0) return fail("edge.shape", "two devices' networks do not fit");
    std::vector<double> a, b;
    for (std::size_t i = 0; i < first.size(); ++i) {
        if (!(std::isfinite(first[i]) && first[i] > 0 && std::isfinite(second[i]) && second[i] > 0)) continue;
        a.push_back(first[i]);
        b.push_back(second[i]);
    }
    if (a.size() < 2 * parts) {
        return fail("edge.few-networks", fmt::format("{} networks were measured on both devices", a.size()),
                    fmt::format("{} or more", 2 * parts));
    }
    RankConfusion out;
    out.networks = a.size();
    out.parts = parts;
    out.cells.assign(parts * parts, 0);
    const auto of = partsOfOrder(a, parts), to = partsOfOrder(b, parts);
    for (std::size_t i = 0; i < a.size(); ++i) out.cells[of[i] * parts + to[i]] += 1;
    out.spearman = spearmanRho(a, b);
    const double fastest = static_cast<double>(std::count(of.begin(), of.end(), std::size_t{0}));
    out.kept = out.cells[0] / fastest;
    return out;
}

}  // namespace orrery
