#include "evaluation/edge/few_shot.h"

#include "base/random.h"
#include "evaluation/error_metrics.h"
#include "learning/edge/next_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace orrery {
namespace {

bool thereIs(double value) {
    return std::isfinite(value) && value > 0;
}

std::vector<std::size_t> fastest(std::span<const double> values, std::size_t count) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    order.resize(count);
    std::sort(order.begin(), order.end());
    return order;
}

}  // namespace

const EdgeTable& FewShot::sampled(const std::string& target) const {
    return known.target(target) < known.targets.size() ? known : asked;
}

std::vector<std::size_t> FewShot::rowsOf(const EdgeTable& table, const std::string& target,
                                         const std::optional<std::pair<double, double>>& range) const {
    std::vector<std::size_t> rows;
    const auto& values = table.values[table.target(target)];
    for (std::size_t r = 0; r < values.size(); ++r) {
        const bool inside = !range || (table.index[r] >= range->first && table.index[r] < range->second);
        if (inside && thereIs(values[r])) rows.push_back(r);
    }
    return rows;
}

std::vector<std::string> FewShot::judged() const {
    if (!protocol.targets.empty()) return protocol.targets;
    return {asked.targets.begin(), asked.targets.end() - static_cast<std::ptrdiff_t>(asked.besides)};
}

std::vector<std::string> FewShot::priorFor(const std::string& target) const {
    std::vector<std::string> names;
    if (!protocol.prior) return names;
    if (!protocol.priorTargets.empty()) {
        names = protocol.priorTargets;
    } else {
        for (const std::string& each : known.targets) {
            const bool own =
                std::find(protocol.targets.begin(), protocol.targets.end(), each) != protocol.targets.end();
            if (!own) names.push_back(each);
        }
    }
    const EdgeTable& table = sampled(target);
    std::erase_if(names, [&](const std::string& each) { return sameWhole(known, known.target(each), table, target); });
    return names;
}

bool sameWhole(const EdgeTable& known, std::size_t other, const EdgeTable& table, std::string_view target) {
    if (other >= known.targets.size()) return false;
    if (known.targets[other] == target) return true;
    const std::size_t own = table.target(target);
    return own < table.groups.size() && other < known.groups.size() && known.groups[other] == table.groups[own];
}

std::vector<std::size_t> FewShot::pool(const std::string& target, bool trimmed) const {
    const EdgeTable& table = sampled(target);
    auto rows = rowsOf(table, target, protocol.pool);
    if (!trimmed || protocol.trim == 0) return rows;
    const auto& values = table.values[table.target(target)];
    std::sort(rows.begin(), rows.end(),
              [&](std::size_t a, std::size_t b) { return values[a] != values[b] ? values[a] < values[b] : a < b; });
    const auto cut = static_cast<std::ptrdiff_t>(protocol.trim * static_cast<double>(rows.size()));
    rows.assign(rows.begin() + cut, rows.end() - cut);
    return rows;
}

std::vector<std::size_t> FewShot::draw(const std::string& target, std::size_t repeat) const {
    const EdgeTable& table = sampled(target);
    auto rows = pool(target, protocol.references.empty());
    if (!protocol.references.empty()) {
        std::vector<std::size_t> named;
        for (const std::string& name : protocol.references) {
            const auto found =
                std::find_if(rows.begin(), rows.end(), [&](std::size_t r) { return table.networks[r] == name; });
            if (found != rows.end()) named.push_back(*found);
        }
        return named;
    }
    RandomStream random = RandomStream(protocol.seed).split(repeat);
    const std::size_t count = std::min(protocol.samples, rows.size());
    for (std::size_t i = 0; i < count; ++i) std::swap(rows[i], rows[i + random.below(rows.size() - i)]);
    rows.resize(count);
    return rows;
}

std::string_view toText(EdgeDoubt doubt) {
    constexpr std::array<std::string_view, 3> words{"inside", "outside", "wide"};
    return words[static_cast<std::size_t>(doubt)];
}

std::pair<Predicted, EdgeDoubt> toldWithDoubt(const DeviceModel& model, std::span<const double> features) {
    const Predicted told = model.at(features);
    return {told, model.outside(features) > 1 ? EdgeDoubt::Outside
                  : model.doubtful(told)      ? EdgeDoubt::Wide
                                              : EdgeDoubt::None};
}

std::optional<Diagnostic> levelNote(const LevelSteps& levels, std::string_view target) {
    const auto begins = levels.begins();
    if (begins.empty()) return std::nullopt;
    constexpr std::size_t shown = 6;
    std::string rows;
    for (std::size_t i = 0; i < std::min(shown, begins.size()); ++i)
        rows += fmt::format("{}{}", i > 0 ? ", " : "", begins[i]);
    if (begins.size() > shown) rows += ", …";
    return warning("edge.level-steps",
                   fmt::format("{}: all its networks became slower or faster at {} {}", target,
                               begins.size() > 1 ? "rows" : "row", rows),
                   "a clock, a driver or another program changed: keep it as it is while you measure");
}

EdgeJudgement judgeEdgeRows(std::span<const EdgePrediction> rows, std::span<const double> simple) {
    EdgeJudgement out;
    std::vector<double> told, measured;
    double inside = 0, within = 0, far = 0, flagged = 0, both = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const EdgePrediction& row = rows[i];
        const Predicted& said = row.predicted;
        told.push_back(said.mean);
        measured.push_back(row.measured);
        inside += row.measured >= said.low && row.measured <= said.high ? 1 : 0;
        const double ratio = said.mean / row.measured;
        within += std::abs(ratio - 1) < 0.1 ? 1 : 0;
        const bool flag = row.doubt != EdgeDoubt::None;
        const bool isFar = ratio > 2 || ratio < 0.5;
        flagged += flag ? 1 : 0;
        far += isFar ? 1 : 0;
        both += flag && isFar ? 1 : 0;
    }
    const double count = static_cast<double>(rows.size());
    const ErrorSummary summary = summarise(told, measured);
    out.rows = rows.size();
    out.mape = summary.mape;
    out.median = summary.medianError;
    out.spearman = summary.spearman;
    out.within10 = within / count;
    out.coverage = inside / count;
    out.flags = {far, flagged, both};
    std::vector<double> plain, of;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (std::isfinite(simple[i])) plain.push_back(simple[i]), of.push_back(rows[i].measured);
    if (!plain.empty()) {
        const ErrorSummary other = summarise(plain, of);
        out.simpleMape = other.mape;
        out.simpleMedian = other.medianError;
        out.simpleSpearman = other.spearman;
    }
    const std::size_t tenth = std::max<std::size_t>(1, rows.size() / 10);
    const auto a = fastest(told, tenth), b = fastest(measured, tenth);
    std::vector<std::size_t> common;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
    out.top = static_cast<double>(common.size()) / static_cast<double>(tenth);
    return out;
}

}  // namespace orrery
