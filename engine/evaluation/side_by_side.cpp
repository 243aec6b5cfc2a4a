#include "evaluation/side_by_side.h"

#include "base/random.h"
#include "evaluation/assumptions.h"
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

/// Places of rows in an evaluation.
std::vector<std::size_t> placesOf(const EvaluatedRows& rows, std::span<const RowRef> wanted) {
    std::unordered_map<std::uint64_t, std::size_t> at;
    for (std::size_t i = 0; i < rows.size(); ++i) at.emplace(keyOf(rows.ref[i]), i);
    std::vector<std::size_t> places;
    places.reserve(wanted.size());
    for (const RowRef ref : wanted) places.push_back(at.at(keyOf(ref)));
    return places;
}

void bootstrap(std::vector<CommonFigures>& figures, const std::vector<std::vector<double>>& errors,
               std::uint64_t seed) {
    const std::size_t rows = errors.empty() ? 0 : errors.front().size();
    if (rows == 0) return;
    std::vector<std::vector<double>> means(errors.size());
    std::vector<double> sums(errors.size());
    std::vector<std::size_t> firsts(errors.size(), 0);
    std::size_t groups = 0;
    for (const CommonFigures& each : figures) groups = std::max(groups, each.group + 1);
    std::vector<std::size_t> least(groups);
    for (int draw = 0; draw < bootstrapDraws; ++draw) {
        RandomStream random(seed, static_cast<std::uint64_t>(draw));
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::size_t i = 0; i < rows; ++i) {
            const std::size_t row = random.below(rows);
            for (std::size_t m = 0; m < errors.size(); ++m) sums[m] += errors[m][row];
        }
        for (std::size_t m = 0; m < errors.size(); ++m) means[m].push_back(sums[m] / static_cast<double>(rows));
        std::fill(least.begin(), least.end(), sums.size());
        for (std::size_t m = 0; m < sums.size(); ++m) {
            std::size_t& first = least[figures[m].group];
            if (first == sums.size() || sums[m] < sums[first]) first = m;
        }
        for (const std::size_t first : least) ++firsts[first];
    }
    for (std::size_t m = 0; m < figures.size(); ++m) {
        std::sort(means[m].begin(), means[m].end());
        figures[m].mapeLow = means[m][bootstrapDraws / 20];
        figures[m].mapeHigh = means[m][bootstrapDraws - 1 - bootstrapDraws / 20];
        figures[m].firstShare = static_cast<double>(firsts[m]) / bootstrapDraws;
    }
}

}  // namespace

std::vector<bool> wideEnough(std::span<const std::size_t> priced) {
    const std::size_t most = priced.empty() ? 0 : *std::max_element(priced.begin(), priced.end());
    std::vector<bool> wide;
    for (const std::size_t rows : priced) wide.push_back(rows > 0 && 2 * rows >= most);
    return wide;
}

std::string groupLetter(std::size_t group) {
    constexpr std::size_t letters = 26;
    return group < letters ? std::string(1, static_cast<char>('A' + group)) : std::to_string(group + 1);
}

std::vector<std::vector<std::size_t>> frontsOf(std::span<const CostedError> methods) {
    std::vector<std::size_t> order;
    std::size_t groups = 0;
    for (std::size_t i = 0; i < methods.size(); ++i) {
        if (methods[i].apart) continue;
        order.push_back(i);
        groups = std::max(groups, methods[i].group + 1);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(methods[a].cost, methods[a].error) < std::pair(methods[b].cost, methods[b].error);
    });
    std::vector<std::vector<std::size_t>> fronts(groups);
    for (const std::size_t i : order) {
        auto& front = fronts[methods[i].group];
        if (front.empty() || methods[i].error < methods[front.back()].error) front.push_back(i);
    }
    return fronts;
}

std::vector<RowRef> pricedByAll(std::span<const Evaluation* const> evaluations, std::span<const RowRef> asked) {
    std::unordered_map<std::uint64_t, std::size_t> answers;
    for (const Evaluation* evaluation : evaluations) {
        for (const RowRef ref : evaluation->rows.ref) ++answers[keyOf(ref)];
    }
    std::vector<RowRef> common;
    for (const RowRef ref : asked) {
        const auto found = answers.find(keyOf(ref));
        if (found != answers.end() && found->second == evaluations.size()) common.push_back(ref);
    }
    return common;
}

CommonRows onCommonRows(std::span<const Evaluation* const> evaluations, std::span<const RowRef> asked,
                        std::span<const std::size_t> groups, std::uint64_t seed) {
    CommonRows common;
    common.rows = pricedByAll(evaluations, asked);
    std::vector<std::vector<double>> errors;
    for (const Evaluation* evaluation : evaluations) {
        const auto places = placesOf(evaluation->rows, common.rows);
        CommonFigures figures{figuresOf(evaluation->rows, places)};
        figures.figures.secondsPerAnswer = evaluation->figures.secondsPerAnswer;
        figures.figures.secondsLow = evaluation->figures.secondsLow;
        figures.figures.secondsHigh = evaluation->figures.secondsHigh;
        const std::size_t m = common.figures.size();
        figures.group = groups.empty() ? 0 : groups[m];
        figures.equals = groups.empty() ? evaluations.size()
                                        : static_cast<std::size_t>(std::count(groups.begin(), groups.end(), groups[m]));
        common.figures.push_back(std::move(figures));
        auto& own = errors.emplace_back();
        own.reserve(places.size());
        for (const std::size_t i : places) own.push_back(std::fabs(evaluation->rows.error(i)));
    }
    bootstrap(common.figures, errors, seed);
    common.ranking.resize(evaluations.size());
    std::iota(common.ranking.begin(), common.ranking.end(), std::size_t{0});
    std::stable_sort(common.ranking.begin(), common.ranking.end(), [&](std::size_t a, std::size_t b) {
        return common.figures[a].figures.errors.mape < common.figures[b].figures.errors.mape;
    });
    return common;
}

Expected<SideBySide> judgeSideBySide(std::span<const Contestant> contestants, std::span<const ReferenceTable> tables,
                                     std::span<const RowRef> rows, const EvaluateOptions& options, std::uint64_t seed) {
    SideBySide all;
    all.asked = rows.size();
    for (const Contestant& contestant : contestants) {
        EvaluateOptions own = options;
        own.options = contestant.options;
        JudgedMethod judged{contestant.asked, {}, {}, {}, {}, {}, false};
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

    std::vector<std::size_t> priced;
    for (const JudgedMethod& method : all.methods) priced.push_back(method.own ? method.own->rows.size() : 0);
    const std::vector<bool> wide = wideEnough(priced);
    std::vector<const Evaluation*> evaluations;
    std::vector<std::size_t> answering;
    for (std::size_t m = 0; m < all.methods.size(); ++m) {
        JudgedMethod& method = all.methods[m];
        method.compared = method.own && (wide[m] || contestants[m].always);
        if (method.own && !method.compared) method.common.figures = method.own->figures;
        if (!method.compared) continue;
        evaluations.push_back(&*all.methods[m].own);
        answering.push_back(m);
    }
    const auto shared = pricedByAll(evaluations, rows);
    std::vector<Assumptions> assumed;
    for (const std::size_t m : answering) {
        EvaluateOptions own = options;
        own.options = contestants[m].options;
        assumed.push_back(assumptionsOf(contestants[m].method.card, tables, shared, own));
        all.methods[m].clock = assumed.back()[static_cast<std::size_t>(Aspect::Clock)].value;
        all.methods[m].stack = assumed.back()[static_cast<std::size_t>(Aspect::Stack)].value;
    }
    CommonRows common =
        onCommonRows(evaluations, rows, options.asMeasured ? equalsOf(assumed) : std::vector<std::size_t>(), seed);
    all.common = std::move(common.rows);
    for (std::size_t i = 0; i < answering.size(); ++i) {
        all.methods[answering[i]].common = std::move(common.figures[i]);
        all.ranking.push_back(answering[common.ranking[i]]);
    }
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
        warnings.push_back(
            warning("calibration.all-fitted",
                    fmt::format("{}: {} has no held-out row, so rows of that kind may have been fitted", method, whole),
                    "choose other rows by --where, or --leave-device-out"));
    }
    if (left.empty()) {
        return fail("reference.empty-split", fmt::format("no row was held out when {} was fitted", method),
                    "rows that it was not fitted to", "give other references");
    }
    return left;
}

}  // namespace orrery
