#pragma once

// Which networks to measure next, and what that would buy: before any of them is measured, from how they vary together
// (a Gaussian model; what one sample says of all others is known without its value). Greedy: each choice leaves the
// least summed variance (A-optimal design; Krause, Singh and Guestrin, "Near-optimal sensor placements in Gaussian
// processes", JMLR 2008, section 2).

#include <cstddef>
#include <span>
#include <vector>

namespace orrery {

struct NextSample {
    std::size_t network = 0;
    double left = 0;  ///< root of the mean variance of all networks once this and those before are measured
};

/// `covariance`: n × n, afterwards that with the chosen ones measured; `rest`: deviation of a measurement beside it; of
/// `candidates`, so many at most. A candidate is chosen once. O(n² · count).
std::vector<NextSample> nextSamples(std::vector<double>& covariance, double rest,
                                    std::span<const std::size_t> candidates, std::size_t count);

}  // namespace orrery
