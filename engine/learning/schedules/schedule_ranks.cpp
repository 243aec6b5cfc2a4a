#include "learning/schedules/schedule_features.h"
#include "learning/schedules/schedule_loops.h"
#include "learning/schedules/schedule_model.h"
#include "learning/schedules/sequence_rates.h"
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

class TreeRates final : public RateModel {
public:
    explicit TreeRates(std::vector<RegressorPtr> all) : all_(std::move(all)) {}
    double rate(const TunedRow& row) const override {
        std::array<double, scheduleFeatures> features{};
        scheduleFeaturesOf(row, features);
        double sum = 0;
        for (const RegressorPtr& model : all_) sum += model->predict(features);
        return sum / static_cast<double>(all_.size());
    }
    std::vector<double> contributions(const TunedRow& row, std::span<const TunedRow* const> others,
                                      const std::stop_token& stop) const override {
        std::array<double, scheduleFeatures> features{};
        scheduleFeaturesOf(row, features);
        std::vector<double> besides(others.size() * scheduleFeatures), sum(scheduleFeatures);
        for (std::size_t i = 0; i < others.size(); ++i)
            scheduleFeaturesOf(*others[i], std::span(besides).subspan(i * scheduleFeatures, scheduleFeatures));
        for (const RegressorPtr& model : all_) {
            const auto* trees = dynamic_cast<const Trees*>(model.get());
            if (!trees) continue;
            const auto own = contributionsOf(*trees, features, besides, stop);
            for (std::size_t f = 0; f < scheduleFeatures; ++f) sum[f] += own[f] / static_cast<double>(all_.size());
        }
        return sum;
    }

private:
    std::vector<RegressorPtr> all_;
};

Expected<RateModelPtr> trainTrees(const RatedSchedules& schedules, const ScheduleTraining& training) {
    TrainingData data;
    data.names = scheduleFeatureNames();
    data.target = schedules.rates;
    std::array<double, scheduleFeatures> features{};
    for (const TunedRow* row : schedules.rows) {
        scheduleFeaturesOf(*row, features);
        data.features.insert(data.features.end(), features.begin(), features.end());
    }
    std::vector<RegressorPtr> all;
    TrainingOptions options = shallowTrees(training);
    for (int i = 0; i < ensembles; ++i, ++options.seed) {
        auto one = train(data, nullptr, options);
        if (!one) return Unexpected(one.error());
        all.push_back(std::move(*one));
    }
    return std::make_shared<const TreeRates>(std::move(all));
}

class MeanRates final : public RateModel {
public:
    MeanRates(RateModelPtr a, RateModelPtr b) : a_(std::move(a)), b_(std::move(b)) {}
    double rate(const TunedRow& row) const override { return 0.5 * (a_->rate(row) + b_->rate(row)); }
    std::vector<double> contributions(const TunedRow& row, std::span<const TunedRow* const> others,
                                      const std::stop_token& stop) const override {
        auto sum = a_->contributions(row, others, stop);
        const auto more = b_->contributions(row, others, stop);
        for (std::size_t f = 0; f < sum.size(); ++f) sum[f] = 0.5 * (sum[f] + more[f]);
        return sum;
    }

private:
    RateModelPtr a_, b_;
};

Expected<RateModelPtr> trained(const RatedSchedules& schedules, const ScheduleTraining& training) {
    if (training.ranks == RankModel::Sequence) return trainSequence(schedules, training);
    auto trees = trainTrees(schedules, training);
    if (!trees || training.ranks == RankModel::Trees) return trees;
    auto sequence = trainSequence(schedules, training);
    if (!sequence) return sequence;
    return std::make_shared<const MeanRates>(std::move(*trees), std::move(*sequence));
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

std::vector<std::vector<std::size_t>> operatorsOf(std::span<const TunedRow> rows) {
    std::map<std::string, std::size_t> place;
    std::vector<std::vector<std::size_t>> operators;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string key = rows[i].device + '\n' + rows[i].task + '\n' + rows[i].workload;
        const auto [found, isNew] = place.try_emplace(key, operators.size());
        if (isNew) operators.emplace_back();
        operators[found->second].push_back(i);
    }
    return operators;
}

std::vector<double> RateModel::contributions(const TunedRow&, std::span<const TunedRow* const>,
                                             const std::stop_token&) const {
    return std::vector<double>(scheduleFeatures);
}

Expected<ScheduleRanks> ScheduleRanks::fit(std::span<const TunedRow> rows, const ScheduleTraining& options) {
    std::map<std::string, RatedSchedules> devices;
    RatedSchedules all;
    for (const auto& one : operatorsOf(rows)) {
        if (one.size() < 10) continue;
        const auto rates = ratesOf(rows, one);
        if (std::all_of(rates.begin(), rates.end(), [](double rate) { return rate == 0; })) continue;
        for (RatedSchedules* into : {&devices[rows[one.front()].device], &all}) {
            for (const std::size_t i : one) into->rows.push_back(&rows[i]);
            into->rates.insert(into->rates.end(), rates.begin(), rates.end());
            into->ends.push_back(into->rows.size());
        }
    }
    if (devices.empty()) {
        return fail("schedules.few", "no operator has ten schedules: nothing can be ranked",
                    "a log of many schedules of the same operators");
    }
    ScheduleRanks ranks;
    const bool known = !options.device.empty() && devices.contains(options.device);
    for (const auto& [device, own] : devices) {
        if (!options.device.empty() && device != options.device) continue;
        auto model = trained(own, options);
        if (!model) return Unexpected(model.error());
        ranks.models_[device] = std::move(*model);
    }
    if (devices.size() == 1 && !ranks.models_.empty()) {
        ranks.all_ = ranks.models_.begin()->second;
    } else if (!known) {
        auto model = trained(all, options);
        if (!model) return Unexpected(model.error());
        ranks.all_ = std::move(*model);
    }
    if (options.stop.stop_requested()) return fail("study.cancelled", "the fit was stopped");
    return ranks;
}

const RateModel& ScheduleRanks::modelOf(const TunedRow& row) const {
    const auto own = models_.find(row.device);
    return own == models_.end() ? *all_ : *own->second;
}

ScheduleReasons ScheduleRanks::reasons(const TunedRow& row, std::span<const TunedRow* const> others,
                                       const std::stop_token& stop) const {
    const RateModel& model = modelOf(row);
    ScheduleReasons reasons;
    reasons.places = filledPlaces(row);
    reasons.rate = model.rate(row);
    for (const TunedRow* other : others) reasons.mean += model.rate(*other) / static_cast<double>(others.size());
    reasons.features = model.contributions(row, others, stop);
    return reasons;
}

double ScheduleRanks::share(const TunedRow& row) const {
    return std::clamp(filledPlaces(row) * modelOf(row).rate(row), 0.0, 1.0);
}

}  // namespace orrery
