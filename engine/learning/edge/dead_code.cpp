#include "learning/edge/dead_code.h"

#include "learning/cholesky.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace orrery {
namespace {

// Mean absolute relative error of rows left out, none above 1, one at a time up to ten rows, else in ten parts. Rows
// weigh as their relative errors do, those below a tenth of the mean no more.
double leftOutError(const FeatureRows& networks, std::span<const double> y, std::span<const std::size_t> columns) {
    const std::size_t n = y.size(), p = columns.size(), parts = std::min<std::size_t>(n, 10);
    double error = 0, mean = 0;
    for (const double each : y) mean += each / static_cast<double>(n);
    const auto scaleOf = [&](std::size_t r) { return 1 / std::max(y[r], 0.1 * mean); };
    for (std::size_t part = 0; part < parts; ++part) {
        std::vector<double> a(p * p, 0), b(p, 0);
        for (std::size_t r = 0; r < n; ++r) {
            if (r % parts == part) continue;
            const auto row = networks.row(r);
            for (std::size_t i = 0; i < p; ++i) {
                const double weighed = row[columns[i]] * scaleOf(r) * scaleOf(r);
                b[i] += weighed * y[r];
                for (std::size_t j = 0; j < p; ++j) a[i * p + j] += weighed * row[columns[j]];
            }
        }
        for (std::size_t i = 0; i < p; ++i) a[i * p + i] += 1e-3 / (mean * mean);
        const auto l = cholesky(a, p);
        if (!l) return std::numeric_limits<double>::infinity();
        const auto w = choleskySolve(*l, b);
        for (std::size_t r = part; r < n; r += parts) {
            double told = 0;
            for (std::size_t i = 0; i < p; ++i) told += networks.row(r)[columns[i]] * w[i];
            error += std::min(1.0, std::abs(told / y[r] - 1)) / static_cast<double>(n);
        }
    }
    return error;
}

}  // namespace

std::string_view toText(DeadCode rule) {
    constexpr std::array<std::string_view, 3> names{"unclear", "dropped", "executed"};
    return names[static_cast<std::size_t>(rule)];
}

DeadCode deadCodeRule(const FeatureRows& networks, std::span<const double> latencies) {
    if (latencies.size() < 30 || networks.rows() != latencies.size() || networks.half < 10 || networks.nothing == 0)
        return DeadCode::Unclear;
    // What is made once of one value is one count: without it pools would blur both rules.
    constexpr std::array<std::size_t, 7> counts{0, 1, 2, 3, 7, 8, 9};
    std::vector<std::size_t> folded{networks.nothing};
    for (const std::size_t column : counts) folded.push_back(networks.half + column);
    const double executed = leftOutError(networks, latencies, counts),
                 dropped = leftOutError(networks, latencies, folded);
    if (dropped < 0.8 * executed) return DeadCode::Dropped;
    if (executed < 0.8 * dropped) return DeadCode::Executed;
    return DeadCode::Unclear;
}

}  // namespace orrery
