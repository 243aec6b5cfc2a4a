#include "evaluation/counters/counter_model.h"

#include "base/maths.h"
#include "evaluation/surrogate_fit.h"
#include "hardware/files/catalogue.h"
#include "learning/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr std::string_view factor = " ÷ plain";  // of counts

std::string targetName(const GpuCounterInfo& info, bool raw) {
    return std::string(info.id) + std::string(info.share || raw ? "" : factor);
}

SurrogateRows rowsOf(std::span<const CounterSample> samples, bool raw) {
    SurrogateRows rows;
    for (const std::string& name : codeFeatureNames()) {
        SurrogateInput input;
        input.name = name;
        rows.inputs.push_back(std::move(input));
    }
    for (const GpuCounterInfo& info : gpuCounterInfos()) rows.targets.push_back(targetName(info, raw));
    rows.values.resize(gpuCounters);
    for (const CounterSample& sample : samples) {
        rows.numbers.insert(rows.numbers.end(), sample.code.features.begin(), sample.code.features.end());
        for (std::size_t c = 0; c < gpuCounters; ++c) {
            const bool share = gpuCounterInfos()[c].share;
            rows.values[c].push_back(share || raw ? sample.counted[c] : sample.counted[c] / sample.code.plain[c]);
        }
    }
    takeRanges(rows);
    return rows;
}

// Inputs are those of codeFeatureNames(), targets those of gpuCounterInfos().
bool isOfCounters(const Surrogate& surrogate) {
    if (surrogate.inputs.size() != codeFeatureNames().size() || surrogate.targets.size() != gpuCounters) return false;
    for (std::size_t i = 0; i < surrogate.inputs.size(); ++i)
        if (surrogate.inputs[i].name != codeFeatureNames()[i] || surrogate.inputs[i].words) return false;
    for (std::size_t c = 0; c < gpuCounters; ++c) {
        const std::string& name = surrogate.targets[c].name;
        if (name != targetName(gpuCounterInfos()[c], false) && name != targetName(gpuCounterInfos()[c], true))
            return false;
    }
    return true;
}

CounterAnswers answersOf(const Surrogate& surrogate, const KernelCode& code) {
    CounterAnswers out{};
    for (std::size_t c = 0; c < gpuCounters; ++c) {
        const SurrogateAnswer told = answerOf(surrogate, surrogate.targets[c], code.features);
        const bool share = gpuCounterInfos()[c].share;
        const double scale = surrogate.targets[c].name.ends_with(factor) ? code.plain[c] : 1;
        const auto within = [&](double value) {
            return share ? std::clamp(value, 0.0, 1.0) : std::max(0.0, value) * scale;
        };
        out[c] = {within(told.value), within(told.low), within(told.high)};
    }
    // A slot issues, or waits for one cause: learned apart, the three may ask for more slots than there are.
    constexpr std::array slots{GpuCounter::Issue, GpuCounter::Dependence, GpuCounter::UnitBusy};
    double sum = 0;
    for (const GpuCounter each : slots) sum += out[static_cast<std::size_t>(each)].value;
    for (const GpuCounter each : slots) {
        CounterAnswer& one = out[static_cast<std::size_t>(each)];
        if (sum > 1) one.value /= sum, one.low = std::min(one.low, one.value);
    }
    return out;
}

CounterFigures figuresOf(std::span<const CounterSample* const> samples, std::size_t counter,
                         std::span<const CounterAnswer> said) {
    CounterFigures out;
    std::vector<double> errors;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const double counted = samples[i]->counted[counter], off = said[i].value - counted;
        errors.push_back(std::abs(gpuCounterInfos()[counter].share ? off : off / counted));
        out.mean += errors.back();
        out.coverage += said[i].low <= counted && counted <= said[i].high ? 1 : 0;
    }
    const auto n = static_cast<double>(std::max<std::size_t>(1, samples.size()));
    out.mean /= n, out.coverage /= n;
    if (errors.empty()) return out;
    out.median = quantileType7(errors, 0.5);
    out.ninetieth = quantileType7(errors, 0.9);
    return out;
}

// Ridge on the counters themselves; trees on their factors over what follows without learning.
Expected<Surrogate> fitted(std::span<const CounterSample> samples, std::string_view kind, std::uint64_t seed,
                           const std::stop_token& stop, Executor* executor) {
    SurrogateFitOptions options;
    options.kind = kind, options.judged = 0, options.seed = seed, options.stop = stop, options.executor = executor;
    return fitSurrogate(rowsOf(samples, kind == "ridge"), options);
}

Expected<CounterJudgement> judged(std::string what, std::span<const CounterSample> all,
                                  const std::vector<std::size_t>& training, const std::vector<std::size_t>& test,
                                  std::uint64_t seed, const std::stop_token& stop, Executor* executor) {
    std::vector<CounterSample> seen;
    for (const std::size_t i : training) seen.push_back(all[i]);
    std::vector<const CounterSample*> asked;
    for (const std::size_t i : test) asked.push_back(&all[i]);
    auto model = CounterModel::fit(seen, seed, stop, executor);
    if (!model) return Unexpected(model.error());
    auto ridge = fitted(seen, "ridge", seed, stop, executor);
    if (!ridge) return Unexpected(ridge.error());
    CounterJudgement out;
    out.what = std::move(what);
    out.samples = test.size();
    std::vector<CounterAnswers> learned, simple;
    for (const CounterSample* sample : asked) {
        learned.push_back(model->answer(sample->code));
        simple.push_back(answersOf(*ridge, sample->code));
    }
    for (std::size_t c = 0; c < gpuCounters; ++c) {
        std::vector<CounterAnswer> one, other, plain;
        for (std::size_t i = 0; i < asked.size(); ++i) {
            one.push_back(learned[i][c]), other.push_back(simple[i][c]);
            const double value = asked[i]->code.plain[c];
            plain.push_back({value, value, value});
        }
        out.learned[c] = figuresOf(asked, c, one);
        out.ridge[c] = figuresOf(asked, c, other);
        out.plain[c] = figuresOf(asked, c, plain);
    }
    return out;
}

}  // namespace

Expected<CounterModel> CounterModel::fit(std::span<const CounterSample> samples, std::uint64_t seed,
                                         const std::stop_token& stop, Executor* executor) {
    CounterModel model;
    auto simple = fitted(samples, "ridge", seed, stop, executor);
    if (!simple) return Unexpected(simple.error());
    model.surrogate_ = std::move(*simple);
    // Which is better for a counter a quarter of the samples says, by models of the others.
    const Split split = splitFraction(samples.size(), 0.75, seed + 1);
    if (split.training.size() < fewestSurrogateRows) return model;
    std::vector<CounterSample> seen;
    for (const std::size_t i : split.training) seen.push_back(samples[i]);
    std::vector<const CounterSample*> asked;
    for (const std::size_t i : split.test) asked.push_back(&samples[i]);
    std::array<std::array<double, gpuCounters>, 2> errors{};
    for (const std::size_t which : {0, 1}) {
        const auto one = fitted(seen, which == 0 ? "ridge" : "trees", seed, stop, executor);
        if (!one) return Unexpected(one.error());
        std::vector<CounterAnswers> told;
        for (const CounterSample* sample : asked) told.push_back(answersOf(*one, sample->code));
        for (std::size_t c = 0; c < gpuCounters; ++c) {
            std::vector<CounterAnswer> own;
            for (const CounterAnswers& each : told) own.push_back(each[c]);
            errors[which][c] = figuresOf(asked, c, own).mean;
        }
    }
    auto trees = fitted(samples, "trees", seed, stop, executor);
    if (!trees) return Unexpected(trees.error());
    for (std::size_t c = 0; c < gpuCounters; ++c)
        if (errors[1][c] < errors[0][c]) model.surrogate_.targets[c] = std::move(trees->targets[c]);
    return model;
}

CounterAnswers CounterModel::answer(const KernelCode& code) const {
    return answersOf(surrogate_, code);
}

double CounterModel::widening(const KernelCode& code) const {
    return surrogateWidening(surrogate_, code.features);
}

Expected<CounterModel> CounterModel::load(const std::string& path) {
    const std::string file = path.empty() ? presetsFolder() + "/counters/gpu-interval.json" : path;
    auto surrogate = readSurrogate(file);
    if (!surrogate) return Unexpected(surrogate.error());
    if (!isOfCounters(*surrogate))
        return fail("counters.model", "the file holds no model of a GPU's counters",
                    "one that `orrery-cli gpu --learn-counters` has written", {}, Place{file, 0, 0, {}});
    CounterModel model;
    model.surrogate_ = std::move(*surrogate);
    return model;
}

Expected<std::vector<CounterJudgement>> judgeCounters(std::span<const CounterSample> samples, std::uint64_t seed,
                                                      std::span<const std::string> leftOut, const std::stop_token& stop,
                                                      Executor* executor) {
    std::vector<CounterJudgement> out;
    const Split split = splitFraction(samples.size(), 0.8, seed);
    auto kernels = judged("unseen kernels", samples, split.training, split.test, seed, stop, executor);
    if (!kernels) return Unexpected(kernels.error());
    out.push_back(std::move(*kernels));
    for (const std::string& device : leftOut) {
        std::vector<std::size_t> training, test;
        for (std::size_t i = 0; i < samples.size(); ++i) (samples[i].device == device ? test : training).push_back(i);
        if (test.empty() || training.size() < fewestSurrogateRows) continue;
        auto one = judged(device, samples, training, test, seed, stop, executor);
        if (!one) return Unexpected(one.error());
        out.push_back(std::move(*one));
    }
    return out;
}

std::array<CounterFigures, gpuCounters> counterFigures(const CounterModel& model,
                                                       std::span<const CounterSample> samples) {
    std::vector<const CounterSample*> asked;
    std::vector<CounterAnswers> told;
    for (const CounterSample& each : samples) {
        asked.push_back(&each);
        told.push_back(model.answer(each.code));
    }
    std::array<CounterFigures, gpuCounters> out;
    for (std::size_t c = 0; c < gpuCounters; ++c) {
        std::vector<CounterAnswer> own;
        for (const CounterAnswers& each : told) own.push_back(each[c]);
        out[c] = figuresOf(asked, c, own);
    }
    return out;
}

}  // namespace orrery
