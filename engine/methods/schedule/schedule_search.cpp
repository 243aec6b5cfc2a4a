#include "methods/schedule/schedule_search.h"

#include "base/random.h"
#include "base/text/csv_cell.h"
#include "learning/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

namespace orrery {

namespace {

constexpr std::size_t roundSize = 8;     // schedules between two trainings; one of them is drawn blindly
constexpr std::size_t poolDrawn = 3000;  // of a pool
constexpr std::size_t parents = 16, children = 16, grandparents = 48;
constexpr int ensembles = 2;
constexpr std::size_t mostTaught = 512;

constexpr std::array<std::string_view, 4> guideWords{"trees", "analytic", "both", "random"};

// What is asked next.
class Proposer {
public:
    Proposer(SchedulePrices& prices, const ScheduleSearchOptions& options)
        : prices_(prices), space_(prices.space()), options_(options), random_(options.seed, 0x5c4ed) {}

    Expected<std::vector<SchedulePoint>> next(const ScheduleSearch& search, std::size_t count) {
        std::vector<SchedulePoint> chosen;
        const bool learns = options_.guide == ScheduleGuide::Trees || options_.guide == ScheduleGuide::Both;
        if (options_.guide == ScheduleGuide::Analytic ||
            (options_.guide == ScheduleGuide::Both && search.trials.empty())) {
            if (auto told = cheapest(count, chosen); !told) return Unexpected(told.error());
        } else if (learns && !search.trials.empty()) {
            if (auto told = learned(search, count - (count > 1 ? 1 : 0), chosen); !told)
                return Unexpected(told.error());
        }
        while (chosen.size() < count && asked_.size() < space_.legal().size()) take(blind(), chosen);
        return chosen;
    }

private:
    bool take(SchedulePoint point, std::vector<SchedulePoint>& into) {
        if (!asked_.insert(point).second) return false;
        into.push_back(point);
        return true;
    }

    SchedulePoint blind() { return space_.legal()[random_.below(space_.legal().size())]; }

    Expected<void> cheapest(std::size_t count, std::vector<SchedulePoint>& chosen) {
        const auto order = prices_.cheapOrder(options_.stop);
        if (!order) return Unexpected(order.error());
        for (; cheap_ < order->size() && chosen.size() < count; ++cheap_) take((*order)[cheap_], chosen);
        return {};
    }

    // One axis or two elsewhere; the schedule itself where ten tries cannot run.
    SchedulePoint changed(SchedulePoint from) {
        for (int i = 0; i < 10; ++i) {
            auto choices = space_.choicesOf(from);
            const std::uint64_t axes = 1 + random_.below(2);
            for (std::uint64_t a = 0; a < axes; ++a) {
                const std::size_t axis = random_.below(choices.size());
                choices[axis] = random_.below(space_.axes()[axis].values.size());
            }
            const SchedulePoint to = space_.pointOf(choices);
            if (to != from && space_.isLegal(to)) return to;
        }
        return from;
    }

    std::size_t columns() const {
        return space_.featureNames().size() + (options_.guide == ScheduleGuide::Both ? 1 : 0);
    }
    void describe(SchedulePoint point, std::span<double> row) const {
        space_.features(point, row.first(space_.featureNames().size()));
        if (options_.guide == ScheduleGuide::Both) row.back() = std::log(std::max(space_.cheapSeconds(point), 1e-12));
    }

    // What is learned from: all trials, of many the fastest and some of the others, since pairs grow with their square.
    static std::vector<ScheduleTrial> taught(const ScheduleSearch& search) {
        std::vector<ScheduleTrial> all = search.trials;
        if (all.size() <= mostTaught) return all;
        std::ranges::stable_sort(all, {}, [](const ScheduleTrial& trial) {
            return trial.seconds > 0 ? trial.seconds : std::numeric_limits<double>::infinity();
        });
        std::vector<ScheduleTrial> some(all.begin(), all.begin() + mostTaught / 2);
        const std::size_t others = all.size() - mostTaught / 2;
        for (std::size_t i = 0; i < mostTaught / 2; ++i)
            some.push_back(all[mostTaught / 2 + i * others / (mostTaught / 2)]);
        return some;
    }

    Expected<std::vector<RegressorPtr>> trained(const ScheduleSearch& search) const {
        TrainingData data;
        data.names = space_.featureNames();
        if (options_.guide == ScheduleGuide::Both) data.names.emplace_back("cheap price");
        double slowest = 0;
        for (const ScheduleTrial& trial : search.trials) slowest = std::max(slowest, trial.seconds);
        for (const ScheduleTrial& trial : taught(search)) {
            data.features.resize(data.features.size() + columns());
            describe(trial.point, std::span(data.features).last(columns()));
            data.target.push_back(-std::log(trial.seconds > 0 ? trial.seconds : 10 * std::max(slowest, 1e-9)));
        }
        TrainingOptions training;
        training.kind = "trees";
        training.loss = "pairwise";
        training.steps = 80;
        training.rate = 0.15;
        training.depth = 5;
        training.minimumLeaf = 0.2;  // of curvature: a row whose pairs are all open has a half
        training.featureShare = 0.5;
        training.seed = options_.seed;
        std::vector<RegressorPtr> models;
        for (int i = 0; i < ensembles; ++i, ++training.seed) {
            auto model = train(data, nullptr, training);
            if (!model) return Unexpected(model.error());
            models.push_back(std::move(*model));
        }
        return models;
    }

    Expected<void> learned(const ScheduleSearch& search, std::size_t count, std::vector<SchedulePoint>& chosen) {
        const auto models = trained(search);
        if (!models) return Unexpected(models.error());
        std::vector<double> row(columns());
        std::map<SchedulePoint, double> pool;
        const auto consider = [&](SchedulePoint point) {
            if (asked_.contains(point) || pool.contains(point)) return;
            describe(point, row);
            double score = 0;
            for (const RegressorPtr& model : *models) score += model->predict(row);
            pool.emplace(point, score);
        };
        for (std::size_t i = 0; i < poolDrawn; ++i) consider(blind());
        if (options_.guide == ScheduleGuide::Both) {
            const auto order = prices_.cheapOrder(options_.stop);
            if (!order) return Unexpected(order.error());
            for (const SchedulePoint point : order->first(std::min<std::size_t>(order->size(), 256))) consider(point);
        }
        std::vector<ScheduleTrial> best = search.trials;
        std::ranges::stable_sort(best, {}, [](const ScheduleTrial& trial) {
            return trial.seconds > 0 ? trial.seconds : std::numeric_limits<double>::infinity();
        });
        best.resize(std::min(best.size(), parents));
        for (const ScheduleTrial& parent : best)
            for (std::size_t i = 0; i < children; ++i) consider(changed(parent.point));
        for (const SchedulePoint parent : highest(pool, grandparents))
            for (std::size_t i = 0; i < children / 2; ++i) consider(changed(parent));
        for (const SchedulePoint point : highest(pool, count)) take(point, chosen);
        return {};
    }

    // By score; equal ones by their number, so that a seed says all.
    static std::vector<SchedulePoint> highest(const std::map<SchedulePoint, double>& pool, std::size_t count) {
        std::vector<std::pair<double, SchedulePoint>> order;
        for (const auto& [point, score] : pool) order.emplace_back(-score, point);
        std::ranges::sort(order);
        std::vector<SchedulePoint> out;
        for (std::size_t i = 0; i < std::min(count, order.size()); ++i) out.push_back(order[i].second);
        return out;
    }

    SchedulePrices& prices_;
    const ScheduleSpace& space_;
    const ScheduleSearchOptions& options_;
    RandomStream random_;
    std::set<SchedulePoint> asked_;
    std::size_t cheap_ = 0;
};

}  // namespace

std::string_view toText(ScheduleGuide guide) {
    return guideWords[static_cast<std::size_t>(guide)];
}

std::optional<ScheduleGuide> scheduleGuide(std::string_view text) {
    const auto found = std::find(guideWords.begin(), guideWords.end(), text);
    if (found == guideWords.end()) return std::nullopt;
    return static_cast<ScheduleGuide>(found - guideWords.begin());
}

const ScheduleTrial* ScheduleSearch::fastest() const {
    const ScheduleTrial* least = nullptr;
    for (const ScheduleTrial& trial : trials)
        if (trial.seconds > 0 && (!least || trial.seconds < least->seconds)) least = &trial;
    return least;
}

std::size_t ScheduleSearch::trialsUntil(double best, double share) const {
    for (std::size_t i = 0; i < trials.size(); ++i)
        if (trials[i].seconds > 0 && best >= share * trials[i].seconds) return i + 1;
    return 0;
}

Expected<double> SchedulePrices::of(SchedulePoint point, const std::stop_token& stop) {
    {
        const std::scoped_lock lock(guard_);
        if (const auto found = known_.find(point); found != known_.end()) return found->second;
    }
    auto seconds = space_->seconds(point, stop);
    if (!seconds && (stop.stop_requested() || seconds.error().code == "study.cancelled")) return seconds;
    const double told = seconds && *seconds > 0 ? *seconds : 0;
    const std::scoped_lock lock(guard_);
    known_[point] = told;
    if (!seconds) failures_[point] = std::move(seconds.error());
    return told;
}

Diagnostic SchedulePrices::whyNot(SchedulePoint point) const {
    const std::scoped_lock lock(guard_);
    if (const auto found = failures_.find(point); found != failures_.end()) return found->second;
    return fail("schedules.no-time", fmt::format("`{}` gives no time of {}", space_->target(), space_->textOf(point)),
                "seconds above 0")
        .value();
}

Expected<std::span<const SchedulePoint>> SchedulePrices::cheapOrder(const std::stop_token& stop) {
    const std::scoped_lock lock(guard_);
    if (order_.empty()) {
        std::vector<std::pair<double, SchedulePoint>> priced;
        for (const SchedulePoint point : space_->legal()) {
            if (stop.stop_requested()) return fail("study.cancelled", "the search was stopped");
            priced.emplace_back(space_->cheapSeconds(point), point);
        }
        std::ranges::sort(priced);
        for (const auto& [seconds, point] : priced)
            if (seconds > 0) order_.push_back(point);
    }
    return std::span<const SchedulePoint>(order_);
}

Expected<ScheduleSearch> searchSchedules(SchedulePrices& prices, const ScheduleSearchOptions& options) {
    ScheduleSearch search;
    search.guide = options.guide, search.seed = options.seed;
    Proposer proposer(prices, options);
    const std::size_t most = std::min(options.trials, prices.space().legal().size());
    while (search.trials.size() < most && !options.stop.stop_requested()) {
        auto asked = proposer.next(search, std::min(roundSize, most - search.trials.size()));
        if (!asked && options.stop.stop_requested()) break;
        if (!asked) return Unexpected(asked.error());
        if (asked->empty()) break;
        std::vector<Expected<double>> told(asked->size(), 0.0);
        const auto ask = [&](std::size_t i) { told[i] = prices.of((*asked)[i], options.stop); };
        if (options.executor)
            options.executor->forEach(asked->size(), ask);
        else
            for (std::size_t i = 0; i < asked->size(); ++i) ask(i);
        for (std::size_t i = 0; i < asked->size(); ++i) {
            if (!told[i]) {
                if (!search.fastest()) return Unexpected(told[i].error());
                return search;
            }
            const double before = search.best(), own = *told[i];
            search.trials.push_back({(*asked)[i], own, own > 0 && (before <= 0 || own < before) ? own : before});
        }
        if (options.onTrials) options.onTrials(search);
    }
    if (search.trials.empty()) return fail("study.cancelled", "the search was stopped");
    if (!search.fastest()) return Unexpected(prices.whyNot(search.trials.front().point));
    return search;
}

std::string trialsAsCsv(const ScheduleSpace& space, std::span<const ScheduleSearch> searches) {
    constexpr double microsecond = 1e6;
    std::string text = "guide,seed,trial,time_us,best_us,schedule\n";
    for (const ScheduleSearch& search : searches) {
        for (std::size_t i = 0; i < search.trials.size(); ++i) {
            const ScheduleTrial& trial = search.trials[i];
            text += fmt::format("{},{},{},{},{:.6g},{}\n", toText(search.guide), search.seed, i + 1,
                                trial.seconds > 0 ? fmt::format("{:.6g}", microsecond * trial.seconds) : "",
                                microsecond * trial.best, csvCell(space.textOf(trial.point)));
        }
    }
    return text;
}

double bestOf(std::span<const ScheduleSearch> searches) {
    double best = 0;
    for (const ScheduleSearch& each : searches)
        if (each.best() > 0 && (best <= 0 || each.best() < best)) best = each.best();
    return best;
}

std::vector<GuideFigures> figuresOf(std::span<const ScheduleSearch> searches, double best) {
    std::vector<GuideFigures> all;
    for (const ScheduleGuide guide :
         {ScheduleGuide::Trees, ScheduleGuide::Analytic, ScheduleGuide::Both, ScheduleGuide::Random}) {
        GuideFigures figures;
        figures.guide = guide;
        double logs = 0;
        for (const ScheduleSearch& each : searches) {
            if (each.guide != guide || each.trials.empty()) continue;
            ++figures.searches;
            const std::size_t until = each.trialsUntil(best);
            figures.reached += until > 0 ? 1 : 0;
            logs += std::log(static_cast<double>(until > 0 ? until : each.trials.size() + 1));
            const auto share = [&](std::size_t after) {
                const double found = each.trials[std::min(after, each.trials.size()) - 1].best;
                return found > 0 ? best / found : 0;
            };
            figures.after10 += share(10), figures.after50 += share(50), figures.end += share(each.trials.size());
        }
        if (figures.searches == 0) continue;
        const auto n = static_cast<double>(figures.searches);
        figures.trials = std::exp(logs / n);
        figures.after10 /= n, figures.after50 /= n, figures.end /= n;
        all.push_back(figures);
    }
    return all;
}

}  // namespace orrery
