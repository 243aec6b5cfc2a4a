#include "evaluation/schedules/stated_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace orrery {
namespace {

using Without = UnseenShares::Without;
using Places = std::vector<std::size_t>;

// Places of an operator that was judged.
std::vector<Places> judgedOperators(const ScheduleJudgement& judged, std::span<const TunedRow> rows) {
    std::vector<Places> all;
    for (auto& places : operatorsOf(rows)) {
        const TunedRow& row = rows[places.front()];
        if (std::any_of(judged.operators.begin(), judged.operators.end(), [&](const RankedOperator& one) {
                return one.device == row.device && one.task == row.task && one.workload == row.workload;
            }))
            all.push_back(std::move(places));
    }
    return all;  // in the order of judged.operators, which was made of the same list
}

void state(ScheduleJudgement& judged, RankedOperator& one, const Places& places, std::span<const TunedRow> rows,
           const ShareSpread& spread) {
    if (!spread.isKnown()) return;
    const auto shares = sharesOf(rows, places);
    double inside = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const ShareRange range = spread.of(judged.said[places[i]]);
        judged.low[places[i]] = range.low, judged.high[places[i]] = range.high;
        inside += shares[i] >= range.low && shares[i] <= range.high;
    }
    one.stated =
        StatedShares{inside / static_cast<double>(places.size()), spread.first(), spread.ten(), spread.operators()};
}

void noteWithout(ScheduleJudgement& judged) {
    const auto without = std::count_if(judged.operators.begin(), judged.operators.end(),
                                       [](const RankedOperator& one) { return !one.stated; });
    if (without == 0) return;
    judged.notes.push_back(warning("schedules.few",
                                   fmt::format("no intervals of {} operators: too few others of their devices tell how "
                                               "far models are off",
                                               without),
                                   "three operators of a device, of ten schedules each, beside the judged one"));
}

}  // namespace

Expected<void> stateLeftOut(ScheduleJudgement& judged, std::span<const TunedRow> rows,
                            const ScheduleTraining& options) {
    const auto operators = judgedOperators(judged, rows);
    std::map<std::string, UnseenShares> own;
    for (std::size_t o = 0; o < operators.size(); ++o) {
        RankedOperator& one = judged.operators[o];
        if (!own.contains(one.device)) {
            auto learned = UnseenShares::learn(rows, one.device, Without::TwoParts, options);
            if (!learned) return Unexpected(learned.error());
            own[one.device] = std::move(*learned);
        }
        std::vector<UnseenOperator> others;
        for (std::size_t other = 0; other < operators.size(); ++other) {
            if (judged.operators[other].device == one.device) continue;
            UnseenOperator unseen{{}, sharesOf(rows, operators[other])};
            for (const std::size_t i : operators[other]) unseen.told.push_back(judged.said[i]);
            others.push_back(std::move(unseen));
        }
        state(judged, one, operators[o], rows,
              ShareSpread(own[one.device].beside(one.task, one.workload), std::move(others)));
    }
    noteWithout(judged);
    return {};
}

Expected<void> stateOther(ScheduleJudgement& judged, std::span<const TunedRow> known, std::span<const TunedRow> asked,
                          const ScheduleTraining& options) {
    std::map<std::string, std::vector<UnseenOperator>> devices;
    for (const TunedRow& row : known) {
        if (devices.contains(row.device)) continue;
        const auto learned = UnseenShares::learn(known, row.device, Without::Part, options);
        if (!learned) return Unexpected(learned.error());
        devices[row.device] = learned->all();
    }
    std::map<std::string, ShareSpread> spreads;
    const auto operators = judgedOperators(judged, asked);
    for (std::size_t o = 0; o < operators.size(); ++o) {
        RankedOperator& one = judged.operators[o];
        if (!devices.contains(one.device)) continue;
        if (!spreads.contains(one.device)) {
            std::vector<UnseenOperator> others;
            for (const auto& [device, all] : devices)
                if (device != one.device) others.insert(others.end(), all.begin(), all.end());
            spreads[one.device] = ShareSpread(devices[one.device], std::move(others));
        }
        state(judged, one, operators[o], asked, spreads[one.device]);
    }
    noteWithout(judged);
    return {};
}

}  // namespace orrery
