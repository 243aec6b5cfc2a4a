#include "store/judging/judging_export.h"

#include "base/hash.h"
#include "base/text/latex_table.h"
#include "store/export/csv_row.h"
#include "store/export/json_parts.h"
#include "store/judging/judged_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>

namespace orrery {

namespace {

using store::Json;

const ReferenceTable& tableOf(const Judged& judged, RowRef ref) {
    return (*judged.tables)[static_cast<std::size_t>(ref.table)];
}
const ReferenceRow& rowOf(const Judged& judged, RowRef ref) {
    return tableOf(judged, ref).rows[static_cast<std::size_t>(ref.row)];
}
std::string deviceOf(const Judged& judged, RowRef ref) {
    const ReferenceDevice& device = tableOf(judged, ref).devices[static_cast<std::size_t>(rowOf(judged, ref).device)];
    return device.catalogue.empty() ? device.name : device.catalogue;
}

Json figuresJson(const EvaluationFigures& figures) {
    const ErrorSummary& e = figures.errors;
    Json json{{"rows", e.rows},        {"mape", e.mape}, {"median_ape", e.medianError},
              {"p90_ape", e.p90Error}, {"bias", e.bias}, {"kendall_tau", e.kendall}};
    json["coverage90"] = figures.coverage90;
    json["flagged_out_of_domain"] = figures.flagged;
    json["half_width"] = figures.halfWidth;
    json["off_by_two"] = figures.wrong;
    return json;
}

Json factsJson(const MethodFacts& facts) {
    Json points = Json::array();
    for (const ReproducibilityPoint& point : facts.reproducibility)
        points.push_back({{"point", point.name}, {"given", point.given}, {"why", point.why}});
    Json json{{"difficulty", facts.difficulty}, {"difficulty_why", facts.difficultyWhy}, {"files", facts.files},
              {"programs", facts.programs},     {"reproducibility", facts.points()},     {"points", std::move(points)}};
    json["samples"] = facts.samples ? Json(*facts.samples) : Json();
    if (facts.fitting) json["fitting_seconds"] = facts.fitting->value;
    return json;
}

Json entryJson(const JudgedEntry& entry, bool timings) {
    Json json{{"method", entry.asked},
              {"title", entry.title},
              {"method_version", std::string(entry.card->version)},
              {"methodology", std::string(toText(entry.card->methodology))},
              {"level", std::string(toText(entry.card->level))}};
    if (!entry.importedFrom.empty())
        json["imported_from"] = std::filesystem::path(entry.importedFrom).filename().string();
    if (entry.refusal) {
        json["refusal"] = {{"code", entry.refusal->code}, {"message", entry.refusal->message}};
    }
    json["compared"] = entry.compared;
    json["fitted_rows"] = entry.fittedRows;
    json["facts"] = factsJson(entry.facts);
    if (!entry.evaluation) return json;
    Json assumptions;
    for (const Aspect aspect : aspects)
        assumptions[std::string(toText(aspect))] = entry.assumptions[static_cast<std::size_t>(aspect)].value;
    json["assumptions"] = std::move(assumptions);
    json["own"] = figuresJson(entry.own);
    if (entry.compared) {
        Json common = figuresJson(entry.common.figures);
        common["mape_low"] = entry.common.mapeLow;
        common["mape_high"] = entry.common.mapeHigh;
        common["first_share"] = entry.common.firstShare;
        common["equals"] = entry.common.equals;
        common["group"] = entry.common.group;
        json["common"] = std::move(common);
    }
    if (timings) {
        json["seconds_per_answer"] = entry.own.secondsPerAnswer;
        json["seconds_low"] = entry.own.secondsLow;
        json["seconds_high"] = entry.own.secondsHigh;
    }
    return json;
}

Json matrixJson(const Judged& judged) {
    Json cells = Json::array();
    const MethodMatrix& matrix = judged.matrix;
    for (const std::size_t m : matrix.order) {
        for (std::size_t c = 0; c < matrix.columns.size(); ++c) {
            const MatrixCell& cell = matrix.cells[m][c];
            if (cell.state == MatrixCell::State::NoTruth) continue;
            Json one{{"method", judged.entries[m].asked}, {std::string(toText(matrix.by)), matrix.columns[c].word}};
            if (cell.state == MatrixCell::State::NotApplicable) {
                one["not_applicable"] = cell.reason;
            } else {
                one["rows"] = cell.rows;
                one["common"] = cell.common;
                one["median_error"] = cell.median;
                one["low"] = cell.low;
                one["high"] = cell.high;
                one["mape"] = cell.mape;
                one["equals"] = cell.equals;
                one["least"] = cell.least;
            }
            cells.push_back(std::move(one));
        }
    }
    return cells;
}

Json questionJson(const Judged& judged, bool timings) {
    const JudgingQuestion& question = judged.question;
    Json json;
    if (!question.id.empty()) json["id"] = question.id;
    json["name"] = question.name;
    if (!question.meaning.empty()) json["meaning"] = question.meaning;
    json["where"] = question.where;
    json["rows_asked"] = judged.asked.size();
    json["rows"] = judged.rows.size();
    json["rows_common"] = judged.common.size();
    json["rows_hash"] = judged.hash;
    json["results_hash"] = resultsHash(judged);
    json["leave_device_out"] = question.leaveDeviceOut;
    json["common_rows_only"] = question.common;
    json["equal_assumptions"] = question.equal;
    Json references = Json::array();
    std::set<std::int32_t> used;
    for (const RowRef ref : judged.rows) used.insert(ref.table);
    for (const std::int32_t t : used) {
        const ReferenceTable& table = (*judged.tables)[static_cast<std::size_t>(t)];
        references.push_back({{"name", table.name},
                              {"file", std::filesystem::path(table.file).filename().string()},
                              {"source", table.source},
                              {"software", table.software},
                              {"kind", std::string(toText(table.kind))},
                              {"hash", table.hash}});
    }
    json["references"] = std::move(references);
    json["methods"] = Json::array();
    for (const JudgedEntry& entry : judged.entries) json["methods"].push_back(entryJson(entry, timings));
    json["ranking"] = Json::array();
    for (const std::size_t i : judged.ranking) json["ranking"].push_back(judged.entries[i].asked);
    json["assumptions_differ"] = Json::array();
    for (const Aspect aspect : judged.differing) json["assumptions_differ"].push_back(std::string(toText(aspect)));
    json["groups"] = judged.groups;
    json["matrix"] = matrixJson(judged);
    json["warnings"] = store::diagnosticsJson(judged.warnings);
    return json;
}

std::string texted(std::string_view text) {
    std::string made;
    for (const char c : text) {
        if (std::string_view("_&%#$").find(c) != std::string_view::npos) made += '\\';
        made += c;
    }
    return made;
}

/// `{` and `}` would end the entry.
std::string inBraces(std::string_view text) {
    std::string made;
    for (const char c : texted(text)) made += c == '{' || c == '}' ? '|' : c;
    return made;
}

}  // namespace

std::string judgedJson(const Judged& judged, bool timings) {
    Json json{{"format", "orrery-judging"}, {"version", 1}, {"program", "Orrery " ORRERY_VERSION}};
    json.update(questionJson(judged, timings));
    return store::dumped(json) + "\n";
}

std::string benchmarkJson(const BenchmarkRun& run, bool timings) {
    Json json{{"format", "orrery-benchmark"}, {"version", 1}, {"program", "Orrery " ORRERY_VERSION}};
    json["name"] = run.name;
    json["meaning"] = run.meaning;
    json["suite_hash"] = run.hash;
    Hash all;
    for (const Judged& part : run.parts) all.add(resultsHash(part));
    json["results_hash"] = all.hex();
    if (timings) json["seconds"] = run.seconds;
    json["parts"] = Json::array();
    for (const Judged& part : run.parts) json["parts"].push_back(questionJson(part, timings));
    return store::dumped(json) + "\n";
}

std::string judgedCsv(const Judged& judged) {
    std::string out =
        "method,version,methodology,level,compared,rows,mape,mape_low,mape_high,first_share,equals,group,on_front,"
        "median_ape,p90_ape,bias,"
        "kendall_tau,coverage90,seconds_per_answer,seconds_low,seconds_high,samples,fitting_seconds,fitted_rows,"
        "difficulty,"
        "reproducibility,fusion,launch,clock,stack,refusal\r\n";
    std::vector<std::size_t> order = judged.ranking;
    for (std::size_t i = 0; i < judged.entries.size(); ++i)
        if (std::find(order.begin(), order.end(), i) == order.end()) order.push_back(i);
    std::set<std::size_t> front;
    for (const auto& each : answerFronts(judged)) front.insert(each.begin(), each.end());
    for (const std::size_t i : order) {
        const JudgedEntry& entry = judged.entries[i];
        store::CsvRow row;
        row.add(entry.asked)
            .add(entry.card->version)
            .add(toText(entry.card->methodology))
            .add(toText(entry.card->level))
            .add(entry.compared ? "yes" : "no");
        const EvaluationFigures& figures = entry.figures();
        const ErrorSummary& e = figures.errors;
        if (entry.evaluation) {
            const bool ranged = entry.compared && entry.common.mapeHigh > 0;
            row.add(fmt::format("{}", e.rows)).add(fmt::format("{:.6g}", e.mape));
            row.add(ranged ? fmt::format("{:.6g}", entry.common.mapeLow) : "")
                .add(ranged ? fmt::format("{:.6g}", entry.common.mapeHigh) : "")
                .add(ranged ? fmt::format("{:.3g}", entry.common.firstShare) : "")
                .add(ranged ? fmt::format("{}", entry.common.equals) : "")
                .add(ranged && judged.groups > 1 ? groupLetter(entry.common.group) : "")
                .add(entry.compared ? (front.contains(i) ? "1" : "0") : "");
            for (const double each : {e.medianError, e.p90Error, e.bias, e.kendall, figures.coverage90,
                                      figures.secondsPerAnswer, figures.secondsLow, figures.secondsHigh})
                row.add(fmt::format("{:.6g}", each));
        } else {
            row.add("0");
            for (int k = 0; k < 15; ++k) row.add("");
        }
        row.add(entry.facts.samples ? fmt::format("{}", *entry.facts.samples) : "")
            .add(entry.facts.fitting ? fmt::format("{:.3g}", entry.facts.fitting->value) : "")
            .add(fmt::format("{}", entry.fittedRows))
            .add(entry.facts.difficulty)
            .add(fmt::format("{}", entry.facts.points()));
        for (const Assumption& each : entry.assumptions) row.add(each.value);
        row.add(entry.refusal ? entry.refusal->message : "");
        out += row.line();
    }
    return out;
}

std::string judgedRowsCsv(std::span<const Judged> parts) {
    std::string out =
        "part,method,row,common,device,kind,kernel,measured_s,predicted_s,low_s,high_s,error,software,truth,file,"
        "line\r\n";
    for (const Judged& part : parts) {
        std::set<std::uint64_t> common;
        for (const RowRef ref : part.common) common.insert(rowKey(ref));
        std::set<std::uint64_t> counts;
        for (const RowRef ref : part.rows) counts.insert(rowKey(ref));
        for (const JudgedEntry& entry : part.entries) {
            if (!entry.evaluation) continue;
            const EvaluatedRows& rows = entry.evaluation->rows;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const RowRef ref = rows.ref[i];
                if (!counts.contains(rowKey(ref))) continue;
                const ReferenceTable& table = tableOf(part, ref);
                store::CsvRow row;
                row.add(part.question.id)
                    .add(entry.asked)
                    .add(rowId(*part.tables, ref))
                    .add(common.contains(rowKey(ref)) ? "1" : "0")
                    .add(deviceOf(part, ref))
                    .add(facetOf(Facet::Kind, *part.tables, ref))
                    .add(toText(rowOf(part, ref).kernel));
                for (const double each : {rows.measured[i], rows.predicted[i], rows.low[i], rows.high[i]})
                    row.add(fmt::format("{:.8g}", each));
                row.add(fmt::format("{:.6g}", rows.error(i)))
                    .add(table.software)
                    .add(toText(table.kind))
                    .add(std::filesystem::path(table.file).filename().string())
                    .add(fmt::format("{}", rowOf(part, ref).line));
                out += row.line();
            }
        }
    }
    return out;
}

std::string questionsCsv(std::span<const Judged> parts) {
    std::string out = "row,device,kind,kernel,flops,bytes,measured_s,software,truth,predicted_s\r\n";
    std::set<std::string> written;
    for (const Judged& part : parts) {
        for (const RowRef ref : part.rows) {
            const std::string id = rowId(*part.tables, ref);
            if (!written.insert(id).second) continue;
            const ReferenceRow& truth = rowOf(part, ref);
            store::CsvRow row;
            row.add(id)
                .add(deviceOf(part, ref))
                .add(facetOf(Facet::Kind, *part.tables, ref))
                .add(toText(truth.kernel))
                .add(fmt::format("{:.8g}", truth.kernel.flops))
                .add(fmt::format("{:.8g}", truth.kernel.bytes()))
                .add(fmt::format("{:.8g}", truth.seconds))
                .add(tableOf(part, ref).software)
                .add(toText(tableOf(part, ref).kind))
                .add("");
            out += row.line();
        }
    }
    return out;
}

std::string judgedTex(const Judged& judged) {
    std::string out = fmt::format(
        "% {}\n% Orrery {}, rows {}, results {}\n% figures of {} rows that all of these price, of {}\n"
        "\\begin{{tabular}}{{llrrrrrrrrr}}\n\\toprule\nMethod & Class & Mean & 90\\,\\% of it & Median & p90 & Inside "
        "& "
        "Answer & Samples & Fit & Repro. \\\\\n & & \\% & \\% & \\% & \\% & \\% & \\textmu s & & s & /10 \\\\\n"
        "\\midrule\n",
        judged.question.name, ORRERY_VERSION, judged.hash, resultsHash(judged), judged.common.size(),
        judged.rows.size());
    for (const std::size_t i : judged.ranking) {
        const JudgedEntry& entry = judged.entries[i];
        const ErrorSummary& e = entry.common.figures.errors;
        out +=
            fmt::format("{} & {} & {:.1f} & {:.1f}--{:.1f} & {:.1f} & {:.1f} & {:.0f} & {} & {} & {} & {} \\\\\n",
                        texted(entry.asked), texted(toText(entry.card->methodology)), 100 * e.mape,
                        100 * entry.common.mapeLow, 100 * entry.common.mapeHigh, 100 * e.medianError, 100 * e.p90Error,
                        100 * entry.common.figures.coverage90, latexNumber(1e6 * entry.own.secondsPerAnswer),
                        entry.facts.samples ? fmt::format("{}", *entry.facts.samples) : "--",
                        entry.facts.fitting ? latexNumber(entry.facts.fitting->value, 2) : "--", entry.facts.points());
    }
    out += "\\bottomrule\n\\end{tabular}\n\n";
    return out + matrixTex(judged.matrix, judged.matrixEntries());
}

std::string lineageBib(std::span<const Judged> parts) {
    std::map<std::string, std::set<std::string>> papers;  // to the methods that follow them
    std::map<std::string, std::string> sources;           // of rows, to their tables
    for (const Judged& part : parts) {
        for (const JudgedEntry& entry : part.entries)
            for (const std::string_view paper : entry.card->lineage) papers[std::string(paper)].insert(entry.asked);
        for (const RowRef ref : part.rows) {
            const ReferenceTable& table = tableOf(part, ref);
            if (!table.source.empty()) sources.emplace(table.source, table.name);
        }
    }
    const auto key = [](std::string_view text) {
        std::string made;
        for (const char c : text) {
            if (made.size() == 24) break;
            if (std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 128) made += c;
        }
        Hash hash;
        return made + "-" + hash.add(text).hex().substr(0, 6);
    };
    std::string out = "% Papers that the methods follow, and sources of the rows; as the cards and tables name them.\n";
    for (const auto& [paper, methods] : papers) {
        std::string list;
        for (const std::string& method : methods) list += (list.empty() ? "" : ", ") + method;
        out += fmt::format("@misc{{{},\n  title = {{{}}},\n  note = {{followed by {}}}\n}}\n", key(paper),
                           inBraces(paper), inBraces(list));
    }
    for (const auto& [source, table] : sources) {
        out += fmt::format("@misc{{{},\n  title = {{{}}},\n  howpublished = {{{}}}\n}}\n", key(source), inBraces(table),
                           inBraces(source));
    }
    return out;
}

}  // namespace orrery
