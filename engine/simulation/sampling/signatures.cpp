#include "simulation/sampling/signatures.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

double distance(const Signature& a, const Signature& b) {
    double sum = 0;
    for (std::size_t d = 0; d < signatureSize; ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sum;
}

// k-means from centres far apart; the sum of squared distances comes back.
double cluster(const std::vector<Signature>& points, std::size_t k, RandomStream& random,
               std::vector<std::size_t>& of) {
    std::vector<Signature> centres{points[random.below(points.size())]};
    std::vector<double> nearest(points.size(), std::numeric_limits<double>::infinity());
    while (centres.size() < k) {
        double all = 0;
        for (std::size_t i = 0; i < points.size(); ++i) {
            nearest[i] = std::min(nearest[i], distance(points[i], centres.back()));
            all += nearest[i];
        }
        double at = random.uniform() * all;
        std::size_t chosen = 0;
        while (chosen + 1 < points.size() && (at -= nearest[chosen]) > 0) ++chosen;
        centres.push_back(points[chosen]);
    }
    of.assign(points.size(), 0);
    double spread = 0;
    for (int round = 0; round < 20; ++round) {
        spread = 0;
        std::vector<Signature> sums(k, Signature{});
        std::vector<double> counts(k, 0);
        for (std::size_t i = 0; i < points.size(); ++i) {
            double best = std::numeric_limits<double>::infinity();
            for (std::size_t c = 0; c < k; ++c) {
                const double far = distance(points[i], centres[c]);
                if (far < best) {
                    best = far;
                    of[i] = c;
                }
            }
            spread += best;
            ++counts[of[i]];
            for (std::size_t d = 0; d < signatureSize; ++d) sums[of[i]][d] += points[i][d];
        }
        for (std::size_t c = 0; c < k; ++c) {
            for (std::size_t d = 0; d < signatureSize && counts[c] > 0; ++d) centres[c][d] = sums[c][d] / counts[c];
        }
    }
    return spread;
}

}  // namespace

Signature signatureDirection(RandomStream& random) {
    Signature out{};
    for (double& x : out) x = 2 * random.uniform() - 1;
    return out;
}

void addTo(Signature& sum, const Signature& direction, double share) {
    for (std::size_t d = 0; d < signatureSize; ++d) sum[d] += direction[d] * share;
}

std::vector<std::size_t> clustersOf(const std::vector<Signature>& points, std::uint64_t seed, std::size_t most) {
    std::vector<std::size_t> best, of;
    double least = std::numeric_limits<double>::infinity();
    const auto n = static_cast<double>(points.size());
    for (std::size_t k = 1; k <= std::min(most, points.size()); ++k) {
        RandomStream random(seed, 100 + k);
        const double spread = cluster(points, k, random, of) / n / signatureSize;
        const double criterion =
            n * signatureSize * std::log(spread + 1e-9) + static_cast<double>(k) * (signatureSize + 1) * std::log(n);
        if (criterion < least) {
            least = criterion;
            best = of;
        }
    }
    return best;
}

std::vector<std::vector<std::size_t>> membersOf(const std::vector<std::size_t>& clusters) {
    std::vector<std::vector<std::size_t>> out(
        clusters.empty() ? 0 : *std::max_element(clusters.begin(), clusters.end()) + 1);
    for (std::size_t i = 0; i < clusters.size(); ++i) out[clusters[i]].push_back(i);
    return out;
}

}  // namespace orrery
