#pragma once

// Means and totals from samples, with intervals from the spread of what was drawn: Cochran, "Sampling Techniques", 3rd
// edition 1977, chapters 2 (finite populations) and 5 (strata).

#include <span>
#include <vector>

namespace orrery {

/// Student's t below which a share `level` lies; degrees of freedom need not be whole, at least 1.
double studentQuantile(double level, double degrees);

/// A mean and half of its interval.
struct SampleMean {
    double mean, half;
};
/// Of one draw from each of equal strata: the spread over all is at least that within them.
SampleMean meanOf(std::span<const double> drawn, double confidence);

/// Units alike, some of which were measured; the others are estimated.
struct SampleStratum {
    std::vector<double> drawn;  ///< what a unit of weight 1 was measured to take
    double weight = 0;          ///< of all units that are estimated
    double squares = 0;         ///< sum of squares of their weights, one by one; 0: so many that it does not matter
    double varianceOfOne = 0;   ///< of what a unit takes, where a single one was drawn
    double drift = 0;           ///< by how much all that were drawn may be off alike
};
struct SampleTotal {
    double total = 0, half = 0;
};
/// Of all units that are estimated: Σ weight × mean of the drawn. Variance of a stratum: s² (weight² / n + squares), of
/// the mean and of the units themselves about it; degrees of freedom after Welch and Satterthwaite. What strata may be
/// off by, Σ weight × drift, is added as a square.
SampleTotal totalOf(std::span<const SampleStratum> strata, double confidence);

}  // namespace orrery
