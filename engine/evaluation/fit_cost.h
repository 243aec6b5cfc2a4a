#pragma once

// What fitting a method takes: rates that `orrery-cli methods --measure-fit` measured, stated here as those of an
// answer are on cards (methods/cost_model.h). Calibration files say nothing of it: a time in them would differ each
// time that one is made again.

#include "evaluation/evaluation.h"
#include "methods/kernel_method.h"

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Of one section (a device, a kind, a variant): `fixed` + `perRow` × rows, in seconds of one core.
struct FitRate {
    double fixed = 0, perRow = 0;
    double seconds(double rows) const { return fixed + perRow * rows; }
};
/// Nothing where it was never measured.
std::optional<FitRate> statedFitRate(std::string_view method);

/// What it took, by the stated rates, to fit the sections that stand behind an answer about these rows: those of the
/// method and of the methods in its slots, as `asked` fills them, of the kinds that are asked about. 0 where nothing is
/// fitted, nothing where a rate is missing.
std::optional<Seconds> fittingTime(const MethodCard& card, std::string_view asked,
                                   std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                                   const CalibrationSet& calibrations);

struct FitSample {
    std::string family;  ///< `h100-sxm gemm bf16`
    std::int64_t rows = 0;
    double seconds = 0;  ///< CPU time
};
struct MeasuredFit {
    std::vector<FitSample> samples;
    FitRate fitted;  ///< least squares of ln(measured ÷ stated)
};
/// Rates for samples, at least one.
FitRate fitRateOf(std::span<const FitSample> samples);

/// Fits the method to a part, then twice as many, of each family of these rows (those with at least 16), each alone on
/// the calling thread, from its nominal numbers. Fails with `calibration.nothing-to-fit`, `calibration.few-rows`,
/// `study.cancelled`, as kernelRows() does, and with what the fit says.
Expected<MeasuredFit> measureFit(const KernelMethod& method, std::span<const ReferenceTable> tables,
                                 std::span<const RowRef> rows, std::stop_token stop = {});

}  // namespace orrery
