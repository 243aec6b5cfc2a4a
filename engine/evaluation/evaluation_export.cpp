#include "evaluation/evaluation_export.h"

#include "evaluation/repeatability.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

std::string quoted(std::string text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) out.append(c == '"' ? "\"\"" : std::string(1, c));
    return out + "\"";
}

}  // namespace

std::string evaluationJson(const Evaluation& evaluation, std::span<const ReferenceTable> tables,
                           const EvaluationContext& context) {
    Json json{{"format", "orrery-evaluation"}, {"version", 1}, {"method", evaluation.method}};
    json["method_version"] = evaluation.version;
    json["calibrations"] = context.calibrations;
    if (!context.where.empty()) json["where"] = context.where;
    if (!context.split.empty()) json["split"] = context.split;
    addFigures(json, evaluation.figures);
    json["flagged_mape"] = evaluation.figures.flaggedMape;
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
    json["references"] = Json::array();
    for (const auto& table : tables) {
        json["references"].push_back({{"name", table.name},
                                      {"file", table.file},
                                      {"source", table.source},
                                      {"licence", table.licence},
                                      {"software", table.software},
                                      {"kind", toText(table.kind)},
                                      {"hash", table.hash}});
        if (const auto known = repeatabilityOf(table); known.rows > 0) {
            json["references"].back()["repeatability"] = {{"rows", known.rows}, {"repeated", known.repeated},
                                                          {"mean", known.mean}, {"median", known.median},
                                                          {"p90", known.p90},   {"worst", known.worst}};
        }
    }
    json["warnings"] = warningsJson(evaluation.warnings);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string evaluationCsv(const Evaluation& evaluation, std::span<const ReferenceTable> tables) {
    std::string out =
        "device,kind,variant,kernel,measured_s,predicted_s,low_s,high_s,error,flops,bytes,domain,file,line\n";
    const auto& rows = evaluation.rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& row = rowOf(tables, rows.ref[i]);
        const auto& table = tableOf(tables, rows.ref[i]);
        out += fmt::format("{},{},{},{},{:.8g},{:.8g},{:.8g},{:.8g},{:.6g},{:.8g},{:.8g},{},{},{}\n",
                           table.devices[static_cast<std::size_t>(row.device)].catalogue, toText(row.kernel.kind),
                           quoted(kernelVariant(row.kernel)), quoted(toText(row.kernel)), rows.measured[i],
                           rows.predicted[i], rows.low[i], rows.high[i], rows.error(i), rows.flops[i], rows.bytes[i],
                           toText(rows.domain[i]), quoted(table.file), row.line);
    }
    return out;
}

}  // namespace orrery
