#include "evaluation/evaluation_export.h"

#include "base/text/csv_cell.h"
#include "base/text/latex_table.h"
#include "evaluation/repeatability.h"
#include "learning/off_by_two.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <set>
#include <utility>

namespace orrery {

namespace {

using Json = nlohmann::ordered_json;

void addFigures(Json& json, const EvaluationFigures& figures) {
    const ErrorSummary& e = figures.errors;
    json["rows"] = e.rows;
    json["mape"] = e.mape;
    json["median_ape"] = e.medianError;
    json["p90_ape"] = e.p90Error;
    json["bias"] = e.bias;
    json["kendall_tau"] = e.kendall;
    json["coverage90"] = figures.coverage90;
    json["flagged_out_of_domain"] = figures.flagged;
    json["half_width"] = figures.halfWidth;
    json["off_by_two"] = figures.wrong;
    json["off_by_two_flagged"] = figures.wrongFlagged;
    if (e.rows > figures.wrong)
        json["false_alarms"] =
            static_cast<double>(figures.flagged - figures.wrongFlagged) / static_cast<double>(e.rows - figures.wrong);
    if (figures.flagged > 0)
        json["flagged_off_by_two"] = static_cast<double>(figures.wrongFlagged) / static_cast<double>(figures.flagged);
    json["rmse_s"] = e.rmse;
    json["spearman_rho"] = e.spearman;
    if (figures.floorRows > 0) {
        json["floor"] = figures.floor;
        json["floor_rows"] = figures.floorRows;
    }
}

Json groupJson(const EvaluationGroup& group) {
    Json json{{"device", group.device}, {"kind", group.kind}, {"variant", group.variant}};
    if (!group.size.empty()) json["size"] = group.size;
    addFigures(json, group.figures);
    return json;
}

const ReferenceTable& tableOf(std::span<const ReferenceTable> tables, RowRef ref) {
    return tables[static_cast<std::size_t>(ref.table)];
}
const ReferenceRow& rowOf(std::span<const ReferenceTable> tables, RowRef ref) {
    return tableOf(tables, ref).rows[static_cast<std::size_t>(ref.row)];
}

Json warningsJson(const Diagnostics& warnings) {
    Json list = Json::array();
    for (const auto& each : warnings) {
        Json json{{"severity", toText(each.severity)}, {"code", each.code}, {"message", each.message}};
        if (!each.hint.empty()) json["hint"] = each.hint;
        if (const auto place = toText(each.place); !place.empty()) json["place"] = place;
        list.push_back(std::move(json));
    }
    return list;
}

constexpr std::string_view csvHead =
    "device,kind,variant,kernel,measured_s,predicted_s,low_s,high_s,error,flops,bytes,domain,chance_off_by_two,file,"
    "line\n";

std::string csvLine(const EvaluatedRows& rows, std::size_t i, std::span<const ReferenceTable> tables) {
    const auto& row = rowOf(tables, rows.ref[i]);
    const auto& table = tableOf(tables, rows.ref[i]);
    const double chance = chanceOffByTwo(rows.predicted[i], rows.low[i], rows.high[i]);
    return fmt::format("{},{},{},{},{:.8g},{:.8g},{:.8g},{:.8g},{:.6g},{:.8g},{:.8g},{},{},{},{}\n",
                       table.devices[static_cast<std::size_t>(row.device)].catalogue, toText(row.kernel.kind),
                       csvCell(kernelVariant(row.kernel)), csvCell(toText(row.kernel)), rows.measured[i],
                       rows.predicted[i], rows.low[i], rows.high[i], rows.error(i), rows.flops[i], rows.bytes[i],
                       toText(rows.domain[i]), std::isnan(chance) ? std::string() : fmt::format("{:.3g}", chance),
                       csvCell(table.file), row.line);
}

Json referencesJson(std::span<const ReferenceTable> tables) {
    Json list = Json::array();
    for (const auto& table : tables) {
        list.push_back({{"name", table.name},
                        {"file", table.file},
                        {"source", table.source},
                        {"licence", table.licence},
                        {"software", table.software},
                        {"kind", toText(table.kind)},
                        {"hash", table.hash}});
        if (const auto known = repeatabilityOf(table); known.rows > 0) {
            list.back()["repeatability"] = {{"rows", known.rows}, {"repeated", known.repeated},
                                            {"mean", known.mean}, {"median", known.median},
                                            {"p90", known.p90},   {"worst", known.worst}};
        }
    }
    return list;
}

}  // namespace

double expectedOffByTwo(const EvaluatedRows& rows) {
    double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double chance = chanceOffByTwo(rows.predicted[i], rows.low[i], rows.high[i]);
        if (chance > 0) sum += chance;
    }
    return sum;
}

std::string evaluationJson(const Evaluation& evaluation, std::span<const ReferenceTable> tables,
                           const EvaluationContext& context) {
    Json json{{"format", "orrery-evaluation"}, {"version", 1}, {"method", evaluation.method}};
    json["method_version"] = evaluation.version;
    json["calibrations"] = context.calibrations;
    if (!context.where.empty()) json["where"] = context.where;
    if (!context.split.empty()) json["split"] = context.split;
    addFigures(json, evaluation.figures);
    json["flagged_mape"] = evaluation.figures.flaggedMape;
    json["off_by_two_expected"] = expectedOffByTwo(evaluation.rows);
    json["not_covered"] = evaluation.notCovered;
    json["seconds_per_answer"] = evaluation.figures.secondsPerAnswer;
    json["groups"] = Json::array();
    for (const auto& family : evaluation.families) {
        Json group = groupJson(family);
        group["sizes"] = Json::array();
        for (const auto& size : evaluation.groups) {
            const bool mine =
                size.device == family.device && size.kind == family.kind && size.variant == family.variant;
            if (mine) group["sizes"].push_back(groupJson(size));
        }
        json["groups"].push_back(std::move(group));
    }
    json["worst"] = Json::array();
    for (const auto i : evaluation.worst) {
        const auto& rows = evaluation.rows;
        json["worst"].push_back({{"kernel", toText(rowOf(tables, rows.ref[i]).kernel)},
                                 {"file", tableOf(tables, rows.ref[i]).file},
                                 {"line", rowOf(tables, rows.ref[i]).line},
                                 {"measured_s", rows.measured[i]},
                                 {"predicted_s", rows.predicted[i]},
                                 {"error", rows.error(i)}});
    }
    json["references"] = referencesJson(tables);
    json["warnings"] = warningsJson(evaluation.warnings);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string evaluationCsv(const Evaluation& evaluation, std::span<const ReferenceTable> tables) {
    std::string out(csvHead);
    for (std::size_t i = 0; i < evaluation.rows.size(); ++i) out += csvLine(evaluation.rows, i, tables);
    return out;
}

std::string sideBySideJson(const SideBySide& all, std::span<const ReferenceTable> tables,
                           const EvaluationContext& context) {
    Json json{{"format", "orrery-side-by-side"}, {"version", 1}};
    json["calibrations"] = context.calibrations;
    json["where"] = context.where;
    if (!context.split.empty()) json["split"] = context.split;
    json["rows_asked"] = all.asked;
    json["rows_common"] = all.common.size();
    json["methods"] = Json::array();
    for (const JudgedMethod& method : all.methods) {
        Json one{{"method", method.asked}};
        if (method.refusal) {
            one["refusal"] = {{"code", method.refusal->code}, {"message", method.refusal->message}};
        } else {
            one["method_version"] = method.own->version;
            one["compared"] = method.compared;
            if (method.compared) {
                addFigures(one, method.common.figures);
                one["mape_low"] = method.common.mapeLow;
                one["mape_high"] = method.common.mapeHigh;
                one["first_share"] = method.common.firstShare;
                one["equals"] = method.common.equals;
                one["group"] = method.common.group;
                one["clock"] = method.clock;
                one["stack"] = method.stack;
            }
            one["seconds_per_answer"] = method.common.figures.secondsPerAnswer;
            one["seconds_low"] = method.common.figures.secondsLow;
            one["seconds_high"] = method.common.figures.secondsHigh;
            Json own;
            addFigures(own, method.own->figures);
            own["not_covered"] = method.own->notCovered;
            one["own_rows"] = std::move(own);
        }
        json["methods"].push_back(std::move(one));
    }
    json["ranking"] = Json::array();
    for (const std::size_t i : all.ranking) json["ranking"].push_back(all.methods[i].asked);
    json["references"] = referencesJson(tables);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string sideBySideCsv(const SideBySide& all, std::span<const ReferenceTable> tables) {
    std::string out = "method,common,";
    out += csvHead;
    const std::set<std::pair<std::int32_t, std::int32_t>> common = [&] {
        std::set<std::pair<std::int32_t, std::int32_t>> made;
        for (const RowRef ref : all.common) made.emplace(ref.table, ref.row);
        return made;
    }();
    for (const JudgedMethod& method : all.methods) {
        if (!method.own) continue;
        const EvaluatedRows& rows = method.own->rows;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const bool shared = method.compared && common.contains({rows.ref[i].table, rows.ref[i].row});
            out += fmt::format("{},{},{}", csvCell(method.asked), shared ? 1 : 0, csvLine(rows, i, tables));
        }
    }
    return out;
}

std::string sideBySideTex(const SideBySide& all) {
    std::string out =
        fmt::format("% {} of {} rows are priced by every compared method\n", all.common.size(), all.asked) +
        "\\begin{tabular}{lrrrrrrr}\n\\toprule\nMethod & Mean & 90\\,\\% of it & First in & Median & p90 & Inside & "
        "Answer \\\\\n & \\% & \\% & \\% & \\% & \\% & \\% & \\textmu s \\\\\n\\midrule\n";
    for (const std::size_t m : all.ranking) {
        const CommonFigures& common = all.methods[m].common;
        const ErrorSummary& e = common.figures.errors;
        // First of nobody, where no other holds the same.
        const bool alone = common.equals == 1 && all.ranking.size() > 1;
        out += fmt::format("{} & {:.1f} & {:.1f}--{:.1f} & {} & {:.1f} & {:.1f} & {:.0f} & {} \\\\\n",
                           latexText(all.methods[m].asked), 100 * e.mape, 100 * common.mapeLow, 100 * common.mapeHigh,
                           alone ? std::string("--") : fmt::format("{:.0f}", 100 * common.firstShare),
                           100 * e.medianError, 100 * e.p90Error, 100 * common.figures.coverage90,
                           latexNumber(1e6 * common.figures.secondsPerAnswer));
    }
    return out + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace orrery
