#include "evaluation/calibrate_from.h"

#include "evaluation/parameter_search.h"
#include "evaluation/section_correction.h"
#include "learning/blend.h"
#include "learning/domain_widening.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

namespace orrery {

namespace {

// A fit of its own costs little for few rows and is worth its time for many; between them a correction does better.
constexpr std::size_t fewForOwnFit = 150, manyForOwnFit = 2000;

// Hands on what a section's model is asked, so that a fit sees the very features that prices will be made of.
class Listener final : public Regressor {
public:
    Listener(RegressorPtr model, std::vector<double>& heard) : model_(std::move(model)), heard_(heard) {}
    std::string_view kind() const override { return model_->kind(); }
    std::size_t inputs() const override { return model_->inputs(); }
    double predict(std::span<const double> features) const override {
        heard_.insert(heard_.end(), features.begin(), features.end());
        return model_->predict(features);
    }
    std::string toJson() const override { return model_->toJson(); }

private:
    RegressorPtr model_;
    std::vector<double>& heard_;
};

class Starter {
public:
    Starter(const KernelMethod& method, const CalibrationSet& start, const FitOptions& options)
        : method_(method), start_(start), options_(options) {}

    Expected<CalibrationSection> run(RowFamily& family, SectionOutcome& outcome, Diagnostics& warnings) {
        const KernelRows& rows = family.rows;
        outcome = {
            rows.deviceId, std::string(toText(family.kind)), family.variant, rows.kernels.size(), {}, {}, -1, -1};
        const auto found = start_.find(method_.id, family.kind, family.variant, rows.gpu);
        if (!found.section) return ownFit(family, outcome);
        outcome.start = found.section->device ? found.section->device->id : "any device";
        outcome.kept = "as it was";
        auto pricer = method_.bind(rows.gpu, start_);
        if (!pricer) return tl::unexpected(std::move(pricer.error()));
        std::vector<double> errors;
        if ((*pricer)->instant()) errors = absoluteErrors(pricesOf(**pricer, rows), rows.seconds);
        outcome.before = outcome.after = meanError(errors);
        if (rows.kernels.size() < fewestOwnRows) {
            warnings.push_back(tooFew(outcome));
            return *found.section;
        }
        warnIfSeen(*found.section, rows, outcome, warnings);
        CalibrationSection kept = *found.section;
        if (!errors.empty() && kept.model) {
            auto corrected = correct(kept, family);
            if (!corrected) return tl::unexpected(std::move(corrected.error()));
            if (*corrected && surelyLess((*corrected)->second.errors, errors)) {
                kept = std::move((*corrected)->first);
                errors = std::move((*corrected)->second.errors);
                outcome.kept = (*corrected)->second.what;
                outcome.after = meanError(errors);
            }
        }
        const bool worthIt = rows.kernels.size() <= fewForOwnFit || rows.kernels.size() >= manyForOwnFit;
        if (kept.model && !errors.empty() && !worthIt) return kept;
        SectionOutcome own = outcome;
        auto fitted = ownFit(family, own);
        if (!fitted) return tl::unexpected(std::move(fitted.error()));
        // Its error is a mean of few: it must be less by what that may be off.
        const double surely = 1 - surelyBetter / std::sqrt(double(rows.kernels.size()));
        if (own.after >= 0 && outcome.after >= 0 && own.after >= surely * outcome.after) return kept;
        outcome.kept = own.kept, outcome.after = own.after;
        return fitted;
    }

    static Diagnostic tooFew(const SectionOutcome& family) {
        return warning("calibration.few-rows",
                       fmt::format("{} rows of {} {} on {} are too few to fit: it keeps the calibration of {}",
                                   family.rows, family.kind, family.variant, family.device, family.start),
                       fmt::format("measure at least {} kernels of different sizes", fewestOwnRows));
    }

private:
    // The method's own fit to these rows alone.
    Expected<CalibrationSection> ownFit(const RowFamily& family, SectionOutcome& outcome) {
        auto fitted = method_.fit(std::span(&family.rows, 1), options_);
        if (!fitted) return tl::unexpected(std::move(fitted.error()));
        for (CalibrationSection& section : fitted->sections) {
            if (section.kind != family.kind || section.variant != family.variant) continue;
            double sum = 0, count = 0;
            for (const ResidualClass& one : section.residuals) {
                sum += one.meanAbsolute * double(one.rows);
                count += double(one.rows);
            }
            outcome.kept = "own fit";
            outcome.after = count > 0 ? sum / count : -1;
            return std::move(section);
        }
        return fail("learning.no-rows",
                    fmt::format("{} has nothing to fit in {} {}", method_.id, outcome.kind, outcome.variant),
                    "kernels that the method predicts", "choose others with --where");
    }

    void warnIfSeen(const CalibrationSection& section, const KernelRows& rows, const SectionOutcome& outcome,
                    Diagnostics& warnings) const {
        const bool here =
            section.device && distance(*section.device, fingerprint(rows.gpu, rows.kernels.front().type)) <= 0.01;
        const bool any =
            !section.device && std::any_of(section.devices.begin(), section.devices.end(), [&](const auto& device) {
                return distance(device, fingerprint(rows.gpu, rows.kernels.front().type)) <= 0.01;
            });
        if (!here && !any) return;
        const bool same = std::any_of(section.sources.begin(), section.sources.end(),
                                      [&](const auto& source) { return source.name == rows.source.name; });
        if (!same) return;
        warnings.push_back(warning(
            "calibration.seen-before",
            fmt::format("the calibration of {} that {} {} starts from was fitted to rows of the same table: its error "
                        "before is flattering",
                        outcome.start, outcome.kind, outcome.variant),
            "`--from none` fits without it; `--from FILE` starts from another"));
    }

    // The section for this device, and what its own rows add to it; nothing where its features cannot be had.
    Expected<std::optional<std::pair<CalibrationSection, SectionCorrection>>> correct(const CalibrationSection& from,
                                                                                      const RowFamily& family) {
        const KernelRows& rows = family.rows;
        CalibrationSection section = from;
        section.device = fingerprint(rows.gpu, rows.kernels.front().type);
        section.device->id = rows.deviceId;
        section.devices.clear();
        SectionRows data;
        data.names = section.features;
        data.measured = rows.seconds;
        data.baseline = listen(section, rows, data.features);
        if (data.baseline.empty() || data.features.size() != data.measured.size() * data.names.size())
            return std::nullopt;
        if (section.domain) {
            // Outside its domain a price may hold the correction back: asked again with own rows inside.
            section.domain = std::make_shared<const Domain>(widenDomain(*section.domain, data.features));
            data.baseline = listen(section, rows, data.features);
        }
        const AskSection ask = [&](std::span<const std::size_t> fitTo, CorrectionBase base, auto& parameters) {
            parameters = section.parameters;
            SectionRows asked = data;
            if (base == CorrectionBase::AsItIs) return asked;
            CalibrationSection here = section;
            parameters = here.parameters = searchParameters(method_, here, rows, fitTo, options_.stop);
            if (here.domain) here.domain = std::make_shared<const Domain>(unboundedDomain(here.features.size()));
            asked.baseline = listen(here, rows, asked.features);
            return asked;
        };
        auto correction = correctionOf(ask, family, options_, !section.parameters.empty());
        if (!correction) return tl::unexpected(std::move(correction.error()));
        if (!*correction) return std::nullopt;
        std::vector<RegressorPtr> parts{from.model};
        if (const auto* sum = dynamic_cast<const Sum*>(from.model.get())) parts = sum->parts();
        const auto& more = (*correction)->parts;
        parts.insert(parts.end(), more.begin(), more.end());
        if (parts.size() > mostParts) return std::nullopt;
        section.parameters = (*correction)->parameters;
        if (section.domain) {
            const CalibrationSection final = section;
            std::vector<double> features;
            listen(final, rows, features);
            section.domain = std::make_shared<const Domain>(widenDomain(*from.domain, features));
        }
        section.model = std::make_shared<const Sum>(std::move(parts));
        const CalibrationSection& fitted = (*correction)->fit.section;
        section.residuals = fitted.residuals;
        section.correlation = std::max(section.correlation, fitted.correlation);
        section.spread = nullptr;
        section.widenEdge = section.widenOutside = 0;
        section.sources.push_back(rows.source);
        section.split = options_.split;
        return std::pair(std::move(section), std::move(**correction));
    }

    // Prices of the rows by this section alone, and what its model was asked for each.
    std::vector<double> listen(const CalibrationSection& section, const KernelRows& rows,
                               std::vector<double>& features) const {
        features.clear();
        Calibration calibration;
        calibration.method = method_.id;
        calibration.methodVersion = method_.version;
        calibration.sections.push_back(section);
        calibration.sections.back().model = std::make_shared<const Listener>(section.model, features);
        CalibrationSet set;
        set.add(std::make_shared<const Calibration>(std::move(calibration)));
        const auto pricer = method_.bind(rows.gpu, set);
        return pricer ? pricesOf(**pricer, rows) : std::vector<double>{};
    }

    const KernelMethod& method_;
    const CalibrationSet& start_;
    const FitOptions& options_;
};

}  // namespace

Expected<CalibratedFrom> calibrateFrom(const KernelMethod& method, const CalibrationSet& start,
                                       std::span<const KernelRows> rows, const FitOptions& options,
                                       Diagnostics& warnings) {
    auto families = familiesOf(rows);
    const bool enough = std::any_of(families.begin(), families.end(),
                                    [](const RowFamily& one) { return one.rows.kernels.size() >= fewestOwnRows; });
    if (!enough) {
        return fail("calibration.few-rows", "no family of kernels has enough rows to fit",
                    fmt::format("at least {} rows of a device, kind and variant", fewestOwnRows),
                    "measure more kernels, of different sizes; until then what is shipped answers best");
    }
    CalibratedFrom result;
    result.calibration.method = method.id;
    result.calibration.methodVersion = method.version;
    Starter starter(method, start, options);
    std::optional<Diagnostic> refusal;
    for (RowFamily& family : families) {
        if (options.stop.stop_requested() && !result.calibration.sections.empty()) break;
        SectionOutcome outcome;
        auto section = starter.run(family, outcome, warnings);
        if (!section) {
            if (!refusal) refusal = std::move(section.error());
            continue;
        }
        result.calibration.sections.push_back(std::move(*section));
        result.sections.push_back(std::move(outcome));
    }
    if (!result.calibration.sections.empty()) return result;
    return tl::unexpected(std::move(*refusal));
}

}  // namespace orrery
