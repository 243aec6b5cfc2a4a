#pragma once

// Fits a kernel method to references and says how it does on the rows that it was not given. A fit starts from what is
// known: of each family of kernels the section that would speak for this device, corrected by what its own rows show,
// and kept as it was where they show nothing.

#include "evaluation/calibrate_from.h"
#include "evaluation/holdout.h"
#include "methods/kernel_method.h"

#include <optional>

namespace orrery {

struct CalibrateOptions {
    Holdout holdout;
    bool acrossDevices = false;  ///< one section for any device
    /// What fits start from; null, or across devices: from the method's nominal numbers.
    const CalibrationSet* start = nullptr;
    std::uint64_t seed = 1;
    Executor* executor = nullptr;  ///< required
    std::stop_token stop;          ///< stops at the best fit so far
    Progress* progress = nullptr;  ///< of the evaluation of the held-out rows
    std::function<void(const TrainingPoint&, std::string_view family)> onStep;
    std::string date;  ///< ISO 8601 day that the file shall say
};

struct CalibrateResult {
    Calibration calibration;
    std::size_t trainingRows = 0;
    std::vector<SectionOutcome> sections;  ///< what became of each family; empty where nothing was started from
    std::optional<Evaluation> before;      ///< held-out rows as `start` prices them; none without one
    std::optional<Evaluation> heldOut;     ///< none without held-out rows
    Diagnostics warnings;
};

/// Fits `method` to the training side of the split of `rows`, and evaluates the test side with that calibration alone.
/// Fails with `calibration.nothing-to-fit` for a method without fit, with `calibration.few-rows` where no family has
/// enough rows to correct what it starts from, and with what reading, splitting and fitting say.
Expected<CalibrateResult> calibrate(const KernelMethod& method, std::span<const ReferenceTable> tables,
                                    std::span<const RowRef> rows, const CalibrateOptions& options);

}  // namespace orrery
