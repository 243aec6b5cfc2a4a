#pragma once

// Latency of a device from a few samples. A device is a vector of coefficients over features of networks
// (space_features.h): additive, as fifteen cells after one another are. What other devices' coefficients are like, each
// as a share of its own mean latency, is a Gaussian prior N(μ, S + β²I) (hierarchical Bayesian regression; Gelman et
// al., "Bayesian Data Analysis", 3rd ed., chapter 15); samples of a new device condition it. Noise σ and freedom β are
// averaged over a grid by the evidence of the samples (Rasmussen and Williams 2006, section 5.2), so that a noisy timer
// is not followed and a device unlike all others is. Without other devices the prior is a roofline: calls, operations
// and bytes in unknown shares. Whether the runtime executes a network as it is written or folds its constants and drops
// what leads nowhere is a second unknown: a known device has the rule that tells its own rows better, a new one both,
// each as far as its samples speak for it. Networks that fold to a constant are told apart (nothing_left.h).

#include "base/diagnostic.h"
#include "learning/edge/nothing_left.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// Rows side by side; the first column is 1.
struct FeatureRows {
    std::size_t columns = 0;
    std::vector<double> values;  ///< rows × columns
    std::size_t core = 0;        ///< columns in front that carry most; those behind are detail, believed late. 0: all
    std::size_t half = 0;  ///< columns from here on say the same of the network with its constants folded. 0: none has
    std::size_t nothing = 0;  ///< of these the one that is 1 where the whole network is a constant. 0: none ever is
    std::size_t rows() const { return columns ? values.size() / columns : 0; }
    std::span<const double> row(std::size_t r) const { return std::span(values).subspan(r * columns, columns); }
    FeatureRows none() const { return {columns, {}, core, half, nothing}; }  ///< rows of this kind, without one yet
    void add(std::span<const double> features) { values.insert(values.end(), features.begin(), features.end()); }
};

struct Predicted {
    double mean = 0, low = 0, high = 0;  ///< low, high: 90 % of measurements are said to lie between
};

/// One device, ready to be asked. Plain numbers: a copy answers alike.
class DeviceModel {
public:
    Predicted at(std::span<const double> features) const;
    double mean(std::span<const double> features) const;  ///< alone: for ranking
    /// Of features against those of the networks seen: above 1 lies outside (the largest distance of one in ranges). A
    /// column in front that had one value in all of ten samples or more is seen at that value alone.
    double outside(std::span<const double> features) const;
    /// It may be off by two: its interval reaches so far, or as far as most that were off by two on left-out devices.
    bool doubtful(const Predicted& told) const { return told.high > doubt * told.mean || doubt * told.low < told.mean; }

    /// How errors of networks go together, as shares of their means: rows × rows, without the noise of a measurement.
    std::vector<double> covariance(const FeatureRows& networks) const;

    double noise = 0;     ///< σ that the samples speak for, as a share of the mean
    double freedom = 0;   ///< β likewise
    double widening = 1;  ///< by which intervals are wider, so that nine in ten of what was left out lie inside
    double doubt = 2;     ///< a ratio, at most 2: see doubtful()
    double drops = 0;     ///< how far it is believed that dead code is dropped, 0 to 1; 0 where networks have none
    double leftOut = 0;   ///< mean absolute relative error of samples left out one at a time, none above 1; 0 of none
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
    std::size_t nothing_ = 0;  ///< FeatureRows::nothing; 0: networks that fold to a constant are told as all others
    NothingLeft left_;         ///< of those, in shares of scale_
    Predicted ofNothing(std::span<const double> features) const;
    bool isNothing(std::span<const double> features) const {
        return nothing_ > 0 && drops > 0 && features[nothing_] > 0.5;
    }
    std::vector<double> standard(std::span<const double> features) const;
};

/// Samples left out one at a time: the error as DeviceModel::leftOut, and how far each lies from what the others say,
/// in half-widths of its interval before that is widened.
struct LeftOutSamples {
    double error = 0;
    std::vector<double> scores;
};

/// The ratio that an interval must reach for a row to be doubted, at most 2: so that 95 % of the rows that were off by
/// two are found, unless one in ten of all others were doubted then. `far`, `near`: how far intervals of both reached,
/// as logarithms; 2 where either is empty.
double doubtOf(std::vector<double> far, std::vector<double> near);

/// What known devices showed when each was left out, with so many samples: `device_trials.cpp`.
struct DeviceTrials {
    struct Trial {
        std::size_t device = 0;
        LeftOutSamples own, simple;                   ///< of its samples
        std::vector<double> ownScores, simpleScores;  ///< of its other rows, likewise
        std::vector<double> ownReach, simpleReach;    ///< how far their intervals reach, as logarithms, not yet widened
        std::vector<double> ownOff, simpleOff;        ///< their errors, as logarithms
        double ownError = 0, simpleError = 0;         ///< means of their absolute relative errors, none above 1
    };
    std::size_t samples = 0;
    std::vector<Trial> trials;
    /// How many samples all trials together count as, where a simple model is chosen and where intervals are widened:
    /// what told left-out trials best from the others.
    struct Choice {
        double weight = 0, margin = 1;  ///< the simple model's error must be below this share of the other's
    };
    Choice choice;
    double widthWeight = 10;
    double doubt = 2;
    /// Of a device with these left-out samples, `device` not known.
    bool simpleIsBetter(const LeftOutSamples& own, const LeftOutSamples& simple, const Choice& by,
                        std::size_t device = static_cast<std::size_t>(-1)) const;
    double widening(const LeftOutSamples& left, bool simple, double weight,
                    std::size_t device = static_cast<std::size_t>(-1)) const;
    void learn();  ///< the weights and `doubt`, from the trials
};

class DevicePrior {
public:
    /// `latencies[d]` has a value per row, NaN where it was not measured; a device needs `leastRows` of them and more
    /// than one value, else it is left out. With no device left, `analytic` says which columns a roofline counts.
    /// Fails with `edge.no-features`, `edge.not-finite`.
    static Expected<DevicePrior> learn(const FeatureRows& networks, std::span<const std::vector<double>> latencies,
                                       std::span<const std::size_t> analytic);
    static constexpr std::size_t leastRows = 20, mostLeftOut = 40;

    /// No samples: the mean device, at the devices' usual scale. A simple model (`simple_models.h`) answers where it is
    /// no worse on samples left out one at a time and on left-out devices (calibrate()), weighed as told those best.
    /// Intervals are widened likewise. Fails with `edge.bad-sample` for a latency that is not above 0, `edge.shape`.
    Expected<DeviceModel> condition(const FeatureRows& networks, std::span<const double> latencies) const;

    std::size_t known() const { return used_.size(); }  ///< devices that were learned from; 0: a roofline alone
    /// Leaves known devices out in turn and conditions on so many of their rows; of more than `mostLeftOut` so many,
    /// drawn by seed, for each costs a prior learned anew. Nothing where fewer than three devices are known, or above
    /// 200 samples.
    void calibrate(const FeatureRows& networks, std::span<const std::vector<double>> latencies, std::size_t samples,
                   std::uint64_t seed);

private:
    struct Conditioned {
        DeviceModel model;
        LeftOutSamples left;
    };
    struct Rule;                                        // one of the two about dead code, conditioned
    std::size_t devices_ = 0, columns_ = 0, half_ = 0;  ///< half: columns of one rule
    std::vector<double> centre_, spread_, least_, most_;
    std::vector<double> mean_, apart_;                  ///< μ; D × half of deviations from it, ÷ √(D − 1)
    std::vector<double> own_;                           ///< D × half: each device's coefficients
    std::vector<char> drops_;                           ///< D: dead code is dropped
    std::vector<std::optional<NothingLeft>> nothings_;  ///< D: of those that do
    NothingLeft nothing_;                               ///< what is believed of another device
    std::size_t nothingColumn_ = 0;                     ///< FeatureRows::nothing
    double dropping_ = 0.5;                             ///< share of devices that do
    std::size_t core_ = 0;                              ///< FeatureRows::core
    double logScale_ = 0, logScaleDeviation_ = 1, widening_ = 1;
    DeviceTrials trials_;
    bool hasRules() const { return half_ < columns_; }
    DevicePrior without(std::size_t device) const;
    Conditioned simpleModel(const FeatureRows& networks, std::span<const double> latencies) const;
    Expected<Conditioned> conditioned(const FeatureRows& networks, std::span<const double> latencies) const;
    Rule folding(const FeatureRows& networks, std::span<const double> latencies) const;
    Rule follow(const FeatureRows& networks, std::span<const double> latencies, bool drops) const;
    Conditioned together(Rule executed, Rule dropped, const FeatureRows& networks,
                         std::span<const double> latencies) const;
    DeviceModel noneMeasured() const;
    DeviceModel plainModel() const;
    void narrow(DeviceModel& model, const FeatureRows& networks) const;
    void summarise(const std::vector<std::size_t>& kept);
    bool folds(std::span<const double> features) const { return nothingColumn_ > 0 && features[nothingColumn_] > 0.5; }
    std::vector<double> scales_;     ///< mean latencies
    std::vector<std::size_t> used_;  ///< which columns of what was given
};

}  // namespace orrery
