#pragma once

// Bayesian optimisation. For agents.cpp, and what multi_fidelity.cpp shares of it.

#include "base/random.h"
#include "study/exploration/belief.h"

#include <cstdint>
#include <vector>

namespace orrery {

/// A Gaussian process per objective, from an even start; then in batches the points that are expected to add most
/// volume to the front (Jones, Schonlau, Welch 1998; Emmerich, Yang, Deutz 2016), times the probability that they keep
/// the constraints (Gardner et al. 2014). Within a batch each expectation is taken for the answer (Ginsbourger, Le
/// Riche, Carraro 2010).
void bayesian(Search& search, RandomStream random);

/// Of these points so many that together are expected to add most, best first.
std::vector<std::uint64_t> likeliestPoints(Belief& belief, std::vector<std::uint64_t> points, std::size_t count);
/// Some of them, drawn.
std::vector<std::uint64_t> anyPoints(std::vector<std::uint64_t> points, std::size_t count, RandomStream& random);

}  // namespace orrery
