#include "evaluation/schedules/explore_schedules.h"

#include "base/text/csv_cell.h"
#include "learning/schedules/schedule_features.h"
#include "learning/schedules/tuned_times.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace orrery {

namespace {

constexpr std::size_t fewestSchedules = 10;  // that an operator is ranked by, as in judge_schedules.cpp
constexpr std::size_t folds = 5;
constexpr std::size_t compared = 48;  // schedules that one is compared with, and that importance is asked of

std::vector<std::size_t> ranksOf(std::span<const double> values) {
    std::vector<std::size_t> order(values.size()), ranks(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
    for (std::size_t i = 0; i < order.size(); ++i) ranks[order[i]] = i + 1;
    return ranks;
}

// Some of the schedules, evenly over all.
std::vector<std::size_t> someOf(std::size_t count) {
    std::vector<std::size_t> places;
    const std::size_t some = std::min(count, compared);
    for (std::size_t i = 0; i < some; ++i) places.push_back(i * count / some);
    return places;
}

bool ran(const TunedRow& row) {
    return row.seconds > 0;
}

Unexpected tooFew(std::string why) {
    return fail("schedules.few", std::move(why), "ten schedules of an operator, and ten of another on the same device",
                "or 20 schedules of one operator");
}

Unexpected cancelled() {
    return fail("study.cancelled", "the fit was stopped");
}

}  // namespace

std::vector<ScheduleGroup> groupsOf(std::span<const TunedRow> rows) {
    std::vector<ScheduleGroup> groups;
    std::map<std::string, ScheduleGroup> mixed;
    const auto add = [&](ScheduleGroup& group, const std::vector<std::size_t>& places) {
        group.rows.insert(group.rows.end(), places.begin(), places.end());
        group.failed += static_cast<std::size_t>(
            std::count_if(places.begin(), places.end(), [&](std::size_t i) { return !ran(rows[i]); }));
    };
    for (const auto& places : operatorsOf(rows)) {
        const TunedRow& row = rows[places.front()];
        if (places.size() < fewestSchedules) {
            ScheduleGroup& group = mixed[row.device];
            group.device = row.device, group.mixed = true;
            add(group, places);
        } else {
            add(groups.emplace_back(ScheduleGroup{row.device, row.task, row.workload, false, {}, 0}), places);
        }
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const ScheduleGroup& a, const ScheduleGroup& b) { return a.rows.size() > b.rows.size(); });
    for (auto& [device, group] : mixed) groups.push_back(std::move(group));
    return groups;
}

Expected<ExploredOperator> exploreOperator(std::span<const TunedRow> rows, const ScheduleGroup& group,
                                           const ScheduleTraining& options) {
    if (group.mixed) return tooFew("no operator here has ten schedules: nothing ranks them");
    ExploredOperator explored;
    explored.group = group;
    const std::size_t count = group.rows.size();
    if (std::none_of(group.rows.begin(), group.rows.end(), [&](std::size_t i) { return ran(rows[i]); }))
        return tooFew("every schedule of this operator failed: nothing ranks them");
    explored.share = sharesOf(rows, group.rows);
    explored.told.resize(count), explored.modelOf.resize(count);

    std::vector<TunedRow> others;
    for (const auto& places : operatorsOf(rows)) {
        const TunedRow& first = rows[places.front()];
        const bool same = first.task == group.task && first.workload == group.workload;
        if (first.device != group.device || same || places.size() < fewestSchedules) continue;
        if (std::none_of(places.begin(), places.end(), [&](std::size_t i) { return ran(rows[i]); })) continue;
        ++explored.operators;
        for (const std::size_t i : places) others.push_back(rows[i]);
    }
    const auto learn = [&](std::span<const TunedRow> from) -> Expected<void> {
        auto model = ScheduleRanks::fit(from, options);
        if (!model) return Unexpected(model.error());
        explored.models.push_back(std::make_shared<const ScheduleRanks>(std::move(*model)));
        explored.learnedFrom = from.size();
        return {};
    };
    if (explored.operators > 0) {
        if (options.progress) options.progress->setTotal(ScheduleRanks::steps);
        if (auto learned = learn(others); !learned) return Unexpected(learned.error());
    } else {
        if (count < 2 * fewestSchedules)
            return tooFew(fmt::format(
                "the device has no other operator with ten schedules to learn from, and this one has {}", count));
        if (options.progress) options.progress->setTotal(folds * ScheduleRanks::steps);
        for (std::size_t fold = 0; fold < folds; ++fold) {
            std::vector<TunedRow> from;
            for (std::size_t i = 0; i < count; ++i) {
                if (i % folds == fold)
                    explored.modelOf[i] = fold;
                else
                    from.push_back(rows[group.rows[i]]);
            }
            if (std::none_of(from.begin(), from.end(), ran))
                return tooFew("the device has no other operator to learn from, and too few schedules of this one ran");
            if (auto learned = learn(from); !learned) return Unexpected(learned.error());
        }
    }
    std::vector<double> said(rows.size(), 0);
    for (std::size_t i = 0; i < count; ++i) {
        explored.told[i] = explored.models[explored.modelOf[i]]->share(rows[group.rows[i]]);
        said[group.rows[i]] = explored.told[i];
    }
    explored.rank = ranksOf(explored.share), explored.toldRank = ranksOf(explored.told);
    explored.judged = rankedOf(rows, group.rows, said);
    explored.looksAt.assign(scheduleFeatures, 0);
    const auto asked = someOf(count);
    for (const std::size_t place : asked) {
        const ScheduleReasons reasons = reasonsOf(rows, explored, place, options.stop);
        if (options.stop.stop_requested()) return cancelled();
        for (std::size_t f = 0; f < scheduleFeatures; ++f)
            explored.looksAt[f] += std::abs(reasons.features[f]) / static_cast<double>(asked.size());
    }
    return explored;
}

Expected<ExploredOperator> withIntervals(std::span<const TunedRow> rows, ExploredOperator explored,
                                         const ScheduleTraining& options) {
    const ScheduleGroup& group = explored.group;
    const std::size_t count = group.rows.size();
    std::vector<ShareSpread> spreads(1);
    if (explored.operators > 0) {
        std::vector<TunedRow> from;
        std::vector<std::string> devices;
        for (const TunedRow& row : rows) {
            if (row.device == group.device && row.task == group.task && row.workload == group.workload) continue;
            from.push_back(row);
            if (std::find(devices.begin(), devices.end(), row.device) == devices.end()) devices.push_back(row.device);
        }
        std::size_t fits = 0;
        for (const std::string& device : devices) fits += UnseenShares::fits(from, device, UnseenShares::Without::Part);
        if (options.progress) options.progress->setTotal(fits * ScheduleRanks::steps);
        std::vector<UnseenOperator> own, others;
        for (const std::string& device : devices) {
            const auto learned = UnseenShares::learn(from, device, UnseenShares::Without::Part, options);
            if (!learned) return Unexpected(learned.error());
            auto& into = device == group.device ? own : others;
            for (UnseenOperator& each : learned->all()) into.push_back(std::move(each));
        }
        spreads[0] = ShareSpread(std::move(own), std::move(others), options.stop);
    } else {  // each fifth by what was said of the others
        std::vector<UnseenOperator> parts(folds);
        for (std::size_t i = 0; i < count; ++i) {
            parts[explored.modelOf[i]].told.push_back(explored.told[i]);
            parts[explored.modelOf[i]].share.push_back(explored.share[i]);
        }
        spreads.clear();
        for (std::size_t fold = 0; fold < folds; ++fold) {
            std::vector<UnseenOperator> others = parts;
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(fold));
            spreads.emplace_back(std::move(others), std::vector<UnseenOperator>{}, options.stop);
        }
    }
    if (options.stop.stop_requested()) return cancelled();
    if (!spreads[0].isKnown()) return explored;
    double inside = 0;
    explored.ranges.clear();
    for (std::size_t i = 0; i < count; ++i) {
        const ShareRange range = spreads[explored.modelOf[i]].of(explored.told[i]);
        explored.ranges.push_back(range);
        inside += explored.share[i] >= range.low && explored.share[i] <= range.high;
    }
    explored.judged.stated = StatedShares{inside / static_cast<double>(count), spreads[0].chance(), spreads[0].first(),
                                          spreads[0].ten(), explored.operators > 0 ? spreads[0].operators() : 0};
    return explored;
}

Expected<ScheduleJudgement> exploreTimes(std::span<const TunedRow> rows, const ScheduleTraining& options) {
    std::vector<bool> mixed(rows.size());
    for (const ScheduleGroup& group : groupsOf(rows))
        for (const std::size_t i : group.rows) mixed[i] = group.mixed;
    std::vector<TunedRow> asked;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (mixed[i]) asked.push_back(rows[i]);
    JudgeScheduleOptions judging;
    judging.training = options;
    if (options.progress) options.progress->setTotal(static_cast<std::uint64_t>(judging.folds) * TunedTimes::steps);
    auto judged = judgeLeftOut(asked, judging);
    if (!judged) return judged;
    ScheduleJudgement spread = std::move(*judged);
    for (auto* values : {&spread.said, &spread.low, &spread.high}) {
        std::vector<double> wide(rows.size(), std::numeric_limits<double>::quiet_NaN());
        for (std::size_t i = 0, at = 0; i < rows.size(); ++i)
            if (mixed[i]) wide[i] = (*values)[at++];
        *values = std::move(wide);
    }
    return spread;
}

ScheduleReasons reasonsOf(std::span<const TunedRow> rows, const ExploredOperator& explored, std::size_t place,
                          const std::stop_token& stop) {
    std::vector<const TunedRow*> others;
    for (const std::size_t i : someOf(explored.group.rows.size())) others.push_back(&rows[explored.group.rows[i]]);
    return explored.models[explored.modelOf[place]]->reasons(rows[explored.group.rows[place]], others, stop);
}

std::string knobsText(const TunedRow& row) {
    std::string text;
    for (const ScheduleKnob& knob : row.knobs) {
        text += (text.empty() ? "" : ";") + knob.name + '=';
        text += knob.parts.empty() ? knob.word : fmt::format("{:g}", fmt::join(knob.parts, ","));
    }
    return text;
}

std::string exploredCsv(std::span<const TunedRow> rows, const ExploredOperator& explored) {
    std::string text = "line,time_us,rank,share_of_best,predicted_rank,predicted_share,low,high,schedule\n";
    for (std::size_t i = 0; i < explored.group.rows.size(); ++i) {
        const TunedRow& row = rows[explored.group.rows[i]];
        const std::string range = explored.ranges.empty()
                                      ? ","
                                      : fmt::format("{:.6g},{:.6g}", explored.ranges[i].low, explored.ranges[i].high);
        text += fmt::format("{},{},{},{:.6g},{},{:.6g},{},{}\n", row.line,
                            row.seconds > 0 ? fmt::format("{:.6g}", 1e6 * row.seconds) : "", explored.rank[i],
                            explored.share[i], explored.toldRank[i], explored.told[i], range, csvCell(knobsText(row)));
    }
    return text;
}

}  // namespace orrery
