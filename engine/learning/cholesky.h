#pragma once

// Small symmetric systems, for ridge regression and Mahalanobis distances.

#include <cmath>
#include <optional>
#include <span>
#include <vector>

namespace orrery {

/// L of A = L·Lᵀ, row-major n × n with zeros above the diagonal; none if A is not positive definite.
inline std::optional<std::vector<double>> cholesky(std::span<const double> a, std::size_t n) {
    std::vector<double> l(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = a[i * n + j];
            for (std::size_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
            if (i != j) {
                l[i * n + j] = sum / l[j * n + j];
            } else {
                if (!(sum > 0)) return std::nullopt;
                l[i * n + i] = std::sqrt(sum);
            }
        }
    }
    return l;
}

/// x of L·Lᵀ·x = b.
inline std::vector<double> choleskySolve(std::span<const double> l, std::vector<double> b) {
    const std::size_t n = b.size();
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) b[i] -= l[i * n + k] * b[k];
        b[i] /= l[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) b[i] -= l[k * n + i] * b[k];
        b[i] /= l[i * n + i];
    }
    return b;
}

/// Inverse of L, lower triangular too.
inline std::vector<double> lowerInverse(std::span<const double> l, std::size_t n) {
    std::vector<double> inverse(n * n, 0.0);
    for (std::size_t c = 0; c < n; ++c) {
        inverse[c * n + c] = 1 / l[c * n + c];
        for (std::size_t r = c + 1; r < n; ++r) {
            double sum = 0;
            for (std::size_t k = c; k < r; ++k) sum -= l[r * n + k] * inverse[k * n + c];
            inverse[r * n + c] = sum / l[r * n + r];
        }
    }
    return inverse;
}

}  // namespace orrery
