#include "app/cli/schedule_shown.h"

#include "app/cli/output.h"
#include "base/unit.h"
#include "learning/schedules/schedule_features.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace orrery::cli {

Expected<ShownSchedule> showSchedule(std::span<const TunedRow> rows, int line, const ScheduleTraining& options) {
    const auto found = std::ranges::find(rows, line, &TunedRow::line);
    if (found == rows.end()) {
        return fail("schedules.row", fmt::format("no schedule of a known operator stands on line {}", line),
                    "the number of a line that holds one",
                    "`--csv` without `--show` says on which line each stands that was judged");
    }
    ShownSchedule shown{&*found, scheduleNestOf(*found), {}, {}, 0, {}};
    const auto at = static_cast<std::size_t>(found - rows.begin());
    for (const ScheduleGroup& group : groupsOf(rows)) {
        const auto place = std::ranges::find(group.rows, at);
        if (place == group.rows.end()) continue;
        auto explored = exploreOperator(rows, group, options);
        if (!explored && explored.error().code == "study.cancelled") return Unexpected(explored.error());
        if (!explored) {
            shown.why = explored.error();
            break;
        }
        auto wider = withIntervals(rows, std::move(*explored), options);
        if (!wider) return Unexpected(wider.error());
        shown.place = static_cast<std::size_t>(place - group.rows.begin());
        shown.explored = std::move(*wider);
        shown.reasons = reasonsOf(rows, *shown.explored, shown.place, options.stop);
        break;
    }
    return shown;
}

std::string textOf(const ShownSchedule& shown) {
    const TunedRow& row = *shown.row;
    std::string text = fmt::format("{}  {}  {}\n{}\n", row.device, row.task, row.workload, knobsText(row));
    text += row.seconds > 0 ? "measured " + formatMeasure(row.seconds, Dimension::Time) : "it failed";
    if (shown.explored) {
        const ExploredOperator& all = *shown.explored;
        text += fmt::format(", place {} of {} ({:.1f} % of the best); predicted place {} ({:.1f} %)",
                            all.rank[shown.place], all.rank.size(), 100 * all.share[shown.place],
                            all.toldRank[shown.place], 100 * all.told[shown.place]);
        if (!all.ranges.empty())
            text += fmt::format(", interval {:.1f} to {:.1f} %", 100 * all.ranges[shown.place].low,
                                100 * all.ranges[shown.place].high);
        text += all.operators > 0 ? fmt::format(", by a model of {} other operators of the device", all.operators)
                                  : ", by a model of four fifths of the operator's schedules, not of this one";
    }
    text += '\n';
    if (shown.nest) {
        text += fmt::format("\n{}:\n\n{}\n", shown.nest->basis, codeOf(*shown.nest));
        Table loops({"loop", "steps", "mark", "touches", "FLOP/B"}, {false, true, false, true, true});
        for (const NestLine& line : shown.nest->lines) {
            if (!(line.bytes > 0)) continue;
            loops.add({line.name, fmt::format("{:.0f}", line.extent),
                       std::string(line.axis.empty() ? toText(line.mark) : line.axis),
                       formatMeasure(line.bytes, Dimension::Data), fmt::format("{:.3g}", line.flops / line.bytes)});
        }
        if (!loops.empty()) text += loops.text() + "\n`touches`: bytes of one run of the loop, each once.\n";
    } else {
        text += '\n' + shown.nest.error().message + '\n';
    }
    Table features({"about", "feature", "value", "adds"}, {false, false, true, true});
    for (const ScheduleFact& fact : scheduleFactsOf(row)) {
        const double adds = shown.reasons ? shown.reasons->features[fact.feature] : 0;
        features.add({std::string(fact.group), fact.name,
                      fact.bytes ? formatMeasure(fact.value, Dimension::Data) : fmt::format("{:.4g}", fact.value),
                      std::abs(adds) < 5e-4 ? "" : fmt::format("{:+.1f} %", 100 * adds)});
    }
    text += '\n' + features.text();
    if (shown.reasons) {
        text += fmt::format(
            "\n`adds`: what the feature adds to the prediction, {:.1f} % of the best, over the mean of others, {:.1f} "
            "% "
            "(Shapley values).\n",
            100 * shown.reasons->rate, 100 * shown.reasons->mean);
        if (shown.reasons->places < 1)
            text += fmt::format("Both are per place of the GPU that is filled: {:.1f} % are.\n",
                                100 * shown.reasons->places);
    }
    return text;
}

nlohmann::ordered_json jsonOf(const ShownSchedule& shown) {
    using Json = nlohmann::ordered_json;
    const TunedRow& row = *shown.row;
    Json schedule{{"line", row.line},
                  {"device", row.device},
                  {"task", row.task},
                  {"workload", row.workload},
                  {"schedule", knobsText(row)}};
    if (row.seconds > 0) schedule["time_us"] = 1e6 * row.seconds;
    if (shown.explored) {
        const ExploredOperator& all = *shown.explored;
        schedule["schedules"] = all.rank.size();
        schedule["rank"] = all.rank[shown.place], schedule["share_of_best"] = all.share[shown.place];
        schedule["predicted_rank"] = all.toldRank[shown.place], schedule["predicted_share"] = all.told[shown.place];
        if (!all.ranges.empty())
            schedule["low"] = all.ranges[shown.place].low, schedule["high"] = all.ranges[shown.place].high;
        schedule["other_operators"] = all.operators;
    }
    if (shown.reasons) {
        schedule["rate"] = shown.reasons->rate, schedule["rate_of_others"] = shown.reasons->mean;
        schedule["filled_places"] = shown.reasons->places;
    }
    schedule["loops"] = Json::array();
    if (shown.nest) {
        schedule["code"] = codeOf(*shown.nest), schedule["basis"] = shown.nest->basis;
        for (const NestLine& line : shown.nest->lines) {
            if (!line.loop) continue;
            schedule["loops"].push_back({{"depth", line.depth},
                                         {"name", line.name},
                                         {"steps", line.extent},
                                         {"mark", toText(line.mark)},
                                         {"bound_to", line.axis},
                                         {"bytes", line.bytes},
                                         {"flops", line.flops}});
        }
    }
    schedule["features"] = Json::array();
    for (const ScheduleFact& fact : scheduleFactsOf(row)) {
        Json one{{"about", fact.group}, {"name", fact.name}, {"value", fact.value}};
        if (shown.reasons) one["adds"] = shown.reasons->features[fact.feature];
        schedule["features"].push_back(std::move(one));
    }
    return {{"format", "orrery-schedules"}, {"version", 1}, {"split", "show"}, {"schedule", std::move(schedule)}};
}

}  // namespace orrery::cli
