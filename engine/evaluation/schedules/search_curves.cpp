#include "evaluation/schedules/search_curves.h"

#include "learning/schedules/guided_search.h"
#include "learning/schedules/schedule_features.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>

namespace orrery {
namespace {

constexpr double nearBest = 0.95;

// Share of the best after each of so many blind draws, expected: Σ share × chance that it is the best drawn.
std::vector<double> bestOfBlind(std::vector<double> shares, std::size_t trials) {
    std::sort(shares.rbegin(), shares.rend());
    std::vector<double> out;
    const auto n = static_cast<double>(shares.size());
    for (std::size_t drawn = 1; drawn <= trials; ++drawn) {
        double sum = 0, missed = 1;
        for (std::size_t i = 0; i < shares.size() && missed > 1e-12; ++i) {
            const double hit = std::min(1.0, static_cast<double>(drawn) / (n - static_cast<double>(i)));
            sum += missed * hit * shares[i];
            missed *= 1 - hit;
        }
        out.push_back(sum);
    }
    return out;
}

// Where none was met the search goes on blindly among the rest.
double firstGood(std::span<const std::size_t> order, std::span<const double> shares, std::size_t good) {
    for (std::size_t t = 0; t < order.size(); ++t)
        if (shares[order[t]] >= nearBest) return static_cast<double>(t + 1);
    return static_cast<double>(order.size()) + trialsByChance(shares.size() - order.size(), good);
}

SearchCurve curveOf(std::span<const TunedRow> rows, std::span<const std::size_t> places, const ScheduleRanks& model,
                    const ScheduleTraining& options, std::size_t trials) {
    const TunedRow& first = rows[places.front()];
    SearchCurve curve{first.device, first.task, first.workload, places.size(), 0, 0, 0, 0, {}, {}};
    double best = std::numeric_limits<double>::infinity();
    for (const std::size_t i : places)
        if (rows[i].seconds > 0) best = std::min(best, rows[i].seconds);
    SearchCandidates candidates{scheduleFeatures, {}, {}};
    std::vector<double> shares;
    for (const std::size_t i : places) {
        shares.push_back(rows[i].seconds > 0 ? best / rows[i].seconds : 0);
        std::vector<double> row(scheduleFeatures);
        scheduleFeaturesOf(rows[i], row);
        candidates.features.insert(candidates.features.end(), row.begin(), row.end());
        candidates.believed.push_back(model.share(rows[i]));
    }
    curve.good = static_cast<std::size_t>(
        std::count_if(shares.begin(), shares.end(), [](double share) { return share >= nearBest; }));
    const auto order = searchGuided(candidates, [&](std::size_t i) { return rows[places[i]].seconds; },
                                    {.trials = trials, .stop = options.stop});
    double reached = 0;
    for (const std::size_t i : order) curve.best.push_back(reached = std::max(reached, shares[i]));
    std::vector<std::size_t> ranked(places.size());
    std::iota(ranked.begin(), ranked.end(), std::size_t{0});
    std::stable_sort(ranked.begin(), ranked.end(),
                     [&](std::size_t a, std::size_t b) { return candidates.believed[a] > candidates.believed[b]; });
    curve.guided = firstGood(order, shares, curve.good);
    curve.ranked = firstGood(ranked, shares, curve.good);
    curve.chance = trialsByChance(places.size(), curve.good);
    curve.bestByChance = bestOfBlind(shares, order.size());
    return curve;
}

bool canBeSearched(std::span<const TunedRow> rows, std::span<const std::size_t> places) {
    return places.size() >= 10 &&
           std::any_of(places.begin(), places.end(), [&](std::size_t i) { return rows[i].seconds > 0; });
}

Expected<SearchJudgement> summed(SearchJudgement out) {
    if (out.operators.empty()) {
        return fail("schedules.few", "no operator has ten recorded schedules", "a log of trials",
                    "logs of the best schedule alone cannot be searched");
    }
    const double count = static_cast<double>(out.operators.size());
    for (const SearchCurve& each : out.operators) {
        out.guided += std::log(each.guided) / count;
        out.ranked += std::log(each.ranked) / count;
        out.chance += std::log(each.chance) / count;
    }
    out.guided = std::exp(out.guided);
    out.ranked = std::exp(out.ranked);
    out.chance = std::exp(out.chance);
    out.fewer = out.chance / out.guided;
    return out;
}

}  // namespace

Expected<SearchJudgement> judgeSearch(std::span<const TunedRow> rows, const ScheduleTraining& options,
                                      std::size_t trials) {
    SearchJudgement out;
    for (const auto& places : operatorsOf(rows)) {
        if (!canBeSearched(rows, places)) continue;
        if (options.stop.stop_requested()) return fail("study.cancelled", "stopped");
        std::vector<bool> own(rows.size(), false);
        for (const std::size_t i : places) own[i] = true;
        std::vector<TunedRow> others;
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (!own[i]) others.push_back(rows[i]);
        ScheduleTraining training = options;
        training.device = rows[places.front()].device;
        const auto model = ScheduleRanks::fit(others, training);
        if (!model) return Unexpected(model.error());
        out.operators.push_back(curveOf(rows, places, *model, options, trials));
    }
    return summed(std::move(out));
}

Expected<SearchJudgement> judgeSearchOther(std::span<const TunedRow> known, std::span<const TunedRow> asked,
                                           const ScheduleTraining& options, std::size_t trials) {
    const auto keyOf = [](const TunedRow& row) { return row.device + '\n' + row.task + '\n' + row.workload; };
    std::set<std::string> searched;
    for (const TunedRow& row : asked) searched.insert(keyOf(row));
    std::vector<TunedRow> others;
    for (const TunedRow& row : known)
        if (!searched.contains(keyOf(row))) others.push_back(row);
    const auto model = ScheduleRanks::fit(others, options);
    if (!model) return Unexpected(model.error());
    SearchJudgement out;
    for (const auto& places : operatorsOf(asked)) {
        if (!canBeSearched(asked, places)) continue;
        if (options.stop.stop_requested()) return fail("study.cancelled", "stopped");
        out.operators.push_back(curveOf(asked, places, *model, options, trials));
    }
    return summed(std::move(out));
}

}  // namespace orrery
