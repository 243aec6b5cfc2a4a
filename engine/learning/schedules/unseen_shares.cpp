#include "learning/schedules/unseen_shares.h"

#include <algorithm>
#include <limits>

namespace orrery {
namespace {

constexpr std::size_t mostParts = 8, fewestSchedules = 10;

// Operators of the device that ScheduleRanks learns from.
std::vector<std::vector<std::size_t>> learnable(std::span<const TunedRow> rows, const std::string& device) {
    std::vector<std::vector<std::size_t>> kept;
    for (auto& places : operatorsOf(rows)) {
        if (rows[places.front()].device != device || places.size() < fewestSchedules) continue;
        if (std::any_of(places.begin(), places.end(), [&](std::size_t i) { return rows[i].seconds > 0; }))
            kept.push_back(std::move(places));
    }
    return kept;
}

std::size_t partsOf(std::size_t operators, UnseenShares::Without what) {
    const std::size_t least = what == UnseenShares::Without::Part ? 2 : 3;
    return operators < least ? 0 : std::min(operators, mostParts);
}

}  // namespace

std::vector<double> sharesOf(std::span<const TunedRow> rows, std::span<const std::size_t> places) {
    double best = std::numeric_limits<double>::infinity();
    for (const std::size_t i : places)
        if (rows[i].seconds > 0) best = std::min(best, rows[i].seconds);
    std::vector<double> shares;
    for (const std::size_t i : places) shares.push_back(rows[i].seconds > 0 ? best / rows[i].seconds : 0);
    return shares;
}

std::size_t UnseenShares::fits(std::span<const TunedRow> rows, const std::string& device, Without what) {
    const std::size_t parts = partsOf(learnable(rows, device).size(), what);
    return what == Without::Part || parts == 0 ? parts : parts * (parts - 1) / 2;
}

Expected<UnseenShares> UnseenShares::learn(std::span<const TunedRow> rows, const std::string& device, Without what,
                                           const ScheduleTraining& options) {
    const auto operators = learnable(rows, device);
    UnseenShares out;
    out.parts_ = partsOf(operators.size(), what);
    if (out.parts_ == 0) return out;
    for (std::size_t o = 0; o < operators.size(); ++o) {
        const TunedRow& row = rows[operators[o].front()];
        out.operators_.push_back({row.task, row.workload, o % out.parts_, sharesOf(rows, operators[o]), {}});
        out.operators_.back().told.resize(what == Without::Part ? 1 : out.parts_);
    }
    ScheduleTraining training = options;
    training.device = device;
    // What a model without the parts `a` and `b` says of those in `asked`, kept at `at`.
    const auto ask = [&](const ScheduleRanks& model, std::size_t asked, std::size_t at) {
        for (std::size_t o = 0; o < operators.size(); ++o) {
            if (out.operators_[o].part != asked) continue;
            for (const std::size_t i : operators[o]) out.operators_[o].told[at].push_back(model.share(rows[i]));
        }
    };
    for (std::size_t a = 0; a < out.parts_; ++a) {
        for (std::size_t b = what == Without::Part ? a : a + 1; b < (what == Without::Part ? a + 1 : out.parts_); ++b) {
            std::vector<TunedRow> from;
            for (std::size_t o = 0; o < operators.size(); ++o) {
                if (const std::size_t part = out.operators_[o].part; part == a || part == b) continue;
                for (const std::size_t i : operators[o]) from.push_back(rows[i]);
            }
            const auto model = ScheduleRanks::fit(from, training);
            if (!model) return Unexpected(model.error());
            if (what == Without::Part) {
                ask(*model, a, 0);
            } else {
                ask(*model, a, b), ask(*model, b, a);
            }
        }
    }
    return out;
}

std::vector<UnseenOperator> UnseenShares::all() const {
    std::vector<UnseenOperator> found;
    for (const Operator& each : operators_) found.push_back({each.told.front(), each.share});
    return found;
}

std::size_t UnseenShares::partOf(const std::string& task, const std::string& workload) const {
    const auto own = std::find_if(operators_.begin(), operators_.end(),
                                  [&](const Operator& each) { return each.task == task && each.workload == workload; });
    return own == operators_.end() ? parts_ : own->part;
}

std::vector<UnseenOperator> UnseenShares::beside(const std::string& task, const std::string& workload) const {
    std::vector<UnseenOperator> found;
    const std::size_t own = partOf(task, workload);
    if (own == parts_) return found;
    for (const Operator& each : operators_)
        if (each.part != own) found.push_back({each.told[own], each.share});
    return found;
}

}  // namespace orrery
