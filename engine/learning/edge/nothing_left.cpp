#include "learning/edge/nothing_left.h"

#include "base/maths.h"
#include "learning/cholesky.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace orrery {
namespace {

constexpr double least = 1e-6;  // share of a mean latency

}  // namespace

double NothingLeft::tell(std::span<const double> columns) const {
    double sum = 0;
    for (std::size_t c = 0; c < counts; ++c) sum += shares[c] * columns[c];
    return std::max(least, sum);
}

std::optional<NothingLeft> nothingLeft(std::span<const std::array<double, NothingLeft::counts>> networks,
                                       std::span<const double> shares) {
    constexpr std::size_t p = NothingLeft::counts, enough = 5;
    constexpr int rounds = 30;
    if (networks.size() < enough || networks.size() != shares.size()) return std::nullopt;
    NothingLeft out;
    std::vector<double> off(shares.size(), 1.0);
    for (int round = 0; round < rounds; ++round) {
        std::array<double, p * p> a{};
        std::array<double, p> b{};
        for (std::size_t r = 0; r < shares.size(); ++r) {
            const double weight = 1 / (shares[r] * shares[r] * std::max(off[r], 1e-3));
            for (std::size_t i = 0; i < p; ++i) {
                b[i] += weight * networks[r][i] * shares[r];
                for (std::size_t j = 0; j < p; ++j) a[i * p + j] += weight * networks[r][i] * networks[r][j];
            }
        }
        for (std::size_t i = 0; i < p; ++i) a[i * p + i] = (1 + 1e-9) * a[i * p + i] + 1e-9;
        const auto l = cholesky(a, p);
        if (!l) return std::nullopt;
        const auto solved = choleskySolve(*l, {b.begin(), b.end()});
        for (std::size_t i = 0; i < p; ++i) out.shares[i] = std::max(i == 0 ? least : 0.0, solved[i]);
        for (std::size_t r = 0; r < shares.size(); ++r) off[r] = std::abs(out.tell(networks[r]) / shares[r] - 1);
    }
    std::vector<double> logs;
    for (std::size_t r = 0; r < shares.size(); ++r) logs.push_back(std::log(shares[r] / out.tell(networks[r])));
    out.low = std::min(0.0, quantileType7(logs, 0.05));
    out.high = std::max(0.0, quantileType7(logs, 0.95));
    return out;
}

NothingLeft expectedNothing(std::span<const NothingLeft> known) {
    NothingLeft out;
    if (known.empty()) {
        out.shares[0] = std::sqrt(1e-4 * 0.1);
        out.high = std::log(0.1 / out.shares[0]);
        out.low = -out.high;
        return out;
    }
    const double count = static_cast<double>(known.size());
    for (std::size_t c = 0; c < NothingLeft::counts; ++c) {
        double sum = 0;
        for (const NothingLeft& each : known) sum += std::log(std::max(least, each.shares[c])) / count;
        out.shares[c] = std::exp(sum);
    }
    double apart = std::log(2.0);
    for (const NothingLeft& each : known) {
        out.low = std::min(out.low, each.low);
        out.high = std::max(out.high, each.high);
        apart = std::max(apart, 1.5 * std::abs(std::log(each.shares[0] / out.shares[0])));
    }
    out.low -= apart;
    out.high += apart;
    return out;
}

}  // namespace orrery
