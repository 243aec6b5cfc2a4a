#include "evaluation/side_by_side.h"

#include "base/random.h"
#include "evaluation/holdout.h"
#include "learning/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_map>

namespace orrery {

namespace {

std::uint64_t keyOf(RowRef ref) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(ref.table)) << 32) |
           static_cast<std::uint32_t>(ref.row);
}

// In the order of the question, whatever order a method answers in.
std::vector<RowRef> pricedByAll(const std::vector<JudgedMethod>& methods, std::span<const RowRef> rows) {
    std::unordered_map<std::uint64_t, std::size_t> answers;
    std::size_t answering = 0;
    for (const JudgedMethod& method : methods) {
        if (!method.own) continue;
        ++answering;
        for (const RowRef ref : method.own->rows.ref) ++answers[keyOf(ref)];
    }
    std::vector<RowRef> common;
    for (const RowRef ref : rows) {
        const auto found = answers.find(keyOf(ref));
        if (found != answers.end() && found->second == answering) common.push_back(ref);
    }
    return common;
}

/// Places of rows in an evaluation.
std::vector<std::size_t> placesOf(const EvaluatedRows& rows, std::span<const RowRef> wanted) {
    std::unordered_map<std::uint64_t, std::size_t> at;
    for (std::size_t i = 0; i < rows.size(); ++i) at.emplace(keyOf(rows.ref[i]), i);
    std::vector<std::size_t> places;
    places.reserve(wanted.size());
    for (const RowRef ref : wanted) places.push_back(at.at(keyOf(ref)));
    return places;
}

void bootstrap(std::vector<JudgedMethod>& methods, const std::vector<std::vector<double>>& errors, std::uint64_t seed) {
    const std::size_t rows = errors.empty() ? 0 : errors.front().size();
    if (rows == 0) return;
    std::vector<std::vector<double>> means(errors.size());
    std::vector<double> sums(errors.size());
    std::vector<std::size_t> firsts(errors.size(), 0);
    for (int draw = 0; draw < bootstrapDraws; ++draw) {
        RandomStream random(seed, static_cast<std::uint64_t>(draw));
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::size_t i = 0; i < rows; ++i) {
            const std::size_t row = random.below(rows);
            for (std::size_t m = 0; m < errors.size(); ++m) sums[m] += errors[m][row];
        }
        for (std::size_t m = 0; m < errors.size(); ++m) means[m].push_back(sums[m] / static_cast<double>(rows));
        ++firsts[static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin())];
    }
    std::size_t m = 0;
    for (JudgedMethod& method : methods) {
        if (!method.own) continue;
        std::sort(means[m].begin(), means[m].end());
        method.mapeLow = means[m][bootstrapDraws / 20];
        method.mapeHigh = means[m][bootstrapDraws - 1 - bootstrapDraws / 20];
        method.firstShare = static_cast<double>(firsts[m]) / bootstrapDraws;
        ++m;
    }
}

}  // namespace

Expected<SideBySide> judgeSideBySide(std::span<const Contestant> contestants, std::span<const ReferenceTable> tables,
                                     std::span<const RowRef> rows, const EvaluateOptions& options, std::uint64_t seed) {
    SideBySide all;
    all.asked = rows.size();
    for (const Contestant& contestant : contestants) {
        EvaluateOptions own = options;
        own.options = contestant.options;
        JudgedMethod judged{contestant.asked, {}, {}, {}};
        auto evaluation = evaluate(contestant.method, tables, rows, own);
        if (options.stop.stop_requested())
            return fail("study.cancelled", "the comparison was stopped before it was done");
        if (evaluation) {
            judged.own = std::move(*evaluation);
        } else {
            judged.refusal = std::move(evaluation.error());
        }
        all.methods.push_back(std::move(judged));
    }
    const bool anybody = std::any_of(all.methods.begin(), all.methods.end(), [](const auto& m) { return m.own; });
    if (!anybody && !all.methods.empty()) return Unexpected(*all.methods.front().refusal);

    all.common = pricedByAll(all.methods, rows);
    std::vector<std::vector<double>> errors;
    for (std::size_t m = 0; m < all.methods.size(); ++m) {
        JudgedMethod& method = all.methods[m];
        if (!method.own) continue;
        const auto places = placesOf(method.own->rows, all.common);
        method.common = figuresOf(method.own->rows, places);
        method.common.secondsPerAnswer = method.own->figures.secondsPerAnswer;
        auto& own = errors.emplace_back();
        own.reserve(places.size());
        for (const std::size_t i : places) own.push_back(std::fabs(method.own->rows.error(i)));
        all.ranking.push_back(m);
    }
    bootstrap(all.methods, errors, seed);
    std::stable_sort(all.ranking.begin(), all.ranking.end(), [&](std::size_t a, std::size_t b) {
        return all.methods[a].common.errors.mape < all.methods[b].common.errors.mape;
    });
    return all;
}

Expected<std::vector<RowRef>> heldOutRows(const CalibrationSet& calibrations, std::string_view method,
                                          std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                                          Diagnostics& warnings) {
    std::set<KernelKind> kinds;
    for (const RowRef ref : rows) {
        kinds.insert(tables[static_cast<std::size_t>(ref.table)].rows[static_cast<std::size_t>(ref.row)].kernel.kind);
    }
    std::set<std::string> splits;
    std::string whole;
    for (const auto& calibration : calibrations.all()) {
        if (calibration->method != method) continue;
        for (const CalibrationSection& section : calibration->sections) {
            if (!kinds.contains(section.kind)) continue;
            if (!readHoldout(section.split)) {
                whole += fmt::format("{}{} {}", whole.empty() ? "" : ", ", toText(section.kind), section.variant);
            } else {
                splits.insert(section.split);
            }
        }
    }
    std::vector<RowRef> left(rows.begin(), rows.end());
    for (const std::string& split : splits) left = testedRows(tables, left, *readHoldout(split));
    if (!whole.empty()) {
        warnings.push_back(warning("calibration.all-fitted",
                                   fmt::format("{}: {} kept no row for a test, so rows of that kind may have been "
                                               "fitted",
                                               method, whole),
                                   "choose other rows by --where, or --leave-device-out"));
    }
    if (left.empty()) {
        return fail("reference.empty-split", fmt::format("no row was held out when {} was fitted", method),
                    "rows that it was not fitted to", "give other references");
    }
    return left;
}

}  // namespace orrery
