#pragma once

#include <cstddef>
#include <span>

namespace orrery {

/// Kendall's τ-b, with ties, by merge sort in O(n log n) (Knight 1966); 0 if one side is constant.
double kendallTau(std::span<const double> a, std::span<const double> b);
/// Spearman's ρ: Pearson's correlation of mean ranks; 0 if one side is constant.
double spearmanRho(std::span<const double> a, std::span<const double> b);

/// How predictions differ from measurements, row by row. Relative errors are (predicted − measured) ÷ measured.
struct ErrorSummary {
    std::size_t rows = 0;
    double mape = 0;         ///< mean of absolute relative errors
    double bias = 0;         ///< mean of relative errors: below zero means predicted too short
    double medianError = 0;  ///< of absolute relative errors
    double p90Error = 0;     ///< of absolute relative errors
    double rmse = 0;         ///< in the values' unit
    double kendall = 0, spearman = 0;
};
/// Spans of equal length; measured > 0. Zeros for no rows.
ErrorSummary summarise(std::span<const double> predicted, std::span<const double> measured);

}  // namespace orrery
