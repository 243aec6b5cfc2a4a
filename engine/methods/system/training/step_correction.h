#pragma once

// What published steps say of the closed form: a small model of ln(measured ÷ closed form) over stepFeatures(), fitted
// across stacks, models and devices, so that it speaks for those that nobody measured.
//
//   model     ridge on a few features, drawn to the ranges that were seen
//   chosen    its strength, by the error on publications that were left out, one after the other
//   interval  split-conformal (Lei et al., JASA 113, 2018): quantiles of residuals on rows that were not fitted, with
//             the rank (n + 1)·q of n; wider outside of what was fitted, by residuals of whole publications left out

#include "learning/calibration.h"
#include "learning/fit_section.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

inline constexpr std::string_view stepCorrectionVariant = "training step";  ///< of its section, whose kind is Other

/// A published step. Rows of one publication are weighed together and left out together.
struct StepCorrectionRow {
    std::string publication;
    std::vector<double> features;     ///< as stepFeatures()
    double closed = 0, measured = 0;  ///< s; the closed form's with kernels alone
};

struct StepCorrection {
    CalibrationSection section;  ///< `sources` and `split` are the caller's
    double ridge = 0;            ///< chosen
    /// Means of |predicted ÷ measured − 1|: of the closed form, fitted, of rows and of publications left out.
    double before = 0, fitted = 0, rowsOut = 0, publicationsOut = 0;
};

/// Fails with `learning.…`: no rows, fewer than three publications, numbers that are not finite. Deterministic.
Expected<StepCorrection> fitStepCorrection(std::span<const StepCorrectionRow> rows, const std::stop_token& stop = {});

/// Features drawn to the ranges that were seen: nothing is extrapolated along a line.
std::vector<double> withinDomain(const Domain& domain, std::span<const double> features);

/// What the section makes of a closed form; it has a model and a domain. Wider where its domain says so.
SectionPrice priceStep(const CalibrationSection& section, double closed, std::span<const double> features);

/// The section of the last calibration of `learned-step` that has one; null where none has.
const CalibrationSection* findStepCorrection(const CalibrationSet& calibrations);

}  // namespace orrery
