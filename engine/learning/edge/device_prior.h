#pragma once

// Latency of a device from a few samples. A device is a vector of coefficients over features of networks
// (space_features.h): additive, as fifteen cells after one another are. What other devices' coefficients are like, each
// as a share of its own mean latency, is a Gaussian prior N(μ, S + β²I) (hierarchical Bayesian regression; Gelman et
// al., "Bayesian Data Analysis", 3rd ed., chapter 15); samples of a new device condition it. Noise σ and freedom β are
// averaged over a grid by the evidence of the samples (Rasmussen and Williams 2006, section 5.2), so that a noisy timer
// is not followed and a device unlike all others is. Without other devices the prior is a roofline: calls, operations
// and bytes in unknown shares.

#include "base/diagnostic.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// Rows side by side; the first column is 1.
struct FeatureRows {
    std::size_t columns = 0;
    std::vector<double> values;  ///< rows × columns
    std::size_t core = 0;        ///< columns in front that carry most; those behind are detail, believed late. 0: all
    std::size_t rows() const { return columns ? values.size() / columns : 0; }
    std::span<const double> row(std::size_t r) const { return std::span(values).subspan(r * columns, columns); }
};

struct Predicted {
    double mean = 0, low = 0, high = 0;  ///< low, high: 90 % of measurements are said to lie between
};

/// One device, ready to be asked. Plain numbers: a copy answers alike.
class DeviceModel {
public:
    Predicted at(std::span<const double> features) const;
    double mean(std::span<const double> features) const;  ///< alone: for ranking
    /// Of features against those of the networks seen: above 1 lies outside (the largest distance of one in ranges).
    double outside(std::span<const double> features) const;

    /// How errors of networks go together, as shares of their means: rows × rows, without the noise of a measurement.
    std::vector<double> covariance(const FeatureRows& networks) const;

    double noise = 0;     ///< σ that the samples speak for, as a share of the mean
    double freedom = 0;   ///< β likewise
    double widening = 1;  ///< by which intervals are wider, so that as many of the known devices' rows lie inside
    double leftOut = 0;  ///< mean absolute relative error of samples left out one at a time; from 30 samples on, else 0
    bool simple = false;  ///< a ridge on four counts: it was no worse on what was left out
    std::size_t samples = 0;

    std::size_t columns() const { return centre_.size(); }

private:
    friend class DevicePrior;
    friend struct DeviceNumbers;  // device_file.h: how it stands in a file
    bool relative_ = false;
    double scale_ = 1, scaleDeviation_ = 0, floor_ = 0;
    std::vector<double> centre_, spread_, least_, most_;
    std::vector<double> weights_, root_;  ///< root: p × rank, of the coefficients' covariance
    std::size_t rank_ = 0;
    std::vector<double> standard(std::span<const double> features) const;
};

class DevicePrior {
public:
    /// `latencies[d]` has a value per row, NaN where it was not measured; a device needs `leastRows` of them and more
    /// than one value, else it is left out. With no device left, `analytic` says which columns a roofline counts.
    /// Fails with `edge.no-features`, `edge.not-finite`.
    static Expected<DevicePrior> learn(const FeatureRows& networks, std::span<const std::vector<double>> latencies,
                                       std::span<const std::size_t> analytic);
    static constexpr std::size_t leastRows = 20;

    /// No samples: the mean device, at the devices' usual scale. A simple model (`simple_models.h`) answers where it is
    /// no worse: from 30 samples on by samples left out one at a time, below by what calibrate() found on left-out
    /// devices. Fails with `edge.bad-sample` for a latency that is not above 0, `edge.shape`.
    Expected<DeviceModel> condition(const FeatureRows& networks, std::span<const double> latencies) const;

    std::size_t known() const { return used_.size(); }  ///< devices that were learned from; 0: a roofline alone
    /// Leaves each known device out in turn, conditions on so many of its rows, widens intervals until 90 % of the
    /// others lie inside, and finds whether a simple model tells these as well. Nothing where fewer than three devices
    /// are known, or above 200 samples.
    void calibrate(const FeatureRows& networks, std::span<const std::vector<double>> latencies, std::size_t samples,
                   std::uint64_t seed);

private:
    std::size_t devices_ = 0, columns_ = 0;
    std::vector<double> centre_, spread_, least_, most_;
    std::vector<double> mean_, apart_;  ///< μ; D × p of deviations from it, ÷ √(D − 1)
    std::vector<double> own_;           ///< D × p: each device's coefficients
    double logScale_ = 0, logScaleDeviation_ = 1, widening_ = 1;
    bool preferSimple_ = false;
    DevicePrior without(std::size_t device) const;
    DeviceModel simpleModel(const FeatureRows& networks, std::span<const double> latencies) const;
    Expected<DeviceModel> conditioned(const FeatureRows& networks, std::span<const double> latencies) const;
    void summarise(const std::vector<std::size_t>& kept);
    std::vector<double> scales_;     ///< mean latencies
    std::vector<std::size_t> used_;  ///< which columns of what was given
};

}  // namespace orrery
