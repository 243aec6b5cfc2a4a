#pragma once

// Stretches of a run told apart by what runs in them: how often each instruction does, projected at random to fifteen
// dimensions, and clusters of alike stretches. SimPoint: Sherwood, Perelman, Hamerly and Calder, ASPLOS 2002.

#include "base/random.h"

#include <array>
#include <cstdint>
#include <vector>

namespace orrery {

constexpr std::size_t signatureSize = 15;
using Signature = std::array<double, signatureSize>;

/// The direction that an instruction has among the fifteen: each coordinate from −1 to 1.
Signature signatureDirection(RandomStream& random);
void addTo(Signature& sum, const Signature& direction, double share);

/// Which cluster each point belongs to: k-means from centres far apart, with as many clusters as the Bayesian
/// information criterion asks for (Pelleg and Moore, ICML 2000), at most `most`. Time is points × most² × 20.
std::vector<std::size_t> clustersOf(const std::vector<Signature>& points, std::uint64_t seed, std::size_t most = 10);

/// Members of each cluster, in order.
std::vector<std::vector<std::size_t>> membersOf(const std::vector<std::size_t>& clusters);

}  // namespace orrery
