#include "evaluation/evaluation.h"

#include "evaluation/families.h"
#include "evaluation/repeatability.h"
#include "evaluation/row_pricing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace orrery {

namespace {

constexpr std::array<std::string_view, errorClassCount> sizeNames{"under 10 us", "10 to 100 us", "100 us to 1 ms",
                                                                  "over 1 ms"};

using GroupKey = std::tuple<std::string, int, std::string, int>;  // device, kind, variant, size

GroupKey keyOf(std::span<const ReferenceTable> tables, RowRef ref) {
    const auto& table = tables[static_cast<std::size_t>(ref.table)];
    const auto& row = table.rows[static_cast<std::size_t>(ref.row)];
    return {table.devices[static_cast<std::size_t>(row.device)].catalogue, static_cast<int>(row.kernel.kind),
            kernelVariant(row.kernel), errorClass(row.seconds)};
}

EvaluationGroup groupOf(const GroupKey& key, const EvaluatedRows& rows, const std::vector<std::size_t>& chosen) {
    const auto& [device, kind, variant, size] = key;
    return {device, std::string(toText(static_cast<KernelKind>(kind))), variant,
            size < 0 ? std::string() : std::string(sizeNames[static_cast<std::size_t>(size)]), figuresOf(rows, chosen)};
}

}  // namespace

std::vector<EvaluationGroup> familiesOf(const EvaluatedRows& rows, std::span<const ReferenceTable> tables,
                                        std::span<const std::size_t> chosen) {
    std::map<GroupKey, std::vector<std::size_t>> families;
    for (const std::size_t i : chosen) {
        auto key = keyOf(tables, rows.ref[i]);
        std::get<3>(key) = -1;
        families[std::move(key)].push_back(i);
    }
    std::vector<EvaluationGroup> all;
    for (const auto& [key, members] : families) all.push_back(groupOf(key, rows, members));
    return all;
}

namespace {

void fillGroups(Evaluation& evaluation, std::span<const ReferenceTable> tables) {
    std::map<GroupKey, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < evaluation.rows.size(); ++i)
        groups[keyOf(tables, evaluation.rows.ref[i])].push_back(i);
    for (const auto& [key, chosen] : groups) evaluation.groups.push_back(groupOf(key, evaluation.rows, chosen));
    std::vector<std::size_t> all(evaluation.rows.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    evaluation.families = familiesOf(evaluation.rows, tables, all);
}

void fillFloors(EvaluatedRows& rows, std::span<const ReferenceTable> tables) {
    std::map<std::int32_t, std::vector<float>> floors;
    for (const RowRef ref : rows.ref) {
        auto found = floors.find(ref.table);
        if (found == floors.end())
            found = floors.emplace(ref.table, floorsOf(tables[static_cast<std::size_t>(ref.table)])).first;
        rows.floor.push_back(found->second[static_cast<std::size_t>(ref.row)]);
    }
}

void fillWorst(Evaluation& evaluation, std::size_t count) {
    std::vector<std::size_t> order(evaluation.rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto most = std::min(count, order.size());
    // Too short by half is as wrong as too long by twice, so ratios are compared and not differences.
    const auto wrong = [&](std::size_t i) {
        return std::fabs(std::log(evaluation.rows.predicted[i] / evaluation.rows.measured[i]));
    };
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                      [&](std::size_t a, std::size_t b) {
                          const double x = wrong(a);
                          const double y = wrong(b);
                          return x != y ? x > y : a < b;
                      });
    order.resize(most);
    evaluation.worst = std::move(order);
}

}  // namespace

std::vector<RowRef> selectRows(std::span<const ReferenceTable> tables, const ReferenceFilter& filter) {
    std::vector<RowRef> chosen;
    for (std::size_t t = 0; t < tables.size(); ++t) {
        for (std::size_t r = 0; r < tables[t].rows.size(); ++r) {
            if (!filter.accepts(tables[t], tables[t].rows[r])) continue;
            chosen.push_back({static_cast<std::int32_t>(t), static_cast<std::int32_t>(r)});
        }
    }
    return chosen;
}

std::string rowText(std::span<const ReferenceTable> tables, RowRef ref) {
    const auto& table = tables[static_cast<std::size_t>(ref.table)];
    const auto& row = table.rows[static_cast<std::size_t>(ref.row)];
    const auto& device = table.devices[static_cast<std::size_t>(row.device)];
    return fmt::format("{} on {} ({}:{})", toText(row.kernel),
                       device.catalogue.empty() ? device.name : device.catalogue,
                       table.file.substr(table.file.find_last_of('/') + 1), row.line);
}

EvaluationFigures figuresOf(const EvaluatedRows& rows, std::span<const std::size_t> chosen) {
    EvaluationFigures figures;
    std::vector<double> predicted;
    std::vector<double> measured;
    std::vector<double> widths;
    std::size_t inside = 0;
    for (const std::size_t i : chosen) {
        predicted.push_back(rows.predicted[i]);
        measured.push_back(rows.measured[i]);
        inside += rows.measured[i] >= rows.low[i] && rows.measured[i] <= rows.high[i] ? 1 : 0;
        if (i < rows.floor.size() && rows.floor[i] >= 0) {
            figures.floor += static_cast<double>(rows.floor[i]);
            ++figures.floorRows;
        }
        widths.push_back((rows.high[i] - rows.low[i]) / 2 / rows.predicted[i]);
        const bool wrong = rows.predicted[i] > 2 * rows.measured[i] || rows.measured[i] > 2 * rows.predicted[i];
        figures.wrong += wrong ? 1 : 0;
        if (rows.domain[i] != DomainVerdict::Outside) continue;
        figures.wrongFlagged += wrong ? 1 : 0;
        ++figures.flagged;
        figures.flaggedMape += std::fabs(rows.error(i));
    }
    figures.errors = summarise(predicted, measured);
    if (!chosen.empty()) figures.coverage90 = static_cast<double>(inside) / static_cast<double>(chosen.size());
    if (!widths.empty()) {
        const auto middle = widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2);
        std::nth_element(widths.begin(), middle, widths.end());
        figures.halfWidth = *middle;
    }
    if (figures.floorRows > 0) figures.floor /= static_cast<double>(figures.floorRows);
    if (figures.flagged > 0) figures.flaggedMape /= static_cast<double>(figures.flagged);
    return figures;
}

Evaluation evaluationOf(std::string method, std::string version, EvaluatedRows rows,
                        std::span<const ReferenceTable> tables, std::size_t worst) {
    Evaluation evaluation;
    evaluation.method = std::move(method);
    evaluation.version = std::move(version);
    evaluation.rows = std::move(rows);
    fillFloors(evaluation.rows, tables);
    std::vector<std::size_t> all(evaluation.rows.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    evaluation.figures = figuresOf(evaluation.rows, all);
    fillGroups(evaluation, tables);
    fillWorst(evaluation, worst);
    return evaluation;
}

Expected<Evaluation> evaluate(const Method& method, std::span<const ReferenceTable> tables,
                              std::span<const RowRef> rows, const EvaluateOptions& options) {
    Diagnostics warnings;
    if (options.progress) options.progress->setTotal(rows.size());
    auto priced = priceRows(method, tables, rows, options, warnings);
    if (!priced) return tl::unexpected(std::move(priced.error()));
    Evaluation evaluation = evaluationOf(std::string(method.card.id), std::string(method.card.version),
                                         std::move(priced->rows), tables, options.worst);
    evaluation.notCovered = priced->notCovered;
    evaluation.warnings = std::move(warnings);
    if (evaluation.notCovered > 0) {
        evaluation.warnings.push_back(warning("evaluation.not-covered",
                                              fmt::format("{} does not predict {} of {} rows; they are in no figure",
                                                          method.card.id, evaluation.notCovered, rows.size()),
                                              "choose rows that it covers with --where"));
    }
    if (evaluation.rows.size() == 0) {
        return fail("evaluation.not-covered",
                    fmt::format("{} predicts none of the {} rows", method.card.id, rows.size()),
                    "rows that the method covers", "choose other rows with --where, or another method");
    }
    std::tie(evaluation.figures.secondsLow, evaluation.figures.secondsPerAnswer, evaluation.figures.secondsHigh) =
        std::tuple_cat(priced->seconds);
    return evaluation;
}

}  // namespace orrery
