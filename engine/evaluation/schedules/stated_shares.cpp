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
    one.stated = StatedShares{inside / static_cast<double>(places.size()), spread.chance(), spread.first(),
                              spread.ten(), spread.operators()};
}

void noteWithout(ScheduleJudgement& judged) {
    const auto without = std::count_if(judged.operators.begin(), judged.operators.end(),
                                       [](const RankedOperator& one) { return !one.stated; });
    if (without == 0) return;
    judged.notes.push_back(warning("schedules.few",
                                   fmt::format("no intervals of {} operators: too few others of their devices tell how "
                                               "far models are off",
                                               without),
                                   "two operators of a device, of ten schedules each, beside the judged one"));
}

Unexpected stopped() {
    return fail("study.cancelled", "the intervals were stopped");
}

// What was said of the operators of other devices than this one.
std::vector<UnseenOperator> ofOtherDevices(const ScheduleJudgement& judged, std::span<const TunedRow> rows,
                                           std::span<const Places> operators, const std::string& device) {
    std::vector<UnseenOperator> others;
    for (std::size_t o = 0; o < operators.size(); ++o) {
        if (judged.operators[o].device == device) continue;
        UnseenOperator unseen{{}, sharesOf(rows, operators[o])};
        for (const std::size_t i : operators[o]) unseen.told.push_back(judged.said[i]);
        others.push_back(std::move(unseen));
    }
    return others;
}

}  // namespace

Expected<void> stateLeftOut(ScheduleJudgement& judged, std::span<const TunedRow> rows,
                            const ScheduleTraining& options) {
    const auto operators = judgedOperators(judged, rows);
    struct Device {
        UnseenShares own;
        std::vector<UnseenOperator> others;
        std::map<std::size_t, ShareSpread> spreads;  // by the part that was left out: alike for its operators
    };
    std::map<std::string, Device> devices;
    for (std::size_t o = 0; o < operators.size(); ++o) {
        RankedOperator& one = judged.operators[o];
        if (!devices.contains(one.device)) {
            auto learned = UnseenShares::learn(rows, one.device, Without::TwoParts, options);
            if (!learned) return Unexpected(learned.error());
            devices[one.device] = {std::move(*learned), ofOtherDevices(judged, rows, operators, one.device), {}};
        }
        Device& device = devices[one.device];
        const std::size_t part = device.own.partOf(one.task, one.workload);
        if (!device.spreads.contains(part))
            device.spreads[part] = ShareSpread(device.own.beside(one.task, one.workload), device.others, options.stop);
        if (options.stop.stop_requested()) return stopped();
        state(judged, one, operators[o], rows, device.spreads[part]);
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
            spreads[one.device] = ShareSpread(devices[one.device], std::move(others), options.stop);
        }
        if (options.stop.stop_requested()) return stopped();
        state(judged, one, operators[o], asked, spreads[one.device]);
    }
    noteWithout(judged);
    return {};
}

}  // namespace orrery
