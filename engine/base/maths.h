#pragma once

// Small arithmetic that many rooms need, each with one definition.

#include <cstddef>
#include <cstdint>
#include <span>

namespace orrery {

/// ⌈a ÷ b⌉ for a ≥ 0, b > 0; a + b must fit.
constexpr std::int64_t ceilDiv(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

/// The least multiple of `step` that is not below `value`; for value ≥ 0, step > 0.
constexpr std::int64_t roundUp(std::int64_t value, std::int64_t step) {
    return ceilDiv(value, step) * step;
}

// Quantiles. With x(0) ≤ … ≤ x(n−1) and 0 ≤ p ≤ 1; none takes an empty set. The spans of the first group are reordered.

/// Linear between order statistics, at place p·(n−1): definition 7 of Hyndman and Fan, "Sample Quantiles in Statistical
/// Packages", The American Statistician 50(4), 1996; the default of R, numpy and pandas. Every quantile that is shown
/// or kept in a file is this one. Where all in front of `from` are known to be no larger than the rest (a smaller p
/// asked before), only the rest is looked at. O(n).
double quantileType7(std::span<double> values, double p, std::size_t from = 0);
/// The order statistic at ⌊p·(n−1)⌋, which is one of the values (numpy: method "lower"). O(n).
double quantileLower(std::span<double> values, double p);
/// The order statistic at ⌊p·n⌋, at most the last: the least value with more than the share p at or below it, so that
/// a border drawn there leaves out no more than 1 − p. O(n).
double quantileAbove(std::span<double> values, double p);

/// quantileType7 of values that are sorted. O(1).
double quantileType7OfSorted(std::span<const double> sorted, double p);
/// quantileLower of values that are sorted. O(1).
double quantileLowerOfSorted(std::span<const double> sorted, double p);
/// The middle one, or (a + b) ÷ 2 of the middle two: quantileType7 at 0.5 but for the last bit.
double medianOfSorted(std::span<const double> sorted);

}  // namespace orrery
