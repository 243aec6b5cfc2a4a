#include "base/maths.h"

#include <algorithm>
#include <cassert>

namespace orrery {

double quantileType7(std::span<double> values, double p, std::size_t from) {
    assert(!values.empty());
    const double place = p * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(place);
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(low);
    std::nth_element(values.begin() + static_cast<std::ptrdiff_t>(std::min(from, low)), at, values.end());
    const double part = place - static_cast<double>(low);
    if (part == 0 || low + 1 == values.size()) return *at;
    return *at + part * (*std::min_element(at + 1, values.end()) - *at);
}

double quantileLower(std::span<double> values, double p) {
    assert(!values.empty());
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(p * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

double quantileAbove(std::span<double> values, double p) {
    assert(!values.empty());
    const auto rank = std::min(values.size() - 1, static_cast<std::size_t>(p * static_cast<double>(values.size())));
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

double quantileType7OfSorted(std::span<const double> sorted, double p) {
    assert(!sorted.empty());
    const double place = p * static_cast<double>(sorted.size() - 1);
    const auto low = static_cast<std::size_t>(place);
    const double part = place - static_cast<double>(low);
    if (part == 0 || low + 1 == sorted.size()) return sorted[low];
    return sorted[low] + part * (sorted[low + 1] - sorted[low]);
}

double quantileLowerOfSorted(std::span<const double> sorted, double p) {
    assert(!sorted.empty());
    return sorted[static_cast<std::size_t>(p * static_cast<double>(sorted.size() - 1))];
}

double medianOfSorted(std::span<const double> sorted) {
    assert(!sorted.empty());
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

}  // namespace orrery
