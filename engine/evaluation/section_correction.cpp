#include "evaluation/section_correction.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace orrery {

namespace {

constexpr std::size_t fewestForTrees = 100, manyForRidges = 3000;

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

// What a linear correction may look at where features are physics': how large a kernel is, in time and beside the
// machine, and which part of the time is what. How it meets the tiles is for trees.
bool smooth(std::string_view feature) {
    return feature.find("share") != feature.npos || feature.find(" / ") != feature.npos ||
           feature.find("seconds") != feature.npos || feature == "ln waves";
}

// What turns prices as known so far into what was measured: parameters that move, a linear part, then trees on it.
class Corrector {
public:
    Corrector(const AskSection& ask, const RowFamily& family, const FitOptions& options)
        : ask_(ask), count_(family.rows.kernels.size()), family_(family), options_(options), all_(count_) {
        std::iota(all_.begin(), all_.end(), std::size_t(0));
    }

    Expected<std::optional<SectionCorrection>> run(bool movable) {
        for (const CorrectionBase base : {CorrectionBase::AsItIs, CorrectionBase::Moved}) {
            if (base != CorrectionBase::AsItIs && !movable) continue;
            asked_.clear();
            if (auto tried = tryRidges(base); !tried) return tl::unexpected(std::move(tried.error()));
        }
        auto trees = treeOptions(count_, options_);
        if (trees.empty() || !best_ || options_.stop.stop_requested()) return std::move(best_);
        auto fit = fitWith(bestBase_, bestRidge_, std::move(trees));
        if (!fit) return tl::unexpected(std::move(fit.error()));
        auto errors = absoluteErrors(fit->outOfFold);
        if (!surelyLess(errors, best_->errors)) return std::move(best_);
        best_->what += best_->what.empty() ? "trees" : " and trees";
        best_->parts.push_back(fit->section.model);
        best_->fit = std::move(*fit);
        best_->errors = std::move(errors);
        return std::move(best_);
    }

private:
    static constexpr double factorAlone = 1e9;

    Expected<void> tryRidges(CorrectionBase base) {
        for (const double ridge : {factorAlone, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0}) {
            if (options_.stop.stop_requested() && best_) break;
            if (count_ > manyForRidges && ridge < factorAlone && ridge > 3) continue;
            auto fit = fitWith(base, ridge, {});
            if (!fit) return tl::unexpected(std::move(fit.error()));
            auto errors = absoluteErrors(fit->outOfFold);
            if (best_ && meanError(errors) >= meanError(best_->errors)) continue;
            auto trained = trainOn(asked(all_, base).rows, all_, ridge);
            if (!trained) return tl::unexpected(std::move(trained.error()));
            std::string what = ridge == factorAlone ? "a factor" : "linear";
            if (base != CorrectionBase::AsItIs) what = "parameters and " + what;
            auto parameters = fit->section.parameters;
            best_ = SectionCorrection{
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
    const Asked& asked(std::span<const std::size_t> fitTo, CorrectionBase base) {
        const bool moves = base != CorrectionBase::AsItIs;
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

    Expected<SectionFit> fitWith(CorrectionBase base, double ridge, std::vector<TrainingOptions> trees) {
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
    const RowFamily& family_;
    const FitOptions& options_;
    std::vector<std::size_t> all_;
    std::map<std::pair<CorrectionBase, std::vector<std::size_t>>, Asked> asked_;
    std::optional<SectionCorrection> best_;
    double bestRidge_ = 0;
    CorrectionBase bestBase_ = CorrectionBase::AsItIs;
};

}  // namespace

Expected<std::optional<SectionCorrection>> correctionOf(const AskSection& ask, const RowFamily& family,
                                                        const FitOptions& options, bool movable) {
    return Corrector(ask, family, options).run(movable);
}

}  // namespace orrery
