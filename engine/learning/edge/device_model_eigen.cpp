#include "learning/edge/device_prior.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double normal90 = 1.6448536269514722;

}  // namespace

std::vector<double> DeviceModel::standard(std::span<const double> features) const {
    std::vector<double> out(centre_.size());
    for (std::size_t c = 0; c < out.size(); ++c) out[c] = (features[c] - centre_[c]) * spread_[c];
    return out;
}

// One of the two rules, in an interval that holds what the other says too where that is one in twenty. They are a
// thousand apart, so where both are possible the one is told that is off by less in the mean, as a share of what is
// measured: what is executed is off by a thousand if it folds, a constant by one if it is executed.
Predicted DeviceModel::ofNothing(std::span<const double> features) const {
    constexpr double possible = 0.05;
    const std::size_t half = centre_.size() / 2;
    const double told = scale_ * left_.tell(features.subspan(half)), stretch = std::exp(normal90 * scaleDeviation_);
    Predicted out{told, told * std::exp(left_.low) / stretch, told * std::exp(left_.high) * stretch};
    if (drops >= 1) return out;
    // The executed half alone, as if it were sure.
    double share = 0;
    for (std::size_t c = 0; c < half; ++c) share += (features[c] - centre_[c]) * spread_[c] * weights_[c];
    share = std::max(share / (1 - drops), floor_);
    const double wide = normal90 * widening * noise * (relative_ ? share : 1);
    const Predicted executed{scale_ * share, scale_ * std::max(share - wide, 0.2 * floor_) / stretch,
                             scale_ * (share + wide) * stretch};
    const bool lessOff = drops * (executed.mean / told - 1) < (1 - drops) * (1 - told / executed.mean);
    if (drops < possible || lessOff) out.mean = executed.mean;
    if (drops < possible) out.low = executed.low;
    if (drops <= 1 - possible) out.high = drops < possible ? executed.high : std::max(out.high, executed.high);
    out.low = std::min(out.low, out.mean);
    out.high = std::max(out.high, out.mean);
    return out;
}

double DeviceModel::mean(std::span<const double> features) const {
    if (isNothing(features)) return ofNothing(features).mean;
    double sum = 0;
    for (std::size_t c = 0; c < centre_.size(); ++c) sum += (features[c] - centre_[c]) * spread_[c] * weights_[c];
    return scale_ * std::max(sum, floor_);
}

Predicted DeviceModel::at(std::span<const double> features) const {
    if (isNothing(features)) return ofNothing(features);
    const auto x = standard(features);
    double share = 0;
    for (std::size_t c = 0; c < x.size(); ++c) share += x[c] * weights_[c];
    share = std::max(share, floor_);
    double variance = noise * noise * (relative_ ? share * share : 1);
    // Row by row, as the root lies in memory.
    thread_local std::vector<double> along;
    along.assign(rank_, 0);
    for (std::size_t c = 0; c < x.size(); ++c) {
        if (x[c] == 0) continue;
        const double* row = root_.data() + c * rank_;
        for (std::size_t k = 0; k < rank_; ++k) along[k] += x[c] * row[k];
    }
    for (const double each : along) variance += each * each;
    const double half = normal90 * widening * std::sqrt(variance);
    Predicted out;
    out.mean = scale_ * share;
    // The level is known in ratios, so it stretches both ends.
    const double stretch = std::exp(normal90 * widening * scaleDeviation_);
    out.low = scale_ * std::max(share - half, 0.2 * floor_) / stretch;
    out.high = scale_ * (share + half) * stretch;
    return out;
}

std::vector<double> DeviceModel::covariance(const FeatureRows& networks) const {
    const auto rows = static_cast<Eigen::Index>(networks.rows()), rank = static_cast<Eigen::Index>(rank_);
    const Eigen::Map<const RowMajor> root(root_.data(), static_cast<Eigen::Index>(centre_.size()), rank);
    RowMajor along(rows, rank);
    for (Eigen::Index r = 0; r < rows; ++r) {
        const auto features = networks.row(static_cast<std::size_t>(r));
        const double share = std::max(mean(features) / scale_, floor_);
        const auto x = standard(features);
        along.row(r) =
            (Eigen::Map<const Eigen::RowVectorXd>(x.data(), static_cast<Eigen::Index>(x.size())) * root) / share;
    }
    std::vector<double> out(networks.rows() * networks.rows());
    Eigen::Map<RowMajor> together(out.data(), rows, rows);
    together = along * along.transpose();
    together.array() += scaleDeviation_ * scaleDeviation_;
    return out;
}

double DeviceModel::outside(std::span<const double> features) const {
    double worst = 0;
    for (std::size_t c = 1; c < centre_.size(); ++c) {
        const double range = most_[c] - least_[c];
        if (range <= 0) {
            if (features[c] != most_[c]) worst = std::max(worst, 2.0);
            continue;
        }
        worst = std::max(worst, std::max(least_[c] - features[c], features[c] - most_[c]) / range + 1);
    }
    return worst;
}

}  // namespace orrery
