#include "workload/expert_routing.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace orrery {

namespace {

// Quantiles of a power law between `low` and `high`, as many as experts.
std::vector<double> wantedness(std::int64_t experts, double exponent, double low, double high) {
    std::vector<double> all(static_cast<std::size_t>(experts));
    const double power = 1 - exponent;
    const double from = std::pow(low, power), to = std::pow(high, power);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const double u = (static_cast<double>(i) + 0.5) / static_cast<double>(all.size());
        all[i] = std::abs(power) < 1e-9 ? low * std::pow(high / low, u) : std::pow(from + u * (to - from), 1 / power);
    }
    return all;
}

}  // namespace

void routeExperts(ExpertShape& shape, const Routing& routing) {
    const auto ranks = std::max<std::int64_t>(1, routing.ranks);
    const auto experts = std::clamp<std::int64_t>(routing.experts, 1, 1'000'000);
    const double tokens = static_cast<double>(routing.tokens);
    const double choices = tokens * static_cast<double>(routing.perToken);
    shape.tokens = routing.tokens;
    shape.held = std::max<std::int64_t>(1, (experts + ranks - 1) / ranks);
    const double held = static_cast<double>(shape.held);
    double rows = std::ceil(choices / static_cast<double>(ranks)), touched = std::min(held, rows);
    if (shape.skew > 0) {
        // Many choices: counts between one and most tokens; few: most experts are chosen by none.
        const bool many = choices > static_cast<double>(experts);
        const auto wanted = wantedness(experts, shape.skew, many ? 1 : 0.01, many ? std::max(2.0, 0.8 * tokens) : 2);
        double sum = 0;
        for (const double one : wanted) sum += one;
        double mean = 0, square = 0, some = 0;
        for (const double one : wanted) {
            const double own = std::min(tokens, one / sum * choices);
            mean += own, square += own * own, some += 1 - std::exp(-own);
        }
        const double count = static_cast<double>(experts);
        mean /= count, square /= count, some /= count;
        const double spread = std::sqrt(std::max(0.0, square - mean * mean) * held);
        const double extra = ranks > 1 ? std::sqrt(2 * std::log(static_cast<double>(ranks))) * spread : 0;
        const double most = tokens * std::min(static_cast<double>(routing.perToken), held);
        rows = std::clamp(std::round(mean * held + extra), 1.0, std::max(1.0, most));
        touched = std::clamp(std::round(some * held), 1.0, std::min(held, rows));
    }
    shape.rows = static_cast<std::int64_t>(rows);
    shape.touched = static_cast<std::int64_t>(std::max(1.0, touched));
}

Kernel expertsAsProduct(const Kernel& kernel) {
    const ExpertShape& e = kernel.experts;
    Kernel product = kernel;
    product.kind = KernelKind::Gemm;
    product.batch = std::max<std::int64_t>(1, e.touched);
    product.m = std::max<std::int64_t>(1, (e.rows + product.batch - 1) / product.batch);
    product.n = e.inner * (e.gated ? 3 : 2);
    product.k = e.hidden;
    return product;
}

}  // namespace orrery
