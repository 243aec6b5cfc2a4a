#pragma once

// Fitting that starts from what is known. A few own rows say more about how this device differs from one that was
// measured well than about kernels as such: so the section that speaks for the device today stays, and own rows add a
// correction to it, as strong as rows left out of its fit bear out: none, a factor, a linear one, trees.

#include "methods/kernel_method.h"

#include <span>
#include <string>
#include <vector>

namespace orrery {

/// Own rows of one family (a device, kind and variant) below which nothing is fitted: what was known stays.
inline constexpr std::size_t fewestOwnRows = 10;

/// What became of one family. Errors are means of |predicted ÷ measured − 1| over its own rows; `after` of rows by
/// folds that had not seen them.
struct SectionOutcome {
    std::string device, kind, variant;
    std::size_t rows = 0;
    std::string start;               ///< the device whose section was started from, `any device`; empty: there was none
    std::string kept;                ///< `as it was`, `a factor`, `linear`, `linear and trees`, `own fit`
    double before = -1, after = -1;  ///< below 0: not known
};

struct CalibratedFrom {
    Calibration calibration;
    std::vector<SectionOutcome> sections;
};

/// One section per device, kind and variant of `rows`. Families of fewer than fewestOwnRows rows keep what they started
/// from, with a warning; where that leaves nothing fitted it fails with `calibration.few-rows`. A correction is taken
/// if it lowers the error of rows left out by more than twice its standard error.
Expected<CalibratedFrom> calibrateFrom(const KernelMethod& method, const CalibrationSet& start,
                                       std::span<const KernelRows> rows, const FitOptions& options,
                                       Diagnostics& warnings);

}  // namespace orrery
