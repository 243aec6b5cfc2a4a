#include "learning/fit_section.h"

#include "base/maths.h"
#include "learning/composition.h"
#include "learning/spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <thread>

namespace orrery {

namespace {

constexpr std::size_t fewestPerClass = 40;
constexpr std::size_t fewestWidened = 200;

Expected<void> check(const SectionRows& rows) {
    const std::size_t count = rows.rows();
    if (count == 0) return fail("learning.no-rows", "no rows to fit", "at least one measured row");
    const auto fits = [&](std::size_t size) { return size == 0 || size == count; };
    if (rows.baseline.size() != count || rows.features.size() != count * rows.names.size() ||
        rows.unmeasured.size() % std::max<std::size_t>(1, rows.names.size()) != 0 || !fits(rows.weight.size()) ||
        (!rows.lattice.empty() && (pointsOf(rows.lattice) != rows.latticeBaseline.size() ||
                                   rows.unmeasured.size() != rows.latticeBaseline.size() * rows.names.size())) ||
        !fits(rows.doubt.size()) || !fits(rows.group.size()) || !fits(rows.companions.size())) {
        return fail("learning.shape", "columns of the rows differ in length");
    }
    for (std::size_t i = 0; i < count; ++i) {
        for (const double seconds : {rows.baseline[i], rows.measured[i]}) {
            if (!(seconds > 0 && seconds < 1e12)) {
                return fail("learning.seconds", fmt::format("row {} has a time of {} s", i + 1, seconds),
                            "above 0 and finite");
            }
        }
    }
    return {};
}

TrainingData dataOf(const SectionRows& rows, std::span<const std::size_t> chosen) {
    TrainingData data;
    data.names = rows.names;
    const std::size_t columns = rows.names.size();
    for (const std::size_t r : chosen) {
        const auto begin = rows.features.begin() + std::ptrdiff_t(r * columns);
        data.features.insert(data.features.end(), begin, begin + std::ptrdiff_t(columns));
        data.target.push_back(std::log(rows.measured[r] / rows.baseline[r]));
        if (!rows.weight.empty()) data.weight.push_back(rows.weight[r]);
        // Trees do not split by what is constant.
        for (const std::size_t c : rows.domainOnly) data.features[data.features.size() - columns + c] = 0;
    }
    return data;
}

// What a model says at the points of the rows' lattice, as a table of prices that do not fall.
RegressorPtr onLattice(const Regressor& model, const SectionRows& rows) {
    const std::size_t columns = rows.names.size();
    std::vector<double> values;
    std::vector<double> point(columns);
    for (std::size_t i = 0; i < rows.latticeBaseline.size(); ++i) {
        std::copy_n(rows.unmeasured.begin() + std::ptrdiff_t(i * columns), columns, point.begin());
        for (const std::size_t c : rows.domainOnly) point[c] = 0;
        values.push_back(model.predict(point));
    }
    // Where physics itself falls, since more of a smaller operand fits a cache, prices may as well.
    std::vector<double> rising;
    for (const double seconds : rows.latticeBaseline) rising.push_back(std::log(seconds));
    raise(rows.lattice, rising);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += rising[i];
    makeMonotone(rows.lattice, rows.latticeSlack, values);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= rising[i];
    return std::make_shared<const Lattice>(columns, rows.lattice, values);
}

// The model that a section keeps: the trained one, its lattice, or the pupil that it has taught.
Expected<RegressorPtr> learn(const SectionRows& rows, std::span<const std::size_t> chosen, const TrainingData* watched,
                             const TrainingOptions& options, const std::optional<TrainingOptions>& pupil) {
    TrainingData data = dataOf(rows, chosen);
    auto teacher = train(data, watched, options);
    if (teacher && !rows.lattice.empty()) return onLattice(**teacher, rows);
    if (!teacher || !pupil) return teacher;
    const std::size_t columns = rows.names.size(), more = rows.unmeasured.size() / std::max<std::size_t>(1, columns);
    data.features.insert(data.features.end(), rows.unmeasured.begin(), rows.unmeasured.end());
    for (std::size_t r = chosen.size(); r < chosen.size() + more; ++r) {
        for (const std::size_t c : rows.domainOnly) data.features[r * columns + c] = 0;
    }
    if (!data.weight.empty()) {
        const double mean = std::accumulate(data.weight.begin(), data.weight.end(), 0.0) / double(data.weight.size());
        data.weight.insert(data.weight.end(), more, mean);
    }
    data.target.resize(chosen.size() + more);
    for (std::size_t r = 0; r < data.target.size(); ++r) {
        data.target[r] = (*teacher)->predict(std::span<const double>(data.features.data() + r * columns, columns));
    }
    TrainingOptions teach = *pupil;
    teach.seed = options.seed;
    return train(data, nullptr, teach);
}

std::vector<Split> foldsOf(const std::vector<std::int32_t>& group, std::size_t count, int folds, std::uint64_t seed) {
    std::vector<std::int32_t> groups = group;
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    if (groups.size() < 2) return splitFolds(count, std::max(2, folds), seed);
    std::vector<Split> all;
    for (const std::int32_t one : groups) all.push_back(splitGroup(group, one));
    return all;
}

double meanError(std::span<const double> residuals) {
    double sum = 0;
    for (const double r : residuals) sum += std::abs(std::expm1(-r));  // |predicted ÷ measured − 1|
    return residuals.empty() ? 0 : sum / double(residuals.size());
}

// Quantiles by class of predicted time, about as many rows in each.
std::vector<ResidualClass> classesOf(const std::vector<double>& residuals, const std::vector<double>& predicted,
                                     int classes) {
    const std::size_t count = residuals.size();
    const std::size_t parts = std::clamp<std::size_t>(count / fewestPerClass, 1, std::size_t(std::max(1, classes)));
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return predicted[a] < predicted[b]; });
    std::vector<ResidualClass> all;
    for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t begin = count * part / parts, end = count * (part + 1) / parts;
        std::vector<double> sorted;
        ResidualClass one;
        for (std::size_t i = begin; i < end; ++i) {
            sorted.push_back(residuals[order[i]]);
            one.meanAbsolute += std::abs(residuals[order[i]]) / double(end - begin);
        }
        std::sort(sorted.begin(), sorted.end());
        // With n rows the quantiles of the next one lie a little further out.
        const double room = std::min(0.04, 0.5 / double(sorted.size()));
        one.p5 = quantileType7OfSorted(sorted, 0.05 - room);
        one.p50 = quantileType7OfSorted(sorted, 0.5);
        one.p95 = quantileType7OfSorted(sorted, 0.95 + room);
        one.rows = std::int64_t(end - begin);
        one.upperSeconds = part + 1 < parts ? std::sqrt(predicted[order[end - 1]] * predicted[order[end]])
                                            : std::numeric_limits<double>::infinity();
        if (!all.empty() && one.upperSeconds <= all.back().upperSeconds) continue;  // many rows of one time
        all.push_back(one);
    }
    return all;
}

// Rows of like duration, where nobody says which rows belong together.
std::vector<std::int32_t> likeDuration(const std::vector<double>& seconds) {
    std::vector<std::int32_t> cluster;
    for (const double s : seconds) cluster.push_back(std::int32_t(std::floor(std::log2(s) * 2)) + 1000);
    return cluster;
}

struct FoldResult {
    std::vector<double> residuals;  // of its test rows
    std::vector<double> predicted;
};

class Fitter {
public:
    Fitter(std::size_t rows, const PrepareRows& prepare, const SectionOptions& options)
        : count_(rows), prepare_(prepare), options_(options) {}

    Expected<SectionFit> run() {
        if (options_.candidates.empty()) return fail("learning.option", "no options to train with");
        std::vector<std::size_t> all(count_);
        std::iota(all.begin(), all.end(), std::size_t(0));
        auto parameters = options_.parameters;
        auto rows = prepare_(all, parameters);
        if (!rows) return tl::unexpected(rows.error());
        if (rows->rows() != count_) return fail("learning.shape", "rows were lost between the folds");
        if (auto good = check(*rows); !good) return tl::unexpected(good.error());
        learn_ = options_.learn && !rows->names.empty();

        SectionFit fit;
        const auto folds = foldsOf(rows->group, count_, options_.folds, options_.candidates.front().seed);
        auto unseen = foldRows(folds);
        if (!unseen) return tl::unexpected(unseen.error());
        fit.outOfFoldError = std::numeric_limits<double>::infinity();
        std::vector<double> predicted(count_, 0);
        for (std::size_t c = 0; c < (learn_ ? options_.candidates.size() : 1); ++c) {
            auto results = crossValidate(folds, *unseen, options_.candidates[c]);
            if (!results) return tl::unexpected(results.error());
            std::vector<double> residuals(count_, 0), times(count_, 0);
            for (std::size_t f = 0; f < folds.size(); ++f) {
                for (std::size_t i = 0; i < folds[f].test.size(); ++i) {
                    residuals[folds[f].test[i]] = (*results)[f].residuals[i];
                    times[folds[f].test[i]] = (*results)[f].predicted[i];
                }
            }
            if (const double error = meanError(residuals); error < fit.outOfFoldError) {
                fit.outOfFoldError = error;
                fit.outOfFold = std::move(residuals);
                predicted = std::move(times);
                fit.candidate = int(c);
            }
        }
        if (fit.outOfFold.empty()) return fail("learning.not-finite", "no finite prediction came out of the folds");

        CalibrationSection& section = fit.section;
        section.kind = options_.kind;
        section.variant = options_.variant;
        section.device = options_.device;
        section.parameters = std::move(parameters);
        section.sources = options_.sources;
        section.split = options_.split;
        section.features = rows->names;
        section.residuals = classesOf(fit.outOfFold, predicted, options_.classes);
        section.correlation =
            intraclassCorrelation(fit.outOfFold, rows->companions.empty() ? likeDuration(predicted) : rows->companions);
        if (!rows->names.empty()) {
            section.domain = std::make_shared<const Domain>(fitDomain(rows->features, rows->names.size()));
        }
        if (learn_) {
            TrainingOptions training = options_.candidates[std::size_t(fit.candidate)];
            auto model = learn(*rows, all, nullptr, training, options_.pupil);
            if (!model) return tl::unexpected(model.error());
            section.model = *model;
        }
        if (options_.spread && !rows->names.empty() && !rows->group.empty()) {
            if (auto done = learnSpread(*rows, *unseen, folds, fit); !done) return tl::unexpected(done.error());
        }
        std::vector<double> residuals(count_);
        for (std::size_t r = 0; r < count_; ++r) residuals[r] = residualOf(section.model.get(), *rows, r);
        fit.trainingError = meanError(residuals);
        return fit;
    }

private:
    static double residualOf(const Regressor* model, const SectionRows& rows, std::size_t r) {
        const std::span row(rows.features.data() + r * rows.names.size(), rows.names.size());
        return std::log(rows.measured[r] / rows.baseline[r]) - (model ? model->predict(row) : 0);
    }

    // Scales instead of classes, and how much wider they must be at the edge of a domain and outside: by the rows of
    // each fold that lie there as the others' domain has it.
    Expected<void> learnSpread(const SectionRows& rows, const std::vector<SectionRows>& unseen,
                               const std::vector<Split>& folds, SectionFit& fit) {
        std::vector<std::size_t> all(count_);
        std::iota(all.begin(), all.end(), std::size_t(0));
        // Each row as physics had it that did not know its group.
        SectionRows asUnseen = rows;
        const std::size_t columns = rows.names.size();
        for (std::size_t f = 0; f < folds.size(); ++f) {
            for (const std::size_t r : folds[f].test) {
                std::copy_n(unseen[f].features.begin() + std::ptrdiff_t(r * columns), columns,
                            asUnseen.features.begin() + std::ptrdiff_t(r * columns));
                if (!rows.doubt.empty()) asUnseen.doubt[r] = unseen[f].doubt[r];
            }
        }
        auto spread =
            fitSpread(dataOf(asUnseen, all), fit.outOfFold, asUnseen.doubt, rows.group, options_.candidates.front());
        if (!spread) return tl::unexpected(spread.error());
        if (!spread->model) return {};
        CalibrationSection& section = fit.section;
        section.spread = spread->model;
        ResidualClass one;
        one.upperSeconds = std::numeric_limits<double>::infinity();
        one.p5 = spread->p5, one.p50 = spread->p50, one.p95 = spread->p95;
        one.rows = std::int64_t(count_);
        for (const double r : fit.outOfFold) one.meanAbsolute += std::abs(r) / double(count_);
        section.residuals = {one};

        std::array<std::vector<double>, 3> distances;  // in half intervals, by verdict
        for (std::size_t f = 0; f < folds.size(); ++f) {
            std::vector<double> seen;
            for (const std::size_t r : folds[f].training) {
                const auto begin = asUnseen.features.begin() + std::ptrdiff_t(r * columns);
                seen.insert(seen.end(), begin, begin + std::ptrdiff_t(columns));
            }
            const Domain domain = fitDomain(seen, columns);
            for (const std::size_t r : folds[f].test) {
                const std::span row(asUnseen.features.data() + r * columns, columns);
                const double u =
                    fit.outOfFold[r] / spreadScale(*section.spread, row, rows.doubt.empty() ? 0 : asUnseen.doubt[r]);
                const double half = u < one.p50 ? one.p5 - one.p50 : one.p95 - one.p50;
                distances[std::size_t(domain.check(row))].push_back(half != 0 ? (u - one.p50) / half : 0);
            }
        }
        const auto needed = [&](DomainVerdict verdict, double unknown) {
            auto& values = distances[std::size_t(verdict)];
            if (values.size() < fewestWidened) return unknown;
            std::sort(values.begin(), values.end());
            return std::clamp(quantileType7OfSorted(values, 0.9), 1.0, outsideWidening);
        };
        section.widenEdge = needed(DomainVerdict::Edge, edgeWidening);
        section.widenOutside = std::max(section.widenEdge, needed(DomainVerdict::Outside, outsideWidening));
        return {};
    }

    // What each fold may know: physics fitted to its training rows alone.
    Expected<std::vector<SectionRows>> foldRows(const std::vector<Split>& folds) {
        std::vector<SectionRows> all;
        for (const Split& fold : folds) {
            auto parameters = options_.parameters;
            auto rows = prepare_(fold.training, parameters);
            if (!rows) return tl::unexpected(rows.error());
            if (rows->rows() != count_) return fail("learning.shape", "rows were lost between the folds");
            if (auto good = check(*rows); !good) return tl::unexpected(good.error());
            all.push_back(std::move(*rows));
        }
        return all;
    }

    Expected<std::vector<FoldResult>> crossValidate(const std::vector<Split>& folds,
                                                    const std::vector<SectionRows>& rows,
                                                    const TrainingOptions& options) {
        std::vector<FoldResult> results(folds.size());
        std::vector<Diagnostic> problems;
        std::mutex mutex;
        std::atomic<std::size_t> next{0};
        const auto work = [&] {
            for (std::size_t f; (f = next++) < folds.size();) {
                RegressorPtr model;
                if (learn_ && !folds[f].training.empty()) {
                    TrainingOptions here = options;
                    here.keepBest = false;  // its test rows are watched, never chosen by
                    if (f > 0) here.onStep = nullptr;
                    const TrainingData watched = dataOf(rows[f], folds[f].test);
                    auto trained =
                        learn(rows[f], folds[f].training, here.onStep ? &watched : nullptr, here, options_.pupil);
                    if (!trained) {
                        const std::lock_guard lock(mutex);
                        problems.push_back(trained.error());
                        return;
                    }
                    model = *trained;
                }
                for (const std::size_t r : folds[f].test) {
                    const double residual = residualOf(model.get(), rows[f], r);
                    results[f].residuals.push_back(residual);
                    results[f].predicted.push_back(rows[f].measured[r] * std::exp(-residual));
                }
            }
        };
        {
            const std::size_t most = std::max(1u, std::thread::hardware_concurrency());
            std::vector<std::jthread> threads;
            for (std::size_t t = 1; learn_ && t < std::min(most, folds.size()); ++t) threads.emplace_back(work);
            work();
        }
        if (!problems.empty()) return tl::unexpected(problems.front());
        return results;
    }

    std::size_t count_;
    const PrepareRows& prepare_;
    const SectionOptions& options_;
    bool learn_ = true;
};

}  // namespace

Expected<SectionFit> fitSection(std::size_t rows, const PrepareRows& prepare, const SectionOptions& options) {
    if (rows == 0) return fail("learning.no-rows", "no rows to fit", "at least one measured row");
    return Fitter(rows, prepare, options).run();
}

Expected<SectionFit> fitSection(const SectionRows& rows, const SectionOptions& options) {
    return fitSection(
        rows.rows(), [&](auto, auto&) -> Expected<SectionRows> { return rows; }, options);
}

}  // namespace orrery
