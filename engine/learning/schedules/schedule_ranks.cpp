#include "learning/schedules/schedule_features.h"
#include "learning/schedules/schedule_loops.h"
#include "learning/schedules/schedule_model.h"
#include "learning/training.h"
#include "learning/tree_contributions.h"

#include <algorithm>
#include <array>

namespace orrery {
namespace {

// Rankings of one ensemble of trees differ from seed to seed by several of its first ten; the mean of some is steadier.
constexpr int ensembles = 3, treesOfOne = 200;
static_assert(ScheduleRanks::steps == ensembles * treesOfOne);

TrainingOptions shallowTrees(const ScheduleTraining& training) {
    TrainingOptions options;
    options.kind = "trees";
    options.steps = treesOfOne;
    options.rate = 0.1;
    options.depth = 5;
    options.minimumLeaf = 2;
    options.loss = "squared";
    options.featureShare = 0.3;
    options.seed = training.seed;
    options.threads = training.threads;
    options.stop = training.stop;
    if (training.progress)
        options.onStep = [progress = training.progress](const TrainingPoint&) { progress->advance(); };
    return options;
}

Expected<std::vector<RegressorPtr>> trained(const TrainingData& data, const ScheduleTraining& training) {
    std::vector<RegressorPtr> all;
    TrainingOptions options = shallowTrees(training);
    for (int i = 0; i < ensembles; ++i, ++options.seed) {
        auto one = train(data, nullptr, options);
        if (!one) return Unexpected(one.error());
        all.push_back(std::move(*one));
    }
    return all;
}

// How fast each schedule of an operator runs per place that it fills, over the fastest; 0 where it failed.
std::vector<double> ratesOf(std::span<const TunedRow> rows, std::span<const std::size_t> places) {
    std::vector<double> rates;
    for (const std::size_t i : places)
        rates.push_back(rows[i].seconds > 0 ? 1 / (rows[i].seconds * filledPlaces(rows[i])) : 0);
    const double most = *std::max_element(rates.begin(), rates.end());
    for (double& rate : rates) rate = most > 0 ? rate / most : 0;
    return rates;
}

}  // namespace

Expected<ScheduleRanks> ScheduleRanks::fit(std::span<const TunedRow> rows, const ScheduleTraining& options) {
    std::map<std::string, TrainingData> data;
    TrainingData all;
    all.names = scheduleFeatureNames();
    std::array<double, scheduleFeatures> features{};
    for (const auto& one : operatorsOf(rows)) {
        if (one.size() < 10) continue;
        const auto rates = ratesOf(rows, one);
        if (std::all_of(rates.begin(), rates.end(), [](double rate) { return rate == 0; })) continue;
        TrainingData& own = data[rows[one.front()].device];
        own.names = all.names;
        for (std::size_t i = 0; i < one.size(); ++i) {
            scheduleFeaturesOf(rows[one[i]], features);
            for (TrainingData* into : {&own, &all}) {
                into->features.insert(into->features.end(), features.begin(), features.end());
                into->target.push_back(rates[i]);
            }
        }
    }
    if (data.empty()) {
        return fail("schedules.few", "no operator has ten schedules: nothing can be ranked",
                    "a log of many schedules of the same operators");
    }
    ScheduleRanks ranks;
    for (const auto& [device, own] : data) {
        auto models = trained(own, options);
        if (!models) return Unexpected(models.error());
        ranks.models_[device] = std::move(*models);
    }
    if (data.size() == 1) {
        ranks.all_ = ranks.models_.begin()->second;
    } else {
        auto models = trained(all, options);
        if (!models) return Unexpected(models.error());
        ranks.all_ = std::move(*models);
    }
    if (options.stop.stop_requested()) return fail("study.cancelled", "the fit was stopped");
    return ranks;
}

const std::vector<RegressorPtr>& ScheduleRanks::modelsOf(const TunedRow& row) const {
    const auto own = models_.find(row.device);
    return own == models_.end() ? all_ : own->second;
}

ScheduleReasons ScheduleRanks::reasons(const TunedRow& row, std::span<const TunedRow* const> others,
                                       const std::stop_token& stop) const {
    std::array<double, scheduleFeatures> features{};
    scheduleFeaturesOf(row, features);
    std::vector<double> all(others.size() * scheduleFeatures);
    for (std::size_t i = 0; i < others.size(); ++i)
        scheduleFeaturesOf(*others[i], std::span(all).subspan(i * scheduleFeatures, scheduleFeatures));
    ScheduleReasons reasons;
    reasons.places = filledPlaces(row);
    reasons.features.assign(scheduleFeatures, 0);
    const auto& models = modelsOf(row);
    const auto each = 1 / static_cast<double>(models.size());
    for (const RegressorPtr& model : models) {
        reasons.rate += each * model->predict(features);
        for (std::size_t i = 0; i < others.size(); ++i)
            reasons.mean += each / static_cast<double>(others.size()) *
                            model->predict(std::span(all).subspan(i * scheduleFeatures, scheduleFeatures));
        const auto* trees = dynamic_cast<const Trees*>(model.get());
        if (!trees) continue;
        const auto own = contributionsOf(*trees, features, all, stop);
        for (std::size_t f = 0; f < scheduleFeatures; ++f) reasons.features[f] += each * own[f];
    }
    return reasons;
}

double ScheduleRanks::share(const TunedRow& row) const {
    std::array<double, scheduleFeatures> features{};
    scheduleFeaturesOf(row, features);
    const auto& models = modelsOf(row);
    double sum = 0;
    for (const RegressorPtr& model : models) sum += model->predict(features);
    return std::clamp(filledPlaces(row) * sum / static_cast<double>(models.size()), 0.0, 1.0);
}

}  // namespace orrery
