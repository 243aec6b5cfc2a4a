#include "study/fidelity/ratio_belief.h"

#include <algorithm>
#include <cmath>

namespace orrery {

double studentT95(double degrees) {
    // Tables of Student's t; beyond them the normal's 1.6449 with the first term of its expansion (Fisher, 1925).
    static constexpr std::array<double, 12> table{6.3138, 2.9200, 2.3534, 2.1318, 2.0150, 1.9432,
                                                  1.8946, 1.8595, 1.8331, 1.8125, 1.7959, 1.7823};
    const auto at = static_cast<std::size_t>(std::max(1.0, std::floor(degrees)));
    if (at <= table.size()) return table[at - 1];
    constexpr double z = 1.644854;
    return z + (z * z * z + z) / (4 * degrees);
}

namespace {

// How much less is known of the middle than one kernel would tell, and of the change over a decade as of the middle.
constexpr double middlePrecision = 0.5;
const double slopePrecision = middlePrecision * std::log(10.0) * std::log(10.0);

}  // namespace

RatioBelief::RatioBelief(double low, double high, double degrees, bool narrows)
    : line_{(low + high) / 2, 0.0}, precision_{middlePrecision, 0.0, slopePrecision}, degrees_(degrees) {
    spread_ = (high - low) / 2 / (studentT95(degrees_) * std::sqrt(1 + 1 / middlePrecision));
    if (!narrows) leastSpread_ = spread_;
}

void RatioBelief::learn(double z, double x) {
    const auto [a, b, d] = precision_;
    const double na = a + 1, nb = b + z, nd = d + z * z;
    const double u = a * line_[0] + b * line_[1] + x, v = b * line_[0] + d * line_[1] + z * x;
    const double det = na * nd - nb * nb;
    const double before = line_[0] * (a * line_[0] + b * line_[1]) + line_[1] * (b * line_[0] + d * line_[1]);
    line_ = {(nd * u - nb * v) / det, (na * v - nb * u) / det};
    precision_ = {na, nb, nd};
    const double now = line_[0] * u + line_[1] * v;
    const double squares = degrees_ * spread_ * spread_ + std::max(0.0, x * x + before - now);
    degrees_ += 1;
    spread_ = std::max(std::sqrt(squares / degrees_), leastSpread_);
    ++learned_;
}

double RatioBelief::own() const {
    return studentT95(degrees_) * spread_;
}

double RatioBelief::lineOfSum(const std::array<double, 2>& w) const {
    const auto [a, b, d] = precision_;
    const double det = a * d - b * b;
    if (!(det > 0)) return 0;
    return own() * std::sqrt(std::max(0.0, (d * w[0] * w[0] - 2 * b * w[0] * w[1] + a * w[1] * w[1]) / det));
}

double RatioBelief::line(double size) const {
    return lineOfSum({1.0, size});
}

double RatioBelief::half(double size) const {
    return std::hypot(own(), line(size));
}

RatioBelief RatioBelief::after(double size) const {
    RatioBelief next = *this;
    next.precision_ = {precision_[0] + 1, precision_[1] + size, precision_[2] + size * size};
    next.degrees_ += 1;
    return next;
}

}  // namespace orrery
