#include "evaluation/calibrate.h"

#include "evaluation/row_pricing.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

Method asMethod(const KernelMethod& method) {
    if (const Method* known = findMethod(method.id)) return *known;
    Method unknown{};
    unknown.card.id = method.id;
    unknown.card.version = method.version;
    return unknown;
}

}  // namespace

Expected<CalibrateResult> calibrate(const KernelMethod& method, std::span<const ReferenceTable> tables,
                                    std::span<const RowRef> rows, const CalibrateOptions& options) {
    if (!method.fit) {
        return fail("calibration.nothing-to-fit", fmt::format("{} has nothing to fit", method.id),
                    "a method with free parameters", "`orrery-cli evaluate` shows its error without a fit");
    }
    auto split = splitRows(tables, rows, options.holdout);
    if (!split) return tl::unexpected(std::move(split.error()));
    CalibrateResult result;
    result.trainingRows = split->training.size();
    const auto& platforms = method.card.platforms;
    const bool cpus = std::find(platforms.begin(), platforms.end(), "CPU") != platforms.end();
    auto training = kernelRows(tables, split->training, result.warnings, cpus);
    if (!training) return tl::unexpected(std::move(training.error()));
    FitOptions fit;
    fit.acrossDevices = options.acrossDevices;
    fit.seed = options.seed;
    fit.stop = options.stop;
    fit.onStep = options.onStep;
    fit.split = toText(split->holdout);
    const bool starts = options.start && !options.acrossDevices && options.start->has(method.id);
    if (starts) {
        auto fitted = calibrateFrom(method, *options.start, *training, fit, result.warnings);
        if (!fitted) return tl::unexpected(std::move(fitted.error()));
        result.calibration = std::move(fitted->calibration);
        result.sections = std::move(fitted->sections);
    } else {
        auto calibration = method.fit(*training, fit);
        if (!calibration) return tl::unexpected(std::move(calibration.error()));
        result.calibration = std::move(*calibration);
    }
    result.calibration.date = options.date;
    if (split->test.empty()) return result;
    CalibrationSet set;
    set.add(std::make_shared<const Calibration>(result.calibration));
    EvaluateOptions evaluation;
    if (starts) {
        evaluation.executor = options.executor;
        evaluation.calibrations = options.start;
        evaluation.stop = options.stop;
        if (auto before = evaluate(asMethod(method), tables, split->test, evaluation)) {
            result.before = std::move(*before);
        }
        evaluation.stop = {};
    }
    evaluation.executor = options.executor;
    evaluation.progress = options.progress;
    evaluation.calibrations = &set;
    auto heldOut = evaluate(asMethod(method), tables, split->test, evaluation);
    if (heldOut) {
        result.heldOut = std::move(*heldOut);
    } else {
        // What was fitted is kept, whatever becomes of the test.
        auto why = std::move(heldOut.error());
        why.severity = Severity::Warning;
        result.warnings.push_back(std::move(why));
    }
    return result;
}

}  // namespace orrery
