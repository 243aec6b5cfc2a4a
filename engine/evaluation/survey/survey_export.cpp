#include "evaluation/survey/survey_export.h"

#include "base/unit.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>

namespace orrery {

namespace {

using Json = nlohmann::ordered_json;

std::string surveyCsvCell(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string cell = "\"";
    for (const char c : text) cell.append(c == '"' ? "\"\"" : std::string(1, c));
    return cell + "\"";
}

/// A cell of Markdown ends at `|` and at the end of the line.
std::string inMarkdown(std::string_view text) {
    std::string made;
    for (const char c : text) {
        if (c == '|') made += '\\';
        made += c == '\n' ? ' ' : c;
    }
    return made;
}

std::string joinedText(std::span<const std::string> words, std::string_view between) {
    std::string made;
    for (const std::string& word : words) made.append(made.empty() ? "" : between).append(word);
    return made;
}

std::string sourcesText(const SurveyMark& mark) {
    std::string made;
    for (const SurveySource& source : mark.sources)
        made += fmt::format("{}{} ({})", made.empty() ? "" : "; ", source.table, source.rows);
    return made;
}

Json markJson(const SurveyMark& mark, std::span<const MatrixEntry> entries) {
    Json json{{"method", entries[mark.entry].asked}, {"rows", mark.which.size()},     {"mape", mark.mape},
              {"median_ape", mark.median},           {"coverage90", mark.coverage90}, {"simulated", mark.simulated},
              {"references", Json::array()}};
    for (const SurveySource& source : mark.sources) {
        json["references"].push_back(
            {{"table", source.table}, {"kind", std::string(toText(source.kind))}, {"rows", source.rows}});
    }
    return json;
}

Json tableJson(const SurveyTable& table, std::span<const MatrixEntry> entries) {
    Json json{{"by", std::string(toText(table.by))}, {"columns", Json::array()}, {"cells", Json::array()}};
    for (std::size_t c = 0; c < table.columns.size(); ++c)
        json["columns"].push_back({{"word", table.columns[c]}, {"rows", table.rows[c]}});
    for (std::size_t line = 0; line < table.cells.size(); ++line) {
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            const SurveyCell& cell = table.cells[line][c];
            Json one{{"methodology", std::string(toText(surveyed()[line]))},
                     {"place", table.columns[c]},
                     {"marks", Json::array()},
                     {"claimed", Json::array()}};
            for (const SurveyMark& mark : cell.marks) one["marks"].push_back(markJson(mark, entries));
            for (const std::size_t m : cell.claimed) one["claimed"].push_back(entries[m].asked);
            if (!cell.missing.empty()) one["missing"] = cell.missing;
            json["cells"].push_back(std::move(one));
        }
    }
    return json;
}

Json lineJson(const SurveyLine& line, std::span<const MatrixEntry> entries) {
    const MethodCard& card = *entries[line.entry].card;
    Json json{{"method", entries[line.entry].asked},
              {"method_version", std::string(card.version)},
              {"methodology", std::string(toText(card.methodology))},
              {"level", std::string(toText(card.level))},
              {"rows", line.rows},
              {"needs", line.needs},
              {"samples", line.samples},
              {"reading", line.reading},
              {"reading_why", line.readingWhy},
              {"failure_mode", line.failureMode}};
    if (!line.speed.empty()) json["speed"] = line.speed;
    if (line.oneKernel >= 0) json["one_kernel_s"] = line.oneKernel;
    if (line.reading == "terms") json["terms"] = line.terms;
    if (!line.worst.workloadClass.empty()) {
        json["furthest_off"] = {
            {"class", line.worst.workloadClass}, {"mape", line.worst.mape}, {"rows", line.worst.rows}};
    }
    if (!entries[line.entry].refusal.empty()) json["refusal"] = entries[line.entry].refusal;
    return json;
}

}  // namespace

std::string surveyPercent(double share) {
    return fmt::format(fmt::runtime(share < 0.0995 ? "{:.1f} %" : "{:.0f} %"), 100 * share);
}

std::string surveyCellText(const SurveyCell& cell, std::span<const MatrixEntry> entries) {
    if (cell.marks.empty()) return {};
    const SurveyMark &best = cell.marks.front(), &last = cell.marks.back();
    if (cell.marks.size() == 1) return fmt::format("{} {}", entries[best.entry].asked, surveyPercent(best.mape));
    return fmt::format("{} methods, {} … {}", cell.marks.size(), surveyPercent(best.mape), surveyPercent(last.mape));
}

std::string surveyJson(const Survey& survey, std::span<const MatrixEntry> entries) {
    Json json{{"format", "orrery-survey"},
              {"version", 1},
              {"program", "Orrery " ORRERY_VERSION},
              {"tables", Json::array()},
              {"methods", Json::array()}};
    for (const SurveyTable& table : survey.tables) json["tables"].push_back(tableJson(table, entries));
    for (const SurveyLine& line : survey.lines) json["methods"].push_back(lineJson(line, entries));
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string surveyCsv(const Survey& survey, std::span<const MatrixEntry> entries) {
    std::string out = "by,methodology,place,method,rows,mape,median_ape,coverage90,truth,references,claimed,missing\n";
    for (const SurveyTable& table : survey.tables) {
        for (std::size_t line = 0; line < table.cells.size(); ++line) {
            for (std::size_t c = 0; c < table.columns.size(); ++c) {
                const SurveyCell& cell = table.cells[line][c];
                const std::string begin = fmt::format("{},{},{}", toText(table.by), toText(surveyed()[line]),
                                                      surveyCsvCell(table.columns[c]));
                std::string claimed;
                for (const std::size_t m : cell.claimed) claimed += (claimed.empty() ? "" : "; ") + entries[m].asked;
                if (cell.marks.empty()) {
                    out +=
                        fmt::format("{},,0,,,,,,{},{}\n", begin, surveyCsvCell(claimed), surveyCsvCell(cell.missing));
                }
                for (const SurveyMark& mark : cell.marks) {
                    out += fmt::format("{},{},{},{:.6g},{:.6g},{:.6g},{},{},{},\n", begin,
                                       surveyCsvCell(entries[mark.entry].asked), mark.which.size(), mark.mape,
                                       mark.median, mark.coverage90, mark.simulated ? "simulated" : "measured",
                                       surveyCsvCell(sourcesText(mark)), surveyCsvCell(claimed));
                }
            }
        }
    }
    return out;
}

std::string surveyMethodsCsv(const Survey& survey, std::span<const MatrixEntry> entries) {
    std::string out =
        "method,methodology,level,rows,speed,one_kernel_s,needs,samples,reading,terms,failure_mode,furthest_off,"
        "furthest_off_mape,furthest_off_rows\n";
    for (const SurveyLine& line : survey.lines) {
        const MethodCard& card = *entries[line.entry].card;
        const bool judged = !line.worst.workloadClass.empty();
        out +=
            fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", surveyCsvCell(entries[line.entry].asked),
                        toText(card.methodology), toText(card.level), line.rows, surveyCsvCell(line.speed),
                        line.oneKernel >= 0 ? fmt::format("{:.4g}", line.oneKernel) : "",
                        surveyCsvCell(joinedText(line.needs, "; ")), line.samples, surveyCsvCell(line.reading),
                        line.reading == "terms" ? fmt::format("{}", line.terms) : "", surveyCsvCell(line.failureMode),
                        surveyCsvCell(line.worst.workloadClass), judged ? fmt::format("{:.6g}", line.worst.mape) : "",
                        judged ? fmt::format("{}", line.worst.rows) : "");
    }
    return out;
}

std::string surveyMarkdown(const Survey& survey, std::span<const MatrixEntry> entries) {
    std::string out = "# Methods surveyed\n";
    for (const SurveyTable& table : survey.tables) {
        out += fmt::format("\n## Methodology by {}\n\n| methodology |", toText(table.by));
        for (std::size_t c = 0; c < table.columns.size(); ++c)
            out += fmt::format(" {} ({} rows) |", inMarkdown(table.columns[c]), table.rows[c]);
        out += "\n|---|";
        for (std::size_t c = 0; c < table.columns.size(); ++c) out += "---|";
        out += "\n";
        std::string missing;
        for (std::size_t line = 0; line < table.cells.size(); ++line) {
            out += fmt::format("| {} |", toText(surveyed()[line]));
            for (std::size_t c = 0; c < table.columns.size(); ++c) {
                const SurveyCell& cell = table.cells[line][c];
                out += fmt::format(" {} |", inMarkdown(surveyCellText(cell, entries)));
                if (!cell.missing.empty()) {
                    missing += fmt::format("- {}, {}: {}\n", toText(surveyed()[line]), table.columns[c], cell.missing);
                }
            }
            out += "\n";
        }
        if (!missing.empty()) out += "\nEmpty cells:\n\n" + missing;
    }
    out +=
        "\n## Methods\n\n| method | methodology | level | rows | speed | data needed | fitted to | reading | breaks on "
        "| "
        "furthest off |\n|---|---|---|---:|---|---|---:|---|---|---|\n";
    for (const SurveyLine& line : survey.lines) {
        const MethodCard& card = *entries[line.entry].card;
        out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                           inMarkdown(entries[line.entry].asked), toText(card.methodology), toText(card.level),
                           line.rows, inMarkdown(line.speed), inMarkdown(joinedText(line.needs, "; ")), line.samples,
                           line.reading == "terms" ? fmt::format("{} terms", line.terms) : line.reading,
                           inMarkdown(line.failureMode),
                           line.worst.workloadClass.empty()
                               ? std::string("no row")
                               : fmt::format("{} {}", line.worst.workloadClass, surveyPercent(line.worst.mape)));
    }
    return out;
}

}  // namespace orrery
