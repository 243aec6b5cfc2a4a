#include "evaluation/calibrate_from.h"

#include "base/maths.h"
#include "evaluation/parameter_search.h"
#include "learning/blend.h"
#include "learning/fit_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace orrery {

namespace {

// A fit of its own costs little for few rows and is worth its time for many; between them a correction does better.
constexpr std::size_t fewForOwnFit = 150, manyForOwnFit = 2000;
constexpr std::size_t fewestForTrees = 100, manyForRidges = 3000;
constexpr double surelyBetter = 1;  // standard errors

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

// Own rows of one family on one device.
struct Family {
    KernelKind kind = KernelKind::Other;
    std::string variant;
    KernelRows rows;
};

std::vector<Family> familiesOf(std::span<const KernelRows> all) {
    std::vector<Family> families;
    for (const KernelRows& device : all) {
        std::map<std::pair<KernelKind, std::string>, Family> byName;
        for (std::size_t i = 0; i < device.kernels.size(); ++i) {
            const Kernel& kernel = device.kernels[i];
            Family& family = byName[{kernel.kind, kernelVariant(kernel)}];
            family.rows.kernels.push_back(kernel);
            family.rows.seconds.push_back(device.seconds[i]);
            if (!device.byHost.empty()) family.rows.byHost.push_back(device.byHost[i]);
        }
        for (auto& [name, family] : byName) {
            family.kind = name.first;
            family.variant = name.second;
            family.rows.gpu = device.gpu;
            family.rows.deviceId = device.deviceId;
            family.rows.source = device.source;
            family.rows.source.rows = std::int64_t(family.rows.kernels.size());
            families.push_back(std::move(family));
        }
    }
    return families;
}

// Seconds of each row; empty where one is not priced.
std::vector<double> pricesOf(const KernelPricer& pricer, const KernelRows& rows) {
    std::vector<double> prices;
    for (std::size_t i = 0; i < rows.kernels.size(); ++i) {
        const bool byHost = !rows.byHost.empty() && rows.byHost[i] != 0;
        const KernelPrice price = byHost ? pricer.priceByHost(rows.kernels[i]) : pricer.price(rows.kernels[i]);
        if (!price.priced || !(price.seconds > 0 && price.seconds < 1e12)) return {};
        prices.push_back(price.seconds);
    }
    return prices;
}

std::vector<double> errorsOf(const std::vector<double>& prices, const std::vector<double>& measured) {
    std::vector<double> errors;
    for (std::size_t i = 0; i < prices.size(); ++i) errors.push_back(std::abs(prices[i] / measured[i] - 1));
    return errors;
}
std::vector<double> errorsOf(const std::vector<double>& residuals) {
    std::vector<double> errors;
    for (const double residual : residuals) errors.push_back(std::abs(std::expm1(-residual)));
    return errors;
}
double meanOf(const std::vector<double>& values) {
    return values.empty() ? -1 : std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

// Whether rows are off less by `now` than by `then`, more surely than by chance.
bool better(const std::vector<double>& now, const std::vector<double>& then) {
    const auto count = double(now.size());
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
        const double gain = then[i] - now[i];
        sum += gain;
        squares += gain * gain;
    }
    const double mean = sum / count, variance = std::max(0.0, squares / count - mean * mean);
    return mean > surelyBetter * std::sqrt(variance / count);
}

// The domain of before and of the own rows as well. What is constant among them and was never seen is of the device:
// there the domain moves to it.
Domain widened(const Domain& known, const std::vector<double>& features) {
    const std::size_t columns = known.mean.size(), count = features.size() / columns;
    const Domain own = fitDomain(features, columns);
    Domain domain = known;
    for (std::size_t c = 0; c < columns; ++c) {
        const bool constant = own.high[c] - own.low[c] <= 1e-9 * std::max(1.0, std::abs(own.mean[c]));
        const bool foreign = own.high[c] < known.low[c] || own.low[c] > known.high[c];
        if (constant && foreign) {
            domain.low[c] = domain.high[c] = domain.mean[c] = own.mean[c];
            domain.margin[c] = own.margin[c];
        } else {
            domain.low[c] = std::min(domain.low[c], own.low[c]);
            domain.high[c] = std::max(domain.high[c], own.high[c]);
        }
    }
    // Own rows are seen, whatever their distance from those of before.
    std::vector<double> distances;
    for (std::size_t r = 0; r < count; ++r) {
        double square = 0;
        const double* row = domain.whitening.data();
        for (std::size_t i = 0; i < columns; row += ++i) {
            double z = 0;
            for (std::size_t j = 0; j <= i; ++j) z += row[j] * (features[r * columns + j] - domain.mean[j]);
            square += z * z;
        }
        distances.push_back(std::sqrt(square));
    }
    std::sort(distances.begin(), distances.end());
    domain.edge = std::max(domain.edge, quantileType7OfSorted(distances, 0.98));
    domain.outside = std::max({domain.outside, 1.15 * quantileType7OfSorted(distances, 0.998), 1.05 * domain.edge});
    return domain;
}

// A domain without borders, for asking what a section says without being held back.
std::shared_ptr<const Domain> everywhere(std::size_t columns) {
    Domain domain;
    domain.low.assign(columns, -1e30), domain.high.assign(columns, 1e30);
    domain.margin.assign(columns, 0), domain.mean.assign(columns, 0);
    domain.whitening.assign(columns * (columns + 1) / 2, 0);
    domain.edge = domain.outside = 1;
    return std::make_shared<const Domain>(std::move(domain));
}

TrainingOptions linearOptions(double ridge, const FitOptions& options) {
    TrainingOptions linear;
    linear.kind = "linear";
    linear.ridge = ridge;
    linear.seed = options.seed;
    linear.stop = options.stop;
    return linear;
}

// From few large leaves to more and smaller ones, as the rows allow.
std::vector<TrainingOptions> treeOptions(std::size_t rows, const FitOptions& options) {
    TrainingOptions trees;
    trees.kind = "compact-trees";
    trees.loss = "huber";
    trees.seed = options.seed;
    trees.stop = options.stop;
    trees.depth = 12;
    trees.subsample = 0.8;
    trees.featureShare = 0.5;
    trees.rate = 0.1;
    std::vector<TrainingOptions> all;
    for (const int leaves : {4, 8, 24}) {
        trees.leaves = leaves;
        trees.steps = leaves < 8 ? 60 : 100;
        trees.minimumLeaf = leaves < 24 ? 8 : 4;
        if (rows >= fewestForTrees && rows >= std::size_t(20 * leaves)) all.push_back(trees);
    }
    return all;
}

// What a correction stands on: the section as it is, or with parameters that moved.
enum class Base : std::uint8_t { AsItIs, Moved };

// What a linear correction may look at where features are physics': how large a kernel is, in time and beside the
// machine, and which part of the time is what. How it meets the tiles is for trees.
bool smooth(std::string_view feature) {
    return feature.find("share") != feature.npos || feature.find(" / ") != feature.npos ||
           feature.find("seconds") != feature.npos || feature == "ln waves";
}

struct Correction {
    std::string what;
    std::map<std::string, double, std::less<>> parameters;
    std::vector<RegressorPtr> parts;
    SectionFit fit;
    std::vector<double> errors;  // of rows left out
};

// Features and baseline of all own rows by such a section; parameters move for the rows in `fitTo`.
using AskSection = std::function<SectionRows(std::span<const std::size_t> fitTo, Base base,
                                             std::map<std::string, double, std::less<>>& parameters)>;

// What turns prices as known so far into what was measured: parameters that move, a linear part, then trees on it.
class Corrector {
public:
    Corrector(const AskSection& ask, std::size_t count, const Family& family, const FitOptions& options)
        : ask_(ask), count_(count), family_(family), options_(options), all_(count) {
        std::iota(all_.begin(), all_.end(), std::size_t(0));
    }

    Expected<std::optional<Correction>> run(bool movable) {
        for (const Base base : {Base::AsItIs, Base::Moved}) {
            if (base != Base::AsItIs && !movable) continue;
            asked_.clear();
            if (auto tried = tryRidges(base); !tried) return tl::unexpected(std::move(tried.error()));
        }
        auto trees = treeOptions(count_, options_);
        if (trees.empty() || !best_ || options_.stop.stop_requested()) return std::move(best_);
        auto fit = fitWith(bestBase_, bestRidge_, std::move(trees));
        if (!fit) return tl::unexpected(std::move(fit.error()));
        auto errors = errorsOf(fit->outOfFold);
        if (!better(errors, best_->errors)) return std::move(best_);
        best_->what += best_->what.empty() ? "trees" : " and trees";
        best_->parts.push_back(fit->section.model);
        best_->fit = std::move(*fit);
        best_->errors = std::move(errors);
        return std::move(best_);
    }

private:
    static constexpr double factorAlone = 1e9;

    Expected<void> tryRidges(Base base) {
        for (const double ridge : {factorAlone, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0}) {
            if (options_.stop.stop_requested() && best_) break;
            if (count_ > manyForRidges && ridge < factorAlone && ridge > 3) continue;
            auto fit = fitWith(base, ridge, {});
            if (!fit) return tl::unexpected(std::move(fit.error()));
            auto errors = errorsOf(fit->outOfFold);
            if (best_ && meanOf(errors) >= meanOf(best_->errors)) continue;
            auto trained = trainOn(asked(all_, base).rows, all_, ridge);
            if (!trained) return tl::unexpected(std::move(trained.error()));
            std::string what = ridge == factorAlone ? "a factor" : "linear";
            if (base != Base::AsItIs) what = "parameters and " + what;
            auto parameters = fit->section.parameters;
            best_ = Correction{
                std::move(what), std::move(parameters), {std::move(*trained)}, std::move(*fit), std::move(errors)};
            bestRidge_ = ridge, bestBase_ = base;
        }
        return {};
    }

    struct Asked {
        SectionRows rows;
        std::map<std::string, double, std::less<>> parameters;
    };
    // The folds are the same for every ridge: what they may know is asked for once.
    const Asked& asked(std::span<const std::size_t> fitTo, Base base) {
        const bool moves = base != Base::AsItIs;
        std::pair key(base, std::vector<std::size_t>(moves ? fitTo.begin() : fitTo.end(), fitTo.end()));
        auto found = asked_.find(key);
        if (found == asked_.end()) {
            Asked one;
            one.rows = ask_(fitTo, base, one.parameters);
            found = asked_.emplace(std::move(key), std::move(one)).first;
        }
        return found->second;
    }

    Expected<RegressorPtr> trainOn(const SectionRows& rows, std::span<const std::size_t> fitTo, double ridge) const {
        TrainingData data;
        data.names = rows.names;
        const std::size_t columns = rows.names.size();
        for (const std::size_t r : fitTo) {
            const auto begin = rows.features.begin() + std::ptrdiff_t(r * columns);
            data.features.insert(data.features.end(), begin, begin + std::ptrdiff_t(columns));
            data.target.push_back(std::log(rows.measured[r] / rows.baseline[r]));
        }
        if (std::any_of(data.names.begin(), data.names.end(), smooth)) {
            for (std::size_t i = 0; i < data.features.size(); ++i) {
                if (!smooth(data.names[i % columns])) data.features[i] = 0;  // constant: no coefficient
            }
        }
        return train(data, nullptr, linearOptions(ridge, options_));
    }

    Expected<SectionFit> fitWith(Base base, double ridge, std::vector<TrainingOptions> trees) {
        const PrepareRows prepare = [&](std::span<const std::size_t> fitTo, auto& parameters) -> Expected<SectionRows> {
            const Asked& known = asked(fitTo, base);
            parameters = known.parameters;
            if (known.rows.baseline.empty())
                return fail("learning.not-finite", "a moved parameter leaves a row without a price");
            auto linear = trainOn(known.rows, fitTo, ridge);
            if (!linear) return tl::unexpected(std::move(linear.error()));
            SectionRows corrected = known.rows;
            const std::size_t columns = corrected.names.size();
            for (std::size_t r = 0; r < count_; ++r) {
                corrected.baseline[r] *=
                    std::exp((*linear)->predict(std::span(known.rows.features).subspan(r * columns, columns)));
            }
            return corrected;
        };
        SectionOptions how;
        how.kind = family_.kind;
        how.variant = family_.variant;
        how.learn = !trees.empty();
        how.folds = count_ < 100 ? 10 : 5;
        if (how.learn) how.candidates = std::move(trees);
        how.candidates.front().seed = options_.seed;  // deals the folds
        return fitSection(count_, prepare, how);
    }

    const AskSection& ask_;
    std::size_t count_;
    const Family& family_;
    const FitOptions& options_;
    std::vector<std::size_t> all_;
    std::map<std::pair<Base, std::vector<std::size_t>>, Asked> asked_;
    std::optional<Correction> best_;
    double bestRidge_ = 0;
    Base bestBase_ = Base::AsItIs;
};

class Starter {
public:
    Starter(const KernelMethod& method, const CalibrationSet& start, const FitOptions& options)
        : method_(method), start_(start), options_(options) {}

    Expected<CalibrationSection> run(Family& family, SectionOutcome& outcome, Diagnostics& warnings) {
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
        if ((*pricer)->instant()) errors = errorsOf(pricesOf(**pricer, rows), rows.seconds);
        outcome.before = outcome.after = meanOf(errors);
        if (rows.kernels.size() < fewestOwnRows) {
            warnings.push_back(tooFew(outcome));
            return *found.section;
        }
        warnIfSeen(*found.section, rows, outcome, warnings);
        CalibrationSection kept = *found.section;
        if (!errors.empty() && kept.model) {
            auto corrected = correct(kept, family);
            if (!corrected) return tl::unexpected(std::move(corrected.error()));
            if (*corrected && better((*corrected)->second.errors, errors)) {
                kept = std::move((*corrected)->first);
                errors = std::move((*corrected)->second.errors);
                outcome.kept = (*corrected)->second.what;
                outcome.after = meanOf(errors);
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
    Expected<CalibrationSection> ownFit(const Family& family, SectionOutcome& outcome) {
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
                    "kernels that the method prices", "choose others with --where");
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
    Expected<std::optional<std::pair<CalibrationSection, Correction>>> correct(const CalibrationSection& from,
                                                                               const Family& family) {
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
            section.domain = std::make_shared<const Domain>(widened(*section.domain, data.features));
            data.baseline = listen(section, rows, data.features);
        }
        const AskSection ask = [&](std::span<const std::size_t> fitTo, Base base, auto& parameters) {
            parameters = section.parameters;
            SectionRows asked = data;
            if (base == Base::AsItIs) return asked;
            CalibrationSection here = section;
            parameters = here.parameters = searchParameters(method_, here, rows, fitTo, options_.stop);
            if (here.domain) here.domain = everywhere(here.features.size());
            asked.baseline = listen(here, rows, asked.features);
            return asked;
        };
        auto correction = Corrector(ask, rows.kernels.size(), family, options_).run(!section.parameters.empty());
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
            section.domain = std::make_shared<const Domain>(widened(*from.domain, features));
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
                                    [](const Family& one) { return one.rows.kernels.size() >= fewestOwnRows; });
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
    for (Family& family : families) {
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
