#include "learning/schedules/schedule_model.h"

#include "base/maths.h"
#include "learning/schedules/schedule_features.h"
#include "learning/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace orrery {

namespace {

constexpr std::size_t mostDevices = 128, mostTasks = 64;
constexpr int folds = 5, timeTrees = 900;
static_assert(TunedTimes::steps == (folds + 1) * timeTrees);

// How many rows of other devices stand beside a device's own where its errors are told.
constexpr double pooledRows = 10;

double perFlop(const TunedRow& row) {
    return std::log(row.seconds / row.work.flops());
}

// The least value with the share p of the weight at or below it.
double weightedQuantile(std::span<const double> values, std::span<const double> weights, double p) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    const double whole = std::accumulate(weights.begin(), weights.end(), 0.0);
    double sum = 0;
    for (const std::size_t i : order)
        if ((sum += weights[i]) >= p * whole) return values[i];
    return values[order.back()];
}

std::string keyOf(const TunedRow& row) {
    return row.device + '\n' + row.task;
}

std::size_t placeOf(const std::vector<std::string>& all, std::string_view one) {
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), one) - all.begin());
}

TrainingOptions boosted(const ScheduleTraining& training) {
    TrainingOptions options;
    options.kind = "trees";
    options.steps = timeTrees;
    options.rate = 0.06;
    options.depth = 7;
    options.leaves = 32;
    options.minimumLeaf = 2;
    options.loss = "squared";
    options.featureShare = 0.6;
    options.seed = training.seed;
    options.threads = training.threads;
    options.stop = training.stop;
    if (training.progress)
        options.onStep = [progress = training.progress](const TrainingPoint&) { progress->advance(); };
    return options;
}

// Which fold an operator is in: the same on every device, so that no device tells of it what is asked of another.
int foldOf(const TunedRow& row, std::uint64_t seed) {
    std::uint64_t hash = 1469598103934665603u ^ seed;  // FNV-1a
    for (const std::string* text : {&row.task, &row.workload})
        for (const char c : *text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return static_cast<int>((hash >> 17) % folds);
}

}  // namespace

std::vector<std::vector<std::size_t>> operatorsOf(std::span<const TunedRow> rows) {
    std::map<std::string, std::size_t> place;
    std::vector<std::vector<std::size_t>> operators;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto [found, isNew] = place.try_emplace(keyOf(rows[i]) + '\n' + rows[i].workload, operators.size());
        if (isNew) operators.emplace_back();
        operators[found->second].push_back(i);
    }
    return operators;
}

double TunedTimes::level(const TunedRow& row) const {
    const auto exact = levels_.find(keyOf(row));
    if (exact != levels_.end()) return exact->second;
    const auto device = shifts_.find(row.device);
    return (device == shifts_.end() ? 0 : device->second) + templateShift(row.task);
}

double TunedTimes::templateShift(const std::string& task) const {
    const auto found = templates_.find(task);
    return found == templates_.end() ? 0 : found->second;
}

double TunedTimes::asOn(const TunedRow& row, std::size_t device) const {
    const auto exact = levels_.find(devices_[device] + '\n' + row.task);
    const auto shift = shifts_.find(devices_[device]);
    const bool knows = exact != levels_.end() && shift != shifts_.end();
    return (knows ? exact->second - shift->second : templateShift(row.task)) + shape(row, device);
}

double TunedTimes::shape(const TunedRow& row, std::size_t device) const {
    std::array<double, workFeatures + 1 + mostTasks + mostDevices> features{};
    workFeaturesOf(row, features);
    const std::size_t task = placeOf(tasks_, row.task);
    std::size_t at = workFeatures;
    if (task < tasks_.size()) features[at + task] = 1;
    at += tasks_.size();
    if (device < devices_.size()) features[at + device] = 1;
    return model_->predict(std::span(features).first(at + devices_.size()));
}

Expected<TunedTimes> TunedTimes::fit(std::span<const TunedRow> given, const ScheduleTraining& options) {
    std::vector<const TunedRow*> rows;
    for (const TunedRow& row : given)
        if (row.seconds > 0) rows.push_back(&row);
    if (rows.size() < 20) {
        return fail("schedules.few", fmt::format("{} schedules with a time are too few to learn from", rows.size()),
                    "20 or more");
    }
    TunedTimes model;
    for (const TunedRow* row : rows) {
        if (placeOf(model.devices_, row->device) == model.devices_.size() && model.devices_.size() < mostDevices)
            model.devices_.push_back(row->device);
        if (placeOf(model.tasks_, row->task) == model.tasks_.size() && model.tasks_.size() < mostTasks)
            model.tasks_.push_back(row->task);
    }
    std::sort(model.devices_.begin(), model.devices_.end());
    std::sort(model.tasks_.begin(), model.tasks_.end());
    TrainingData empty;
    empty.names = workFeatureNames();
    for (const std::string& task : model.tasks_) empty.names.push_back("task " + task);
    for (const std::string& device : model.devices_) empty.names.push_back("device " + device);

    // Without one fold, or of all: levels, then what is over them.
    const auto learn = [&](TunedTimes& into, int without) -> Expected<void> {
        std::map<std::string, std::vector<double>> exact, device;
        into.levels_.clear(), into.shifts_.clear();
        for (const TunedRow* row : rows) {
            if (foldOf(*row, options.seed) == without) continue;
            exact[keyOf(*row)].push_back(perFlop(*row));
            device[row->device].push_back(perFlop(*row));
        }
        for (auto& [key, values] : exact) into.levels_[key] = quantileType7(values, 0.5);
        for (auto& [key, values] : device) into.shifts_[key] = quantileType7(values, 0.5);
        std::map<std::string, std::vector<double>> over;
        for (const auto& [key, value] : into.levels_) {
            const auto line = key.find('\n');
            over[key.substr(line + 1)].push_back(value - into.shifts_[key.substr(0, line)]);
        }
        into.templates_.clear();
        for (auto& [task, values] : over) into.templates_[task] = quantileType7(values, 0.5);
        TrainingData data = empty;
        std::vector<double> features(workFeatures + into.tasks_.size() + into.devices_.size());
        for (const TunedRow* row : rows) {
            if (foldOf(*row, options.seed) == without) continue;
            std::fill(features.begin(), features.end(), 0.0);
            workFeaturesOf(*row, features);
            const std::size_t task = placeOf(into.tasks_, row->task), at = placeOf(into.devices_, row->device);
            if (task < into.tasks_.size()) features[workFeatures + task] = 1;
            if (at < into.devices_.size()) features[workFeatures + into.tasks_.size() + at] = 1;
            data.features.insert(data.features.end(), features.begin(), features.end());
            data.target.push_back(perFlop(*row) - into.level(*row));
        }
        auto trained = train(data, nullptr, boosted(options));
        if (!trained) return Unexpected(trained.error());
        if (options.stop.stop_requested()) return fail("study.cancelled", "the fit was stopped");
        into.model_ = std::move(*trained);
        return {};
    };
    std::map<std::string, std::vector<double>> left;
    for (int fold = 0; fold < folds; ++fold) {
        const bool some = std::any_of(rows.begin(), rows.end(),
                                      [&](const TunedRow* row) { return foldOf(*row, options.seed) == fold; });
        const bool others = std::any_of(rows.begin(), rows.end(),
                                        [&](const TunedRow* row) { return foldOf(*row, options.seed) != fold; });
        if (!some || !others) continue;
        TunedTimes without = model;
        if (auto learned = learn(without, fold); !learned) return Unexpected(learned.error());
        for (const TunedRow* row : rows) {
            if (foldOf(*row, options.seed) != fold || !without.shifts_.contains(row->device)) continue;
            const std::size_t device = placeOf(without.devices_, row->device);
            left[row->device].push_back(perFlop(*row) - without.level(*row) - without.shape(*row, device));
        }
    }
    if (auto learned = learn(model, -1); !learned) return Unexpected(learned.error());
    model.learnSpreads(left);
    return model;
}

// A device's own rows, and as many of all devices' as make up for few.
void TunedTimes::learnSpreads(const std::map<std::string, std::vector<double>>& left) {
    std::vector<double> pool;
    for (const auto& [device, own] : left) pool.insert(pool.end(), own.begin(), own.end());
    if (pool.empty()) return;
    const auto spreadOf = [](std::span<const double> values, std::span<const double> weights) {
        Spread spread{weightedQuantile(values, weights, 0.05), 0, weightedQuantile(values, weights, 0.95)};
        // A row that was ten times faster than all like it would move the answer of all others.
        const double floor = weightedQuantile(values, weights, 0.1);
        std::vector<double> kept(values.begin(), values.end());
        for (double& each : kept) each = std::max(each, floor);
        spread.middle = leastRelativeShift(kept, weights);
        spread.low = std::min(spread.low, spread.middle), spread.high = std::max(spread.high, spread.middle);
        return spread;
    };
    all_ = spreadOf(pool, std::vector<double>(pool.size(), 1));
    for (const auto& [device, own] : left) {
        std::vector<double> values = pool, weights(pool.size(), pooledRows / static_cast<double>(pool.size()));
        values.insert(values.end(), own.begin(), own.end());
        weights.resize(values.size(), 1);
        spreads_[device] = spreadOf(values, weights);
    }
}

Expected<TunedTime> TunedTimes::time(const TunedRow& row) const {
    double said = 0, low = 0, high = 0;
    if (const auto mix = mixes_.find(row.device); mix != mixes_.end()) {
        said = mix->second.beside.at(row);
        for (std::size_t d = 0; d < devices_.size(); ++d)
            if (mix->second.weights[d] > 0) said += mix->second.weights[d] * asOn(row, d);
        low = mix->second.low, high = mix->second.high;
    } else if (shifts_.contains(row.device)) {
        const auto found = spreads_.find(row.device);
        const Spread& spread = found == spreads_.end() ? all_ : found->second;
        said = level(row) + shape(row, placeOf(devices_, row.device)) + spread.middle;
        low = spread.low - spread.middle, high = spread.high - spread.middle;
    } else {
        return fail("schedules.device", fmt::format("nothing was learned of `{}`", row.device),
                    "a device of the log, or a few measured schedules of this one");
    }
    const double seconds = std::exp(said) * row.work.flops();
    return TunedTime{seconds, seconds * std::exp(low), seconds * std::exp(high)};
}

Expected<TunedTimes> TunedTimes::adapted(std::span<const TunedRow> anchors) const {
    std::vector<const TunedRow*> rows;
    for (const TunedRow& row : anchors)
        if (row.seconds > 0) rows.push_back(&row);
    if (rows.size() < 3) {
        return fail("schedules.few", fmt::format("{} schedules say too little of a new device", rows.size()),
                    "3 or more with a time");
    }
    const std::string& device = rows.front()->device;
    Mix mix;
    mix.weights.resize(devices_.size());
    std::vector<std::vector<double>> shapes(devices_.size());
    for (std::size_t d = 0; d < devices_.size(); ++d) {
        double mean = 0, square = 0;
        for (const TunedRow* row : rows) {
            shapes[d].push_back(asOn(*row, d));
            const double off = perFlop(*row) - shapes[d].back();
            mean += off, square += off * off;
        }
        const auto n = static_cast<double>(rows.size());
        const double variance = std::max(0.0, square / n - mean * mean / (n * n));
        mix.weights[d] = 1 / (variance * variance + 1e-6);
    }
    const double sum = std::accumulate(mix.weights.begin(), mix.weights.end(), 0.0);
    for (double& weight : mix.weights) weight /= sum;
    std::vector<double> off(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        off[i] = perFlop(*rows[i]);
        for (std::size_t d = 0; d < devices_.size(); ++d) off[i] -= mix.weights[d] * shapes[d][i];
    }
    mix.beside = AnchorCorrection(rows, off);
    // As far as the anchors reach that are left out, or what is left out on known devices: whichever is wider. Few
    // anchors reach less far than the rows that follow: their range holds (n − 1) ÷ (n + 1) of these.
    const double n = static_cast<double>(rows.size()), stretch = (n + 1) / (n - 1);
    for (double each : mix.beside.leftOut()) {
        mix.low = std::min(mix.low, stretch * each);
        mix.high = std::max(mix.high, stretch * each);
    }
    mix.low = std::min(mix.low, all_.low), mix.high = std::max(mix.high, all_.high);
    TunedTimes more = *this;
    more.mixes_[device] = std::move(mix);
    return more;
}

}  // namespace orrery
