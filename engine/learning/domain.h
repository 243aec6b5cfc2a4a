#pragma once

// Where a learned function has seen data: ranges of each feature, and the Mahalanobis distance from their mean.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace orrery {

enum class DomainVerdict : std::uint8_t {
    Inside,
    Edge,     ///< near the border: the interval is widened
    Outside,  ///< extrapolates: flagged
};
std::string_view toText(DomainVerdict verdict);

struct Domain {
    std::vector<double> low, high;  ///< of each feature
    std::vector<double> margin;     ///< beyond which a feature is outside by itself
    std::vector<double> mean;
    std::vector<double> whitening;  ///< lower triangle of W, row after row: z = W·(x − mean) has unit covariance
    double edge = 0, outside = 0;   ///< distances |z| of the two borders, from quantiles of the training rows

    /// Allocates nothing. O(features²).
    DomainVerdict check(std::span<const double> features) const;
};

/// Rows of `columns` features, row-major. Constant features count by their range alone.
Domain fitDomain(std::span<const double> rows, std::size_t columns);

}  // namespace orrery
