#pragma once

// A Gaussian process with a mean and a deviation anywhere: Matérn kernel of order 5/2 with a length per input, over
// numbers and words at once, its lengths, amplitude and noise by marginal likelihood (Rasmussen and Williams, "Gaussian
// Processes for Machine Learning", 2006, chapters 2, 4 and 5). For surrogates and for agents that search. The other
// process (gaussian_process.h) corrects prices and knows no deviation.
//
// Two words are 0 or 1 apart, which is half the squared distance of their one-hot codes, so the kernel stays positive.
// Lengths have the prior of Hvarfner, Hellsten, Nardi, "Vanilla Bayesian Optimization Performs Great in High
// Dimensions", ICML 2024, for numbers between 0 and 1: it keeps dozens of inputs from being followed one by one.

#include "base/text/json_cursor.h"
#include "learning/regressor.h"

#include <cstdint>
#include <stop_token>
#include <vector>

namespace orrery {

/// Rows side by side: numbers between about 0 and 1, words as whole numbers.
struct ProcessRows {
    std::vector<bool> words;  ///< of each input, whether it is one
    std::vector<double> inputs;
    std::vector<double> target;
    std::size_t rows() const { return target.size(); }
    std::size_t columns() const { return words.size(); }
};

/// Hyper-parameters. Amplitude and noise are deviations, in those of the target.
struct ProcessShape {
    std::vector<double> lengths;  ///< one per input
    double amplitude = 1, noise = 0.01;
};

struct ProcessOptions {
    int restarts = 2;           ///< of the likelihood's ascent, from draws of the prior; the first start is its median
    int steps = 40;             ///< of one ascent
    std::size_t fitRows = 256;  ///< the likelihood is that of so many rows at most, drawn by seed
    ProcessShape start = {};    ///< tried first where it has lengths: what was found before
    double leastNoise = 1e-4;   ///< in deviations of the target
    std::uint64_t seed = 1;
    std::stop_token stop = {};
};

struct Normal {
    double mean = 0, deviation = 0;  ///< of the function, without noise
};

/// How much a target rises with a number beside it, and how sure that is.
struct ProcessSlope {
    double value = 0, deviation = 0;
};

inline constexpr std::size_t mostMaternRows = 2000;  ///< of more, every n-th is kept

class MaternProcess final : public Regressor {
public:
    /// Fails with `learning.no-rows`, `learning.shape`, `learning.not-finite`. Same rows, options and seed: the same
    /// bits. O(steps × fitRows³ + rows³).
    static Expected<MaternProcess> fit(const ProcessRows& rows, const ProcessOptions& options);
    /// With hyper-parameters as they are. Fails as fit().
    static Expected<MaternProcess> conditioned(const ProcessRows& rows, const ProcessShape& shape);

    /// By generalised least squares over a process of this shape, with a level of its own (the book's equation 2.41; of
    /// co-kriging, Le Gratiet and Garnier 2014): `beside` has one number per row. Fails as fit(), and with
    /// `learning.shape` where the numbers never change. O(rows³).
    static Expected<ProcessSlope> slopeOf(const ProcessRows& rows, std::span<const double> beside,
                                          const ProcessShape& shape);

    std::string_view kind() const override { return "matern-process"; }
    std::size_t inputs() const override { return rows_.columns(); }
    double predict(std::span<const double> features) const override;  ///< the mean
    std::string toJson() const override;

    Normal at(std::span<const double> features) const;
    /// Of many rows side by side, faster than one by one.
    std::vector<Normal> atAll(std::span<const double> features) const;
    /// As if its mean were measured there: surer near it, and the same means everywhere (the believer of Ginsbourger,
    /// Le Riche, Carraro 2010). O(rows²).
    MaternProcess believing(std::span<const double> features) const;
    const ProcessShape& shape() const { return shape_; }
    /// Mean of ln of the density that each row's target has for the process of the others (the book's equation 5.11).
    double leftOutDensity() const { return density_; }
    double noise() const { return shape_.noise * scale_ * stretch_; }  ///< as a deviation, in the target's unit
    const ProcessRows& rows() const { return rows_; }

private:
    MaternProcess() = default;
    double likeness(const double* a, const double* b) const;

    ProcessRows rows_;
    ProcessShape shape_;
    double mean_ = 0, scale_ = 1;  // of the target
    double density_ = 0;
    double stretch_ = 1;           // of deviations, from rows left out
    double level_ = 0;             // the constant that the process returns to, standardised
    std::vector<double> scaled_;   // inputs over lengths
    std::vector<double> weights_;  // K⁻¹ (y − level)
    std::vector<double> lower_;    // of K, column by column
    std::vector<double> ones_;     // K⁻¹ 1
    double onesSum_ = 1;           // 1ᵀ K⁻¹ 1
};

/// `{"words": [0, 1, …], "lengths": […], "amplitude": a, "noise": n, "inputs": […], "target": […]}`; null if it fails,
/// which the cursor says.
RegressorPtr readMaternProcess(JsonCursor& json);

}  // namespace orrery
