#include "base/random.h"
#include "learning/training.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {

namespace {

std::vector<std::size_t> shuffled(std::size_t rows, std::uint64_t seed) {
    std::vector<std::size_t> order(rows);
    std::iota(order.begin(), order.end(), std::size_t(0));
    RandomStream random(seed);
    for (std::size_t i = rows; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

Split take(const std::vector<std::size_t>& order, std::size_t begin, std::size_t end, bool asTest) {
    Split split;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const bool inside = i >= begin && i < end;
        (inside == asTest ? split.test : split.training).push_back(order[i]);
    }
    std::sort(split.training.begin(), split.training.end());
    std::sort(split.test.begin(), split.test.end());
    return split;
}

}  // namespace

Split splitFraction(std::size_t rows, double trainingShare, std::uint64_t seed) {
    const double count = std::round(std::clamp(trainingShare, 0.0, 1.0) * double(rows));
    return splitCount(rows, std::size_t(count), seed);
}

Split splitCount(std::size_t rows, std::size_t count, std::uint64_t seed) {
    return take(shuffled(rows, seed), 0, std::min(count, rows), false);
}

std::vector<Split> splitFolds(std::size_t rows, int folds, std::uint64_t seed) {
    const auto order = shuffled(rows, seed);
    const std::size_t parts = std::min(std::size_t(std::max(1, folds)), std::max<std::size_t>(1, rows));
    std::vector<Split> all;
    for (std::size_t part = 0; part < parts; ++part) {
        all.push_back(take(order, rows * part / parts, rows * (part + 1) / parts, true));
    }
    return all;
}

Split splitGroup(std::span<const std::int32_t> groupOfRow, std::int32_t group) {
    Split split;
    for (std::size_t i = 0; i < groupOfRow.size(); ++i) {
        (groupOfRow[i] == group ? split.test : split.training).push_back(i);
    }
    return split;
}

}  // namespace orrery
