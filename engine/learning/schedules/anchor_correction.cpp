#include "learning/schedules/anchor_correction.h"

#include "base/maths.h"
#include "learning/cholesky.h"
#include "learning/edge/next_samples.h"
#include "learning/trainers.h"

#include <cmath>
#include <numeric>

namespace orrery {
namespace {

// Deviations of ln(time): how far kinds of operators differ between devices, and what one row scatters. On tuned
// operators of 18 devices, each left out but for ten rows, doubling either or the lengths moved the mean error by
// about a point.
constexpr double amplitude = 0.5, noise = 0.25;
constexpr double levels = 1;  // how far a device's level is open before any row is measured

}  // namespace

double leastRelativeShift(std::span<const double> r, std::span<const double> weights) {
    std::vector<double> each;
    for (std::size_t i = 0; i < r.size(); ++i) each.push_back(std::exp(-r[i]) * (weights.empty() ? 1 : weights[i]));
    return weightedMedian(r, each);
}

// Kinds are one length apart; 16 times the work, or 4 times the intensity, half a length and a whole.
AnchorCorrection::Point AnchorCorrection::pointOf(const TensorWork& work) {
    return {work.depthwise ? 1.0 : 0.0,       work.winograd ? 1.0 : 0.0,
            work.product ? 1.0 : 0.0,         work.transposed ? 1.0 : 0.0,
            std::log2(work.flops()) / 6,      std::log2(work.flops() / work.bytes()) / 4,
            work.kernelRows == 1 ? 1.0 : 0.0, work.elementBytes <= 2 ? 1.0 : 0.0};
}

double AnchorCorrection::likeness(const Point& a, const Point& b) {
    double square = 0;
    for (std::size_t c = 0; c < columns; ++c) square += (a[c] - b[c]) * (a[c] - b[c]);
    return amplitude * amplitude * std::exp(-square / 2);
}

std::vector<std::size_t> chosenAnchors(std::span<const TunedRow* const> rows, std::size_t count) {
    constexpr std::size_t most = 400;
    const std::size_t n = std::min(most, rows.size());
    std::vector<std::size_t> places(n), all(n);
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<AnchorCorrection::Point> points;
    for (std::size_t i = 0; i < n; ++i) {
        places[i] = i * rows.size() / n;
        points.push_back(AnchorCorrection::pointOf(rows[places[i]]->work));
    }
    std::vector<double> covariance(n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            covariance[i * n + j] = levels * levels + AnchorCorrection::likeness(points[i], points[j]);
    std::vector<std::size_t> chosen;
    for (const NextSample& each : nextSamples(covariance, noise, all, count)) chosen.push_back(places[each.network]);
    return chosen;
}

AnchorCorrection::AnchorCorrection(std::span<const TunedRow* const> anchors, std::span<const double> off) {
    const std::size_t n = anchors.size();
    for (const TunedRow* row : anchors) points_.push_back(pointOf(row->work));
    std::vector<double> covariance(n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            covariance[i * n + j] = likeness(points_[i], points_[j]) + (i == j ? noise * noise : 0);
    std::vector<double> beside(off.begin(), off.end());
    const double middle = quantileType7(beside, 0.5);
    beside.assign(off.begin(), off.end());  // its order was lost
    for (double& each : beside) each -= middle;
    const auto lower = cholesky(covariance, n);  // the noise keeps it positive definite
    weights_ = choleskySolve(*lower, beside);
    const auto inverse = lowerInverse(*lower, n);
    // A row left out is off by its weight over its diagonal of the inverse (the book's equation 5.12).
    for (std::size_t i = 0; i < n; ++i) {
        double diagonal = 0;
        for (std::size_t k = i; k < n; ++k) diagonal += inverse[k * n + i] * inverse[k * n + i];
        leftOut_.push_back(weights_[i] / diagonal);
    }
    const double shift = leastRelativeShift(leftOut_);
    for (double& each : leftOut_) each -= shift;
    level_ = middle + shift;
}

double AnchorCorrection::at(const TunedRow& row) const {
    const Point here = points_.empty() ? Point{} : pointOf(row.work);
    double sum = level_;
    for (std::size_t i = 0; i < points_.size(); ++i) sum += weights_[i] * likeness(points_[i], here);
    return sum;
}

}  // namespace orrery
