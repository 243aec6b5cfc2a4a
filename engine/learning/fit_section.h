#pragma once

// From measured rows to one section of a calibration: the model of ln(measured ÷ baseline), where it holds, and how
// far it is off on rows that it has not seen. Shared by every method that learns.

#include "learning/calibration.h"
#include "learning/lattice.h"
#include "learning/section_price.h"
#include "learning/training.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// Rows of one family of kernels as a method sees them. A method without physics gives a baseline of one second.
struct SectionRows {
    std::vector<std::string> names;          ///< of the features
    std::vector<double> features;            ///< row-major, rows × names
    std::vector<double> baseline, measured;  ///< s, each > 0
    std::vector<double> weight;              ///< empty: all 1
    /// Rows that stand or fall together (one device, when learning across devices): folds then leave out whole
    /// groups. Empty: every row by itself.
    std::vector<std::int32_t> group;
    /// Rows that one model would launch together (equal tokens), from which the correlation of residuals is taken.
    /// Empty: rows of like duration.
    std::vector<std::int32_t> companions;
    /// Features of kernels that nobody measured, rows × names, for a pupil to learn what its teacher makes of them.
    std::vector<double> unmeasured;
    /// With axes, `unmeasured` are the points of a lattice and `latticeBaseline` their seconds by physics: the section
    /// keeps what its model says there, as a table whose prices fall no further than the slack along any axis.
    std::vector<LatticeAxis> lattice;
    std::vector<double> latticeBaseline;
    std::vector<std::vector<double>> latticeSlack;  ///< ln, of each axis, as makeMonotone() takes it
    /// Ranges in ln in which a row's value lies evenly as far as physics knows (`spread.h`). Empty: none.
    std::vector<double> doubt;
    /// Columns of features that the domain alone looks at.
    std::vector<std::size_t> domainOnly;
    std::size_t rows() const { return measured.size(); }
};

struct SectionOptions {
    KernelKind kind = KernelKind::Gemm;
    std::string variant;
    std::optional<DeviceFingerprint> device;  ///< none: for any
    std::map<std::string, double, std::less<>> parameters;
    bool learn = true;  ///< false: no model, residuals of the baseline itself
    /// With stop, seed and onStep inside. More than one: the one with the least out-of-fold error is taken.
    std::vector<TrainingOptions> candidates{TrainingOptions{}};
    /// A quick, small model that is taught what the (slow, large) candidate says of all rows, measured or not, and
    /// stands in its place; Hinton et al., "Distilling the Knowledge in a Neural Network", 2015. Its seed is the
    /// candidate's.
    std::optional<TrainingOptions> pupil;
    int folds = 5;
    int classes = 4;  ///< of predicted time for residuals, merged where rows are few
    std::vector<CalibrationSource> sources;
    std::string split;    ///< in words
    bool spread = false;  ///< with three groups of rows or more: scales of residuals are learned, see `spread.h`
};

/// Means of |exp(residual) − 1|: what a person calls the error.
struct SectionFit {
    CalibrationSection section;
    std::vector<double> outOfFold;  ///< ln(measured ÷ predicted) of every row by a model that did not see it
    double trainingError = 0, outOfFoldError = 0;
    int candidate = 0;
};

/// Fails with `learning.…` for no rows and for numbers that are not finite or not positive. Cancelled: the best so far.
Expected<SectionFit> fitSection(const SectionRows& rows, const SectionOptions& options);

/// For physics with parameters fitted to the same rows: `prepare` is called with the row numbers that it may fit to,
/// and gives all rows with the baseline that follows. Once per fold and once with all, so that residuals are honest
/// about the parameters too. The section's parameters are those of the last call.
using PrepareRows = std::function<Expected<SectionRows>(std::span<const std::size_t> fitTo,
                                                        std::map<std::string, double, std::less<>>& parameters)>;
Expected<SectionFit> fitSection(std::size_t rows, const PrepareRows& prepare, const SectionOptions& options);

}  // namespace orrery
