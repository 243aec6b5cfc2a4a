#include "evaluation/surrogate_fit.h"

#include "base/hash.h"
#include "base/maths.h"
#include "evaluation/error_metrics.h"
#include "learning/matern_process.h"
#include "learning/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace orrery {

namespace {

constexpr std::size_t manyRows = 200;
constexpr std::array<std::string_view, 4> kinds{"ridge", "trees", "process", "trees + process"};

// What is learned of one target, from some of the rows.
struct Learned {
    std::vector<RegressorPtr> models;
    const MaternProcess* process = nullptr;
};

// A scale on which errors are shares of the value.
struct TargetScale {
    bool logarithmic = false;
    double offset = 0;
    double of(double value) const { return logarithmic ? std::log(value - offset) : value; }
    double back(double learned) const {
        return offset + (logarithmic ? std::exp(std::clamp(learned, -700.0, 700.0)) : learned);
    }
};

struct Problem {
    TrainingData data;  ///< features of all rows; the target is unscaled
    std::uint64_t seed = 1;
    std::stop_token stop;
    std::optional<ProcessShape> shape;  ///< of a process of all rows, which those of folds take over
};

TrainingData partOf(const Problem& problem, const TargetScale& scale, std::span<const std::size_t> which) {
    TrainingData out{problem.data.names, {}, {}, {}};
    const auto columns = static_cast<std::ptrdiff_t>(problem.data.columns());
    for (const std::size_t r : which) {
        const auto from = problem.data.features.begin() + static_cast<std::ptrdiff_t>(r) * columns;
        out.features.insert(out.features.end(), from, from + columns);
        out.target.push_back(scale.of(problem.data.target[r]));
    }
    return out;
}

ProcessOptions processOptions(const Problem& problem) {
    return {.restarts = 1, .fitRows = 500, .seed = problem.seed, .stop = problem.stop};
}

Expected<Learned> learn(std::string_view kind, const TrainingData& data, const Problem& problem) {
    Learned learned;
    TrainingOptions options;
    options.seed = problem.seed;
    options.stop = problem.stop;
    if (kind == "ridge") {
        options.kind = "linear";
        options.loss = "squared";
        auto model = train(data, nullptr, options);
        if (!model) return Unexpected(model.error());
        learned.models.push_back(std::move(*model));
    }
    if (kind.starts_with("trees")) {
        options.kind = "compact-trees";
        options.loss = "squared";
        options.depth = 5;
        options.steps = 500;
        options.rate = 0.05;
        options.subsample = 0.8;
        options.featureShare = 0.6;
        options.minimumLeaf = 4;
        auto model = train(data, nullptr, options);
        if (!model) return Unexpected(model.error());
        learned.models.push_back(std::move(*model));
    }
    if (kind.ends_with("process")) {
        const ProcessRows rows{std::vector<bool>(data.columns(), false), data.features, data.target};
        auto process = problem.shape ? MaternProcess::conditioned(rows, *problem.shape)
                                     : MaternProcess::fit(rows, processOptions(problem));
        if (!process) return Unexpected(process.error());
        auto kept = std::make_shared<MaternProcess>(std::move(*process));
        learned.process = kept.get();
        learned.models.push_back(std::move(kept));
    }
    return learned;
}

double meanOf(const Learned& learned, std::span<const double> features) {
    double sum = 0;
    for (const RegressorPtr& model : learned.models) sum += model->predict(features);
    return sum / static_cast<double>(learned.models.size());
}

// Predictions of rows by models that have not seen them.
struct OutOfFold {
    std::vector<double> mean, deviation;  ///< deviation: empty without a process
    double error = std::numeric_limits<double>::infinity();
};

Expected<OutOfFold> leaveOut(std::string_view kind, const TargetScale& scale, const Problem& problem,
                             const std::vector<Split>& folds, Executor* executor) {
    OutOfFold out;
    out.mean.resize(problem.data.rows());
    const bool deviates = kind.ends_with("process");
    if (deviates) out.deviation.resize(problem.data.rows());
    std::vector<std::optional<Diagnostic>> errors(folds.size());
    const auto one = [&](std::size_t f) {
        const auto learned = learn(kind, partOf(problem, scale, folds[f].training), problem);
        if (!learned) {
            errors[f] = learned.error();
            return;
        }
        for (const std::size_t r : folds[f].test) {
            const auto features =
                std::span(problem.data.features).subspan(r * problem.data.columns(), problem.data.columns());
            out.mean[r] = meanOf(*learned, features);
            if (deviates)
                out.deviation[r] = std::hypot(learned->process->at(features).deviation, learned->process->noise());
        }
    };
    if (executor) {
        executor->forEach(folds.size(), one);
    } else {
        for (std::size_t f = 0; f < folds.size(); ++f) one(f);
    }
    for (auto& error : errors)
        if (error) return Unexpected(std::move(*error));
    // The mean of ln of the ratio, or of the difference, which no single row can spoil.
    out.error = 0;
    for (std::size_t r = 0; r < problem.data.rows(); ++r) {
        const double value = problem.data.target[r], back = scale.back(out.mean[r]);
        out.error += scale.logarithmic && back > 0 ? std::abs(std::log(back / value)) : std::abs(back - value);
    }
    out.error /= static_cast<double>(problem.data.rows());
    return out;
}

// The least r that nine of ten rows keep, and one more that is not there yet (Vovk, Gammerman, Shafer 2005).
double conformal(std::vector<double> scores) {
    std::sort(scores.begin(), scores.end());
    const auto rank = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(scores.size() + 1)));
    return scores[std::min(rank, scores.size()) - 1];
}

// A constant below all values, beside which the rest is easier to learn: of a sum of which one part never changes.
Expected<TargetScale> scaleOf(const Problem& problem, const std::vector<Split>& folds) {
    const auto [least, most] = std::minmax_element(problem.data.target.begin(), problem.data.target.end());
    TargetScale best{*least > 0, 0};
    if (!best.logarithmic || *least == *most || problem.data.rows() < 100) return best;
    double error = std::numeric_limits<double>::infinity();
    for (const double share : {0.0, 0.5, 0.75, 0.9}) {
        const TargetScale scale{true, share * *least};
        const auto out = leaveOut("ridge", scale, problem, folds, nullptr);
        if (!out) return Unexpected(out.error());
        if (out->error < 0.95 * error) {
            error = out->error;
            best = scale;
        }
    }
    return best;
}

Expected<SurrogateTarget> fitTarget(Problem problem, const SurrogateFitOptions& options) {
    const int count = std::min<int>(options.folds, static_cast<int>(problem.data.rows()) / 2);
    const auto folds = splitFolds(problem.data.rows(), count, options.seed);
    const auto scale = scaleOf(problem, folds);
    if (!scale) return Unexpected(scale.error());
    SurrogateTarget target;
    target.logarithmic = scale->logarithmic;
    target.offset = scale->offset;
    std::vector<std::size_t> all(problem.data.rows());
    std::iota(all.begin(), all.end(), std::size_t{0});
    // A few dozen lengths from hundreds of rows: one fold more or less would hardly move them. From a few dozen rows
    // they would know of the rows that are left out, whose errors would then look too small.
    if (problem.data.rows() >= manyRows && (options.kind.empty() || options.kind.ends_with("process"))) {
        const TrainingData data = partOf(problem, *scale, all);
        const ProcessRows rows{std::vector<bool>(data.columns(), false), data.features, data.target};
        if (const auto process = MaternProcess::fit(rows, processOptions(problem))) problem.shape = process->shape();
    }
    if (options.progress && (options.kind.empty() || options.kind.ends_with("process"))) options.progress->advance(1);
    OutOfFold best;
    for (const std::string_view kind : kinds) {
        if (!options.kind.empty() && kind != options.kind) continue;
        auto out = leaveOut(kind, *scale, problem, folds, options.executor);
        if (options.stop.stop_requested()) return fail("surrogate.cancelled", "stopped");
        if (!out) {
            if (!options.kind.empty()) return Unexpected(out.error());
            continue;
        }
        if (options.progress) options.progress->advance(1);
        if (out->error < best.error) {
            best = std::move(*out);
            target.kind = kind;
        }
    }
    if (target.kind.empty()) return fail("surrogate.rows", "no kind of model can be fitted", "other rows");
    std::vector<double> plain, scaled;
    for (std::size_t r = 0; r < problem.data.rows(); ++r) {
        plain.push_back(std::abs(best.mean[r] - scale->of(problem.data.target[r])));
        if (!best.deviation.empty()) scaled.push_back(plain.back() / std::max(best.deviation[r], 1e-300));
    }
    target.reach = conformal(plain);
    if (!scaled.empty()) {
        // What makes intervals shorter in the mean.
        const double reach = conformal(scaled);
        double mean = 0;
        for (const double each : best.deviation) mean += reach * each / static_cast<double>(best.deviation.size());
        target.byDeviation = mean < target.reach;
        if (target.byDeviation) target.reach = reach;
    }
    auto learned = learn(target.kind, partOf(problem, *scale, all), problem);
    if (!learned) return Unexpected(learned.error());
    target.models = std::move(learned->models);
    const auto [least, most] = std::minmax_element(problem.data.target.begin(), problem.data.target.end());
    target.least = *least;
    target.most = *most;
    return target;
}

// Another target that this one is but for a constant, and that constant; of two alike the smaller is learned.
std::optional<std::pair<std::size_t, double>> sameAs(const SurrogateRows& rows, std::size_t target) {
    for (std::size_t other = 0; other < rows.targets.size(); ++other) {
        const auto &a = rows.values[target], &b = rows.values[other];
        const double apart = a.front() - b.front();
        if (other == target || apart < 0 || (apart == 0 && other > target)) continue;
        const double size = *std::max_element(a.begin(), a.end());
        bool same = true;
        for (std::size_t r = 0; r < a.size() && same; ++r)
            same = std::abs(a[r] - b[r] - apart) <= 1e-7 * std::abs(size);
        if (same) return std::pair(other, apart);
    }
    return std::nullopt;
}

Expected<Surrogate> fitAll(const SurrogateRows& rows, const SurrogateFitOptions& options) {
    Surrogate surrogate;
    surrogate.inputs = rows.inputs;
    Problem problem;
    problem.data.names = surrogateFeatureNames(rows.inputs);
    problem.seed = options.seed;
    problem.stop = options.stop;
    if (problem.data.names.empty()) {
        return fail("surrogate.rows", "no input ever changes", "rows that differ in an input");
    }
    for (std::size_t r = 0; r < rows.rows(); ++r)
        appendSurrogateFeatures(rows.inputs, rows.row(r), problem.data.features);
    surrogate.targets.resize(rows.targets.size());
    std::vector<bool> done(rows.targets.size(), false);
    for (std::size_t t = 0; t < rows.targets.size(); ++t) {
        if (sameAs(rows, t)) continue;
        problem.data.target = rows.values[t];
        auto target = fitTarget(problem, options);
        if (!target) return Unexpected(target.error());
        surrogate.targets[t] = std::move(*target);
        done[t] = true;
    }
    for (std::size_t t = 0; t < rows.targets.size(); ++t) {
        if (done[t]) continue;
        auto [from, apart] = *sameAs(rows, t);
        while (!done[from]) {
            const auto next = *sameAs(rows, from);
            from = next.first;
            apart += next.second;
        }
        SurrogateTarget target = surrogate.targets[from];
        target.offset += apart;
        target.least += apart;
        target.most += apart;
        surrogate.targets[t] = std::move(target);
    }
    for (std::size_t t = 0; t < rows.targets.size(); ++t) surrogate.targets[t].name = rows.targets[t];
    return surrogate;
}

std::string hashOf(const SurrogateRows& rows) {
    Hash hash;
    for (const SurrogateInput& input : rows.inputs) hash.add(input.name);
    for (const double number : rows.numbers) hash.add(number);
    for (std::size_t t = 0; t < rows.targets.size(); ++t) {
        hash.add(rows.targets[t]);
        for (const double value : rows.values[t]) hash.add(value);
    }
    return hash.hex();
}

}  // namespace

std::span<const std::string_view> surrogateKinds() {
    return kinds;
}

void takeRanges(SurrogateRows& rows) {
    for (std::size_t c = 0; c < rows.inputs.size(); ++c) {
        SurrogateInput& input = rows.inputs[c];
        if (input.words) continue;
        input.low = std::numeric_limits<double>::infinity();
        input.high = -input.low;
        for (std::size_t r = 0; r < rows.rows(); ++r) {
            input.low = std::min(input.low, rows.row(r)[c]);
            input.high = std::max(input.high, rows.row(r)[c]);
        }
        input.logarithmic = input.low > 0 && input.high >= 8 * input.low;
    }
}

SurrogateRows rowsOf(const SurrogateRows& rows, std::span<const std::size_t> which) {
    SurrogateRows out{rows.inputs, {}, rows.targets, std::vector<std::vector<double>>(rows.targets.size())};
    for (const std::size_t r : which) {
        const auto row = rows.row(r);
        out.numbers.insert(out.numbers.end(), row.begin(), row.end());
        for (std::size_t t = 0; t < rows.targets.size(); ++t) out.values[t].push_back(rows.values[t][r]);
    }
    return out;
}

Expected<Surrogate> fitSurrogate(const SurrogateRows& rows, const SurrogateFitOptions& options) {
    if (rows.rows() < fewestSurrogateRows || rows.targets.empty()) {
        return fail("surrogate.rows", fmt::format("{} rows, {} targets", rows.rows(), rows.targets.size()),
                    fmt::format("at least {} rows with a target", fewestSurrogateRows));
    }
    if (!options.kind.empty() && std::find(kinds.begin(), kinds.end(), options.kind) == kinds.end()) {
        return fail("surrogate.option", fmt::format("there is no kind `{}`", options.kind),
                    "ridge, trees, process or trees + process");
    }
    if (!(options.judged >= 0 && options.judged <= 0.5) || options.folds < 2 || options.folds > 100) {
        return fail("surrogate.option", fmt::format("{} of the rows judged, {} folds", options.judged, options.folds),
                    "0 to 0.5 of the rows, 2 to 100 folds");
    }
    std::vector<SurrogateJudgement> stated;
    std::string kind = options.kind;
    if (const Split split = splitFraction(rows.rows(), 1 - options.judged, options.seed);
        options.judged > 0 && !split.test.empty() && split.training.size() >= fewestSurrogateRows) {
        SurrogateRows seen = rowsOf(rows, split.training);
        takeRanges(seen);
        const auto first = fitAll(seen, options);
        if (!first) return Unexpected(first.error());
        stated = judge(*first, rowsOf(rows, split.test));
    }
    SurrogateRows all = rows;
    takeRanges(all);
    auto surrogate = fitAll(all, options);
    if (!surrogate) return Unexpected(surrogate.error());
    for (std::size_t t = 0; t < stated.size(); ++t) surrogate->targets[t].stated = stated[t].stated;
    surrogate->rows = rows.rows();
    surrogate->seed = options.seed;
    surrogate->rowsHash = hashOf(rows);
    return surrogate;
}

std::vector<SurrogateJudgement> judge(const Surrogate& surrogate, const SurrogateRows& rows) {
    std::vector<SurrogateJudgement> out;
    for (const SurrogateTarget& target : surrogate.targets) {
        const auto at = std::find(rows.targets.begin(), rows.targets.end(), target.name);
        if (at == rows.targets.end() || rows.rows() == 0) continue;
        const auto& values = rows.values[static_cast<std::size_t>(at - rows.targets.begin())];
        SurrogateJudgement one{target.name, {}, 0};
        std::vector<double> predicted, errors, widths;
        for (std::size_t r = 0; r < rows.rows(); ++r) {
            const SurrogateAnswer answer = answerOf(surrogate, target, rows.row(r));
            predicted.push_back(answer.value);
            errors.push_back(std::abs(answer.value - values[r]) / std::max(std::abs(values[r]), 1e-300));
            widths.push_back((answer.high - answer.low) / std::max(std::abs(answer.value), 1e-300));
            one.stated.coverage += answer.low <= values[r] && values[r] <= answer.high ? 1 : 0;
            one.stated.mape += errors.back();
        }
        const auto count = static_cast<double>(rows.rows());
        one.stated.rows = rows.rows();
        one.stated.coverage /= count;
        one.stated.mape /= count;
        one.stated.median = quantileType7(errors, 0.5);
        one.stated.spearman = spearmanRho(predicted, values);
        one.width = quantileType7(widths, 0.5);
        out.push_back(std::move(one));
    }
    return out;
}

}  // namespace orrery
