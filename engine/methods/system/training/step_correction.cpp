#include "methods/system/training/step_correction.h"

#include "learning/training.h"
#include "methods/system/training/step_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace orrery {

namespace {

/// What the ridge reads: taken one by one, each time the feature that lessens the error on publications left out most,
/// of the half of the published steps that is fitted. Boosted trees over all of them, alone or on what the ridge
/// leaves, were better on rows left out and worse on publications left out.
constexpr std::array<std::string_view, 9> ofRidge{
    "bubble",         "divided weights",    "attention of computing", "exposed experts",
    "ln copies",      "scores written out", "experts of computing",   "exposed tensor and context",
    "ln tensor parts"};
constexpr std::array<double, 2> ridges{100, 300};  // weaker ones follow what tells generations apart
constexpr int folds = 10;
constexpr std::uint64_t seed = 1;
constexpr double outer = 0.05;            // of rows on either side of the interval
constexpr std::size_t fewestJudged = 20;  // rows that say how wide an interval is

double targetOf(const StepCorrectionRow& row) {
    return std::log(row.measured / row.closed);
}

double errorOf(double residual) {
    return std::abs(std::expm1(-residual));
}

using RowNumbers = std::vector<std::size_t>;

class Learner {
public:
    Learner(std::span<const StepCorrectionRow> rows, const std::stop_token& stop) : rows_(rows), stop_(stop) {
        for (const std::string_view name : stepFeatureNames())
            linear_.push_back(std::find(ofRidge.begin(), ofRidge.end(), name) != ofRidge.end());
    }

    Expected<RegressorPtr> learn(const RowNumbers& chosen, double ridge) const {
        TrainingData data = dataOf(chosen);
        for (std::size_t i = 0; i < data.features.size(); ++i)
            if (!linear_[i % linear_.size()]) data.features[i] = 0;  // constant: no coefficient
        TrainingOptions options;
        options.kind = "linear";
        options.ridge = ridge;
        options.loss = "absolute";
        options.stop = stop_;
        return train(data, nullptr, options);
    }

    /// ln(measured ÷ predicted) by what was fitted within `domain`.
    double residual(const Regressor& model, const Domain& domain, std::size_t row) const {
        return targetOf(rows_[row]) - model.predict(withinDomain(domain, rows_[row].features));
    }

    TrainingData dataOf(const RowNumbers& chosen) const {
        TrainingData data;
        for (const std::string_view name : stepFeatureNames()) data.names.emplace_back(name);
        std::map<std::string_view, double> count;
        for (const std::size_t r : chosen) ++count[rows_[r].publication];
        double sum = 0;
        for (const std::size_t r : chosen) {
            data.features.insert(data.features.end(), rows_[r].features.begin(), rows_[r].features.end());
            data.target.push_back(targetOf(rows_[r]));
            // Between one vote for every row and one for every publication.
            sum += data.weight.emplace_back(1 / std::sqrt(count[rows_[r].publication]));
        }
        for (double& weight : data.weight) weight *= static_cast<double>(chosen.size()) / sum;
        return data;
    }

private:
    std::span<const StepCorrectionRow> rows_;
    std::stop_token stop_;
    std::vector<bool> linear_;
};

std::vector<Split> withoutPublications(std::span<const StepCorrectionRow> rows) {
    std::map<std::string_view, std::int32_t> numbers;
    std::vector<std::int32_t> publication;
    for (const StepCorrectionRow& row : rows)
        publication.push_back(
            numbers.try_emplace(row.publication, static_cast<std::int32_t>(numbers.size())).first->second);
    std::vector<Split> all;
    for (const auto& [name, number] : numbers) all.push_back(splitGroup(publication, number));
    return all;
}

/// Of rows that the model had not seen, and where they lay as the seen ones have it.
struct Unseen {
    std::vector<double> residual;
    std::vector<DomainVerdict> verdict;
};

Expected<Unseen> leftOut(const Learner& learner, const std::vector<Split>& splits, std::size_t rows, double ridge) {
    Unseen unseen{std::vector<double>(rows), std::vector<DomainVerdict>(rows)};
    for (const Split& split : splits) {
        const auto model = learner.learn(split.training, ridge);
        if (!model) return Unexpected(model.error());
        const TrainingData seen = learner.dataOf(split.training), asked = learner.dataOf(split.test);
        const Domain domain = fitDomain(seen.features, seen.columns());
        for (std::size_t i = 0; i < split.test.size(); ++i) {
            const std::span row(asked.features.data() + i * asked.columns(), asked.columns());
            unseen.residual[split.test[i]] = learner.residual(**model, domain, split.test[i]);
            unseen.verdict[split.test[i]] = domain.check(row);
        }
    }
    return unseen;
}

double meanError(const std::vector<double>& residuals) {
    double sum = 0;
    for (const double r : residuals) sum += errorOf(r);
    return sum / static_cast<double>(residuals.size());
}

// The mean over rows and the mean over publications, evenly.
double scoreOf(std::span<const StepCorrectionRow> rows, const std::vector<double>& residuals) {
    std::map<std::string_view, std::vector<double>> by;
    for (std::size_t r = 0; r < rows.size(); ++r) by[rows[r].publication].push_back(residuals[r]);
    double sum = 0;
    for (const auto& [name, its] : by) sum += meanError(its);
    return (meanError(residuals) + sum / static_cast<double>(by.size())) / 2;
}

/// The number that another one of them is below with this chance: of n the (n + 1)·share-th.
double conformal(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    const double rank = share < 0.5 ? std::floor(share * static_cast<double>(values.size() + 1))
                                    : std::ceil(share * static_cast<double>(values.size() + 1));
    const auto at = std::clamp(rank, 1.0, static_cast<double>(values.size())) - 1;
    return values[static_cast<std::size_t>(at)];
}

/// How many half intervals about their middle hold nine of ten residuals.
double widening(const std::vector<double>& residuals, const ResidualClass& inside) {
    std::vector<double> halves;
    for (const double r : residuals) {
        const double half = r < inside.p50 ? inside.p50 - inside.p5 : inside.p95 - inside.p50;
        halves.push_back(std::abs(r - inside.p50) / std::max(half, 1e-9));
    }
    return halves.size() < fewestJudged ? 1 : std::max(1.0, conformal(std::move(halves), 1 - 2 * outer));
}

void setInterval(CalibrationSection& section, const Unseen& rows, const Unseen& publications) {
    std::vector<double> inside, edge, outside;
    for (std::size_t r = 0; r < rows.residual.size(); ++r) {
        inside.push_back(rows.residual[r]);
        for (const Unseen* each : {&rows, &publications}) {
            if (each->verdict[r] == DomainVerdict::Edge) edge.push_back(each->residual[r]);
            if (each->verdict[r] == DomainVerdict::Outside) outside.push_back(each->residual[r]);
        }
    }
    ResidualClass one;
    one.upperSeconds = std::numeric_limits<double>::infinity();
    one.p5 = conformal(inside, outer);
    one.p50 = conformal(inside, 0.5);
    one.p95 = conformal(inside, 1 - outer);
    for (const double r : inside) one.meanAbsolute += std::abs(r) / static_cast<double>(inside.size());
    one.rows = static_cast<std::int64_t>(inside.size());
    section.residuals = {one};
    section.widenEdge = widening(edge, one);
    section.widenOutside = std::max(section.widenEdge, widening(outside, one));
}

Expected<void> check(std::span<const StepCorrectionRow> rows) {
    std::set<std::string_view> publications;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const StepCorrectionRow& row = rows[i];
        publications.insert(row.publication);
        if (row.features.size() != stepFeatureNames().size())
            return fail("learning.shape", fmt::format("row {} has {} features", i + 1, row.features.size()),
                        fmt::format("{} of them", stepFeatureNames().size()));
        for (const double seconds : {row.closed, row.measured})
            if (!(seconds > 0 && seconds < 1e12))
                return fail("learning.seconds", fmt::format("row {} has a time of {} s", i + 1, seconds),
                            "above 0 and finite");
    }
    if (publications.size() < 3 || rows.size() < fewestJudged)
        return fail("learning.no-rows",
                    fmt::format("{} steps of {} publications are too few", rows.size(), publications.size()),
                    fmt::format("{} steps of three publications at least", fewestJudged),
                    "Each publication is held out in turn, to measure the error on unseen publications");
    return {};
}

}  // namespace

Expected<StepCorrection> fitStepCorrection(std::span<const StepCorrectionRow> rows, const std::stop_token& stop) {
    if (auto good = check(rows); !good) return Unexpected(std::move(good.error()));
    const Learner learner(rows, stop);
    StepCorrection made;
    const auto splits = withoutPublications(rows);
    double best = std::numeric_limits<double>::infinity();
    Unseen publications;
    for (const double ridge : ridges) {
        auto unseen = leftOut(learner, splits, rows.size(), ridge);
        if (!unseen) return Unexpected(std::move(unseen.error()));
        const double score = scoreOf(rows, unseen->residual);
        if (score >= best) continue;
        best = score;
        made.ridge = ridge;
        publications = std::move(*unseen);
    }
    const auto unseen = leftOut(learner, splitFolds(rows.size(), folds, seed), rows.size(), made.ridge);
    if (!unseen) return Unexpected(unseen.error());
    RowNumbers all(rows.size());
    for (std::size_t r = 0; r < all.size(); ++r) all[r] = r;
    auto model = learner.learn(all, made.ridge);
    if (!model) return Unexpected(std::move(model.error()));

    CalibrationSection& section = made.section;
    section.kind = KernelKind::Other;
    section.variant = stepCorrectionVariant;
    section.features = learner.dataOf(all).names;
    section.domain = std::make_shared<const Domain>(fitDomain(learner.dataOf(all).features, stepFeatureNames().size()));
    section.model = *model;
    section.parameters["ridge"] = made.ridge;
    setInterval(section, *unseen, publications);
    std::vector<double> before, after;
    for (const std::size_t r : all) {
        before.push_back(targetOf(rows[r]));
        after.push_back(learner.residual(**model, *section.domain, r));
    }
    made.before = meanError(before);
    made.fitted = meanError(after);
    made.rowsOut = meanError(unseen->residual);
    made.publicationsOut = meanError(publications.residual);
    return made;
}

std::vector<double> withinDomain(const Domain& domain, std::span<const double> features) {
    std::vector<double> inside(features.begin(), features.end());
    for (std::size_t i = 0; i < inside.size() && i < domain.low.size(); ++i)
        inside[i] = std::clamp(inside[i], domain.low[i], domain.high[i]);
    return inside;
}

SectionPrice priceStep(const CalibrationSection& section, double closed, std::span<const double> features) {
    const std::vector<double> inside = withinDomain(*section.domain, features);
    const DomainVerdict verdict = section.domain->check(features);
    const double seconds = closed * std::exp(section.model->predict(inside));
    SectionPrice price{seconds, seconds, seconds, verdict};
    if (section.residuals.empty()) return price;
    const ResidualClass& one = section.residuals.front();
    const double wider = verdict == DomainVerdict::Inside ? 1
                         : verdict == DomainVerdict::Edge ? section.widenEdge
                                                          : section.widenOutside;
    price.low = seconds * std::exp(std::min(0.0, one.p50 + wider * (one.p5 - one.p50)));
    price.high = seconds * std::exp(std::max(0.0, one.p50 + wider * (one.p95 - one.p50)));
    return price;
}

const CalibrationSection* findStepCorrection(const CalibrationSet& calibrations) {
    const CalibrationSection* found = nullptr;
    for (const auto& calibration : calibrations.all()) {
        if (calibration->method != "learned-step") continue;
        for (const CalibrationSection& section : calibration->sections)
            if (section.kind == KernelKind::Other && section.variant == stepCorrectionVariant && section.model &&
                section.domain)
                found = &section;
    }
    return found;
}

}  // namespace orrery
