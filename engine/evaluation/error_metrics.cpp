#include "evaluation/error_metrics.h"

#include "base/maths.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace orrery {

namespace {

// Pairs that stand in runs of equal neighbours.
template <class Same>
double tiedPairs(std::size_t count, Same same) {
    double pairs = 0;
    for (std::size_t i = 0; i < count;) {
        std::size_t j = i + 1;
        while (j < count && same(i, j)) ++j;
        const auto run = static_cast<double>(j - i);
        pairs += run * (run - 1) / 2;
        i = j;
    }
    return pairs;
}

double countSwaps(std::vector<double>& values, std::vector<double>& scratch, std::size_t first, std::size_t last) {
    if (last - first < 2) return 0;
    const auto middle = first + (last - first) / 2;
    double swaps = countSwaps(values, scratch, first, middle) + countSwaps(values, scratch, middle, last);
    std::size_t left = first;
    std::size_t right = middle;
    for (std::size_t out = first; out < last; ++out) {
        if (right == last || (left < middle && values[left] <= values[right])) {
            scratch[out] = values[left++];
        } else {
            swaps += static_cast<double>(middle - left);
            scratch[out] = values[right++];
        }
    }
    std::copy(scratch.begin() + static_cast<std::ptrdiff_t>(first), scratch.begin() + static_cast<std::ptrdiff_t>(last),
              values.begin() + static_cast<std::ptrdiff_t>(first));
    return swaps;
}

std::vector<double> meanRanks(std::span<const double> values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
    std::vector<double> ranks(values.size());
    for (std::size_t i = 0; i < order.size();) {
        std::size_t j = i + 1;
        while (j < order.size() && values[order[j]] == values[order[i]]) ++j;
        for (std::size_t k = i; k < j; ++k) ranks[order[k]] = static_cast<double>(i + j - 1) / 2;
        i = j;
    }
    return ranks;
}

}  // namespace

double kendallTau(std::span<const double> a, std::span<const double> b) {
    assert(a.size() == b.size());
    const auto n = a.size();
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t i, std::size_t j) { return a[i] != a[j] ? a[i] < a[j] : b[i] < b[j]; });
    const double pairs = static_cast<double>(n) * (static_cast<double>(n) - 1) / 2;
    const double tiedA = tiedPairs(n, [&](std::size_t i, std::size_t j) { return a[order[i]] == a[order[j]]; });
    const double tiedBoth = tiedPairs(
        n, [&](std::size_t i, std::size_t j) { return a[order[i]] == a[order[j]] && b[order[i]] == b[order[j]]; });
    std::vector<double> values(n);
    std::vector<double> scratch(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = b[order[i]];
    const double swaps = countSwaps(values, scratch, 0, n);
    const double tiedB = tiedPairs(n, [&](std::size_t i, std::size_t j) { return values[i] == values[j]; });
    const double scale = std::sqrt((pairs - tiedA) * (pairs - tiedB));
    return scale > 0 ? (pairs - tiedA - tiedB + tiedBoth - 2 * swaps) / scale : 0;
}

double spearmanRho(std::span<const double> a, std::span<const double> b) {
    assert(a.size() == b.size());
    const auto ranksA = meanRanks(a);
    const auto ranksB = meanRanks(b);
    const double mean = (static_cast<double>(a.size()) - 1) / 2;
    double ab = 0;
    double aa = 0;
    double bb = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        ab += (ranksA[i] - mean) * (ranksB[i] - mean);
        aa += (ranksA[i] - mean) * (ranksA[i] - mean);
        bb += (ranksB[i] - mean) * (ranksB[i] - mean);
    }
    return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

ErrorSummary summarise(std::span<const double> predicted, std::span<const double> measured) {
    assert(predicted.size() == measured.size());
    ErrorSummary summary;
    summary.rows = predicted.size();
    if (summary.rows == 0) return summary;
    std::vector<double> absolute;
    absolute.reserve(summary.rows);
    double squares = 0;
    for (std::size_t i = 0; i < summary.rows; ++i) {
        const double difference = predicted[i] - measured[i];
        const double relative = difference / measured[i];
        absolute.push_back(std::fabs(relative));
        summary.mape += std::fabs(relative);
        summary.bias += relative;
        squares += difference * difference;
    }
    const auto rows = static_cast<double>(summary.rows);
    summary.mape /= rows;
    summary.bias /= rows;
    summary.rmse = std::sqrt(squares / rows);
    summary.medianError = quantileType7(absolute, 0.5);
    summary.p90Error = quantileType7(absolute, 0.9);
    summary.kendall = kendallTau(predicted, measured);
    summary.spearman = spearmanRho(predicted, measured);
    return summary;
}

}  // namespace orrery
