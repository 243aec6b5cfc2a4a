#include "store/judging/judging_report.h"

#include "base/unit.h"
#include "evaluation/repeatability.h"
#include "evaluation/survey/survey_export.h"
#include "learning/calibration_hash.h"
#include "store/judging/growth_figure.h"
#include "store/judging/judging_figures.h"
#include "store/judging/survey_figure.h"
#include "store/report/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

namespace orrery {

namespace {

using store::escaped;

constexpr std::size_t worstShown = 8;

std::string shareText(double share) {
    return fmt::format("{:.1f} %", 100 * share);
}

std::string cell(std::string_view text, bool number = false) {
    return fmt::format("<td{}>{}</td>", number ? " class=\"n\"" : "", escaped(text));
}

std::string headed(std::initializer_list<std::pair<const char*, bool>> heads) {
    std::string out = "<div class=\"scroll\"><table><tr>";
    for (const auto& [name, number] : heads)
        out += fmt::format("<th{}>{}</th>", number ? " class=\"n\"" : "", escaped(name));
    return out + "</tr>";
}
constexpr std::string_view tableEnd = "</table></div>";

bool statesInterval(const JudgedEntry& entry) {
    const EvaluatedRows& rows = entry.evaluation->rows;
    return !std::equal(rows.low.begin(), rows.low.end(), rows.high.begin(), rows.high.end());
}

/// The result in two sentences.
std::string answerHtml(const Judged& judged) {
    if (judged.ranking.empty()) return "<p class=\"answer\">No method predicts these rows.</p>";
    const JudgedEntry& best = judged.entries[judged.ranking.front()];
    std::string out = "<p class=\"answer\">";
    if (!onSameRows(judged)) {
        out += fmt::format(
            "Each method uses its own rows, so the figures cannot be compared; "
            "<b>{}</b> has a mean error of {} on {} rows.",
            escaped(best.title), shareText(best.own.errors.mape), best.own.errors.rows);
        return out + "</p>";
    }
    out += fmt::format(
        "Of {} methods on {} common rows <b>{}</b> has the smallest mean error: {} ({} to {} in 90 % of "
        "resampled rows).",
        judged.ranking.size(), judged.common.size(), escaped(best.title), shareText(best.common.figures.errors.mape),
        shareText(best.common.mapeLow), shareText(best.common.mapeHigh));
    if (judged.ranking.size() > 1) {
        const JudgedEntry& next = judged.entries[judged.ranking[1]];
        // Rows are drawn alike for both, so that what they have in common does not blur the difference.
        const bool apart = best.common.firstShare >= 0.95;
        out += best.common.group != next.common.group
                   ? fmt::format(
                         " {} follows at {}. The two make different assumptions (see Assumptions), and the "
                         "difference may come from those.",
                         escaped(next.title), shareText(next.common.figures.errors.mape))
               : apart
                   ? fmt::format(" {} follows at {}. The difference holds in at least 95 % of the draws.",
                                 escaped(next.title), shareText(next.common.figures.errors.mape))
                   : fmt::format(
                         " {} follows at {}. These rows do not decide between the two (first in {:.0f} and {:.0f} % "
                         "of the draws).",
                         escaped(next.title), shareText(next.common.figures.errors.mape), 100 * best.common.firstShare,
                         100 * next.common.firstShare);
    }
    if (best.fittedRows > 0)
        out += fmt::format(" It was fitted to {} of these rows: its figure here is no prediction.", best.fittedRows);
    return out + "</p>";
}

std::string figuresHtml(const Judged& judged) {
    std::string out = headed({{"method", false},
                              {"mean error", true},
                              {"90 % of it", true},
                              {"median", true},
                              {"p90", true},
                              {"bias", true},
                              {"inside 90 %", true},
                              {"an answer", true},
                              {"rows", true}});
    const auto add = [&](const JudgedEntry& entry) {
        const EvaluationFigures& figures = entry.figures();
        const ErrorSummary& e = figures.errors;
        std::string name = entry.title;
        if (!entry.importedFrom.empty()) name += " (imported)";
        if (!entry.compared) name += " *";
        if (entry.fittedRows > 0) name += " †";
        const bool rare = statesInterval(entry) && figures.coverage90 < 0.85;
        out += "<tr>" +
               fmt::format("<td class=\"name\">{}<span class=\"sub\">{}, {}</span></td>", escaped(name),
                           toText(entry.card->methodology), escaped(entry.asked)) +
               cell(shareText(e.mape), true) +
               cell(entry.compared && entry.common.mapeHigh > 0
                        ? fmt::format("{} – {}", shareText(entry.common.mapeLow), shareText(entry.common.mapeHigh))
                        : "–",
                    true) +
               cell(shareText(e.medianError), true) + cell(shareText(e.p90Error), true) +
               cell(fmt::format("{:+.1f} %", 100 * e.bias), true) +
               fmt::format("<td class=\"n\">{}</td>",
                           statesInterval(entry) ? fmt::format("{}{:.0f} %{}", rare ? "<span class=\"tag\">" : "",
                                                               100 * figures.coverage90, rare ? "</span>" : "")
                                                 : "states none") +
               cell(figures.secondsPerAnswer > 0 ? format(Seconds(figures.secondsPerAnswer), 2) : "–", true) +
               cell(fmt::format("{}", e.rows), true) + "</tr>";
    };
    for (const std::size_t i : judged.ranking) add(judged.entries[i]);
    bool apart = false, fitted = false;
    for (const JudgedEntry& entry : judged.entries) {
        fitted = fitted || (entry.evaluation && entry.fittedRows > 0);
        if (entry.compared || !entry.evaluation || entry.own.errors.rows == 0) continue;
        add(entry);
        apart = true;
    }
    out += tableEnd;
    if (apart)
        out +=
            "<p class=\"note\">* predicts less than half of the rows of the widest method, or was removed: on its own "
            "rows.</p>";
    if (fitted) out += "<p class=\"note\">† was fitted to some of these rows.</p>";
    return out;
}

std::string truthHtml(const Judged& judged) {
    std::map<std::int32_t, std::size_t> rows;
    for (const RowRef ref : judged.rows) ++rows[ref.table];
    std::string out =
        headed({{"table", false}, {"truth", false}, {"software", false}, {"rows", true}, {"repeats differ by", true}});
    for (const auto& [t, number] : rows) {
        const ReferenceTable& table = (*judged.tables)[static_cast<std::size_t>(t)];
        const auto repeats = repeatabilityOf(table);
        out += "<tr>" +
               fmt::format("<td class=\"name\" width=\"52%\">{}<span class=\"sub\">{}</span></td>", escaped(table.name),
                           escaped(table.source)) +
               cell(toText(table.kind)) + cell(table.software) + cell(fmt::format("{}", number), true) +
               cell(repeats.rows > 0 ? shareText(repeats.mean) : "not known", true) + "</tr>";
    }
    return out + std::string(tableEnd);
}

std::string worstHtml(const Judged& judged) {
    if (judged.ranking.empty()) return {};
    const JudgedEntry& best = judged.entries[judged.ranking.front()];
    std::set<std::uint64_t> counts;
    for (const RowRef ref : judged.rows) counts.insert(rowKey(ref));
    std::string out =
        fmt::format("<h3>Largest errors of {}</h3>", escaped(best.title)) +
        headed({{"row", false}, {"measured", true}, {"predicted", true}, {"90 %", true}, {"error", true}});
    std::size_t shown = 0;
    for (const std::size_t i : best.evaluation->worst) {
        const EvaluatedRows& rows = best.evaluation->rows;
        if (!counts.contains(rowKey(rows.ref[i]))) continue;
        if (shown++ == worstShown) break;
        out += "<tr>" + cell(rowText(*judged.tables, rows.ref[i])) + cell(format(Seconds(rows.measured[i]), 3), true) +
               cell(format(Seconds(rows.predicted[i]), 3), true) +
               cell(fmt::format("{} – {}", format(Seconds(rows.low[i]), 3), format(Seconds(rows.high[i]), 3)), true) +
               cell(fmt::format("{:+.1f} %", 100 * rows.error(i)), true) + "</tr>";
    }
    return shown == 0 ? std::string() : out + std::string(tableEnd);
}

std::string assumptionsHtml(const Judged& judged) {
    std::string out;
    if (judged.differing.empty()) {
        out = "<p>All compared methods take the same for granted.</p>";
    } else {
        std::string words;
        for (const Aspect aspect : judged.differing) words += (words.empty() ? "" : ", ") + std::string(toText(aspect));
        out = fmt::format("<p>Compared methods differ in: {}. A difference of errors may be one of these.</p>",
                          escaped(words));
    }
    if (judged.groups > 1)
        out += fmt::format(
            "<p>These are {} groups: methods of a group have the same assumptions for at least {:.0f} % of the rows. A "
            "fitted method keeps the clock and the software of its rows. So <i>first in</i> counts within a group "
            "only.</p>",
            judged.groups, 100 * equalTerms);
    out += headed({{"method", false}, {"fusion", false}, {"launch", false}, {"clock", false}, {"stack", false}});
    for (const JudgedEntry& entry : judged.entries) {
        if (!entry.evaluation) continue;
        out += "<tr>" + fmt::format("<td class=\"name\">{}</td>", escaped(entry.asked));
        for (const Assumption& each : entry.assumptions) out += cell(each.value);
        out += "</tr>";
    }
    return out + std::string(tableEnd);
}

std::string factsHtml(const Judged& judged) {
    std::string out = headed({{"method", false},
                              {"difficulty", false},
                              {"samples", true},
                              {"a fit", true},
                              {"brings along", false},
                              {"reproducibility", true},
                              {"not given", false}});
    for (const JudgedEntry& entry : judged.entries) {
        if (!entry.evaluation) continue;
        std::string brought, lacking;
        for (const auto* list : {&entry.facts.files, &entry.facts.programs})
            for (const std::string& each : *list) brought += (brought.empty() ? "" : ", ") + each;
        for (const ReproducibilityPoint& point : entry.facts.reproducibility) {
            if (!point.given) lacking += fmt::format("{}{}: {}", lacking.empty() ? "" : "; ", point.name, point.why);
        }
        out += "<tr>" + fmt::format("<td class=\"name\">{}</td>", escaped(entry.asked)) +
               fmt::format("<td>{}<span class=\"sub\">{}</span></td>", escaped(entry.facts.difficulty),
                           escaped(entry.facts.difficultyWhy)) +
               cell(entry.facts.samples ? fmt::format("{}", *entry.facts.samples) : "not known", true) +
               cell(!entry.facts.samples       ? "not known"
                    : !entry.facts.fitting     ? "not measured"
                    : entry.facts.samples == 0 ? "none"
                                               : format(*entry.facts.fitting, 2),
                    true) +
               cell(brought.empty() ? "nothing" : brought) + cell(fmt::format("{} of 10", entry.facts.points()), true) +
               cell(lacking.empty() ? "–" : lacking) + "</tr>";
    }
    return out + std::string(tableEnd);
}

/// Words between `…` are code.
std::string withCode(std::string_view text) {
    std::string out;
    bool code = false;
    for (const char c : escaped(text)) {
        if (c != '`') {
            out += c;
            continue;
        }
        out += code ? "</code>" : "<code>";
        code = !code;
    }
    return code ? out + "</code>" : out;
}

std::string silentHtml(const Judged& judged) {
    std::string out;
    for (const JudgedEntry& entry : judged.entries) {
        if (!entry.refusal) continue;
        out += fmt::format("<li><b>{}</b>: {}</li>", escaped(entry.asked), withCode(entry.refusal->message));
    }
    return out.empty() ? out : "<h3>Methods that answer none of these rows</h3><ul>" + out + "</ul>";
}

std::string provenanceHtml(const Judged& judged) {
    std::string versions;
    for (const JudgedEntry& entry : judged.entries) {
        if (entry.evaluation)
            versions += fmt::format("{}{} {}", versions.empty() ? "" : ", ", entry.asked, entry.card->version);
    }
    const JudgingQuestion& question = judged.question;
    std::string references;
    for (const std::string& each : question.references)
        references += (references.empty() ? "" : ", ") + std::filesystem::path(each).filename().string();
    const std::string heldOut = question.leaveDeviceOut ? "every device as an unseen device"
                                : question.seen
                                    ? "rows that were fitted count as well"
                                    : "rows to which a calibration was fitted are not used, as far as it records them";
    // A table: lists of terms leave gaps on paper.
    std::string out = "<table>";
    const auto fact = [&](const char* name, const std::string& html) {
        out += fmt::format("<tr><td width=\"16%\" class=\"note\">{}</td><td>{}</td></tr>", name, html);
    };
    fact("rows", fmt::format("{} asked, {} count, {} common; hash <code>{}</code>", judged.asked.size(),
                             judged.rows.size(), judged.common.size(), judged.hash));
    fact("results", fmt::format("hash <code>{}</code>: equal where every number is", resultsHash(judged)));
    fact("references", escaped(references));
    fact("where", escaped(question.where.empty() ? "all rows" : question.where));
    fact("held out", heldOut);
    fact("methods", escaped(versions));
    fact("calibrations", fmt::format("hash <code>{}</code>", calibrationsHash(judged.calibrations)));
    fact("program", std::string("Orrery ") + ORRERY_VERSION);
    return out + "</table>";
}

std::string figure(const std::string& svg, std::string_view caption) {
    return fmt::format(
        "<figure style=\"background:#fff;padding:8px;border-radius:6px\">{}<figcaption class=\"note\" "
        "style=\"color:#565e69\">{}</figcaption></figure>",
        svg, escaped(caption));
}

/// Which kind of method is borne out where, of these very rows.
std::string surveyHtml(const Judged& judged) {
    const auto entries = judged.matrixEntries();
    const Survey survey = surveyOf(entries, *judged.tables, judged.rows, judged.calibrations);
    std::string out;
    for (const SurveyTable& table : survey.tables)
        out += figure(surveySvg(table, entries, pageWidth), fmt::format("Methodologies by {}.", toText(table.by)));
    return out;
}

/// Do errors of kernels cancel in their sum?
std::string growthHtml(const Judged& judged) {
    const auto all = growthsOf(judged);
    if (all.empty()) return {};
    std::string out =
        figure(growthSvg(all.front().growth, judged.entries[all.front().entry].title, pageWidth),
               "Sums of measured kernels of one device, drawn at random; right, what was measured whole.");
    constexpr std::array levels{TaskKind::Pass, TaskKind::TrainingStep, TaskKind::ServingRun};
    out += headed({{"method", false},
                   {"one kernel", true},
                   {"kernels", true},
                   {"their sum", true},
                   {"√N", true},
                   {"N", true},
                   {"common by", true},
                   {"inside", true},
                   {"one pass", true},
                   {"training step", true},
                   {"serving run", true}});
    for (const MethodGrowth& each : all) {
        const GrowthPoint &one = each.growth.points.front(), &last = each.growth.points.back();
        out += "<tr>" + cell(judged.entries[each.entry].title) + cell(shareText(one.measured), true) +
               cell(std::to_string(last.kernels), true) + cell(shareText(last.measured), true) +
               cell(shareText(last.independent), true) + cell(shareText(last.common), true) +
               cell(fmt::format("{:.2f}", each.growth.correlation), true) +
               cell(fmt::format("{:.0f} %", 100 * last.coverage), true);
        for (const TaskKind task : levels) {
            const auto found = std::find_if(each.growth.levels.begin(), each.growth.levels.end(),
                                            [&](const LevelPoint& level) { return level.task == task; });
            out += cell(found == each.growth.levels.end()
                            ? std::string("–")
                            : fmt::format("{} (n {})", shareText(found->measured), found->rows),
                        true);
        }
        out += "</tr>";
    }
    return out + std::string(tableEnd) +
           fmt::format(
               "<p class=\"note\">Root mean squares, relative to the measured sum. Common by 0: errors cancel as "
               "if they had nothing in common (√N); by 1: all err alike (N). Inside: share of the sums within "
               "the interval, sides added with {:.1f}. Passes, training steps and serving runs were measured whole: "
               "what "
               "they are off beyond N is not the kernels' alone, but of software, networks and schedules.</p>",
               growthCorrelation);
}

std::string partHtml(const Judged& judged, bool alone) {
    std::string out;
    if (!alone) out += fmt::format("<h2>{}</h2>", escaped(judged.question.name));
    if (!judged.question.meaning.empty())
        out += fmt::format("<p class=\"lead\">{}</p>", escaped(judged.question.meaning));
    out += answerHtml(judged);
    out +=
        "<h3>Error against cost</h3>" +
        figure(planeSvg(judged, pageWidth),
               fmt::format("Lower left is better. Bars go from the median to the 90th percentile. The mean error of "
                           "90 % of resampled rows is between the strokes. {} A star: not compared, on its own rows.",
                           onSameRows(judged) ? "A dashed line joins the methods that no method with the same "
                                                "assumptions beats in both."
                                              : "No line joins the best, because every method uses its own rows."));
    out += "<h3>By scenario</h3>" +
           figure(matrixSvg(judged, pageWidth), "In a browser, point at a cell for its reason and its figures.");
    out += "<h3>Errors of the rows</h3>" +
           figure(residualsSvg(judged, pageWidth), "One stroke per row and method, best first.");
    out += "<h3>Figures</h3>" + figuresHtml(judged) + worstHtml(judged);
    if (const std::string growth = growthHtml(judged); !growth.empty())
        out += "<h3>From kernels to systems</h3>" + growth;
    out += "<h3>Survey</h3>" + surveyHtml(judged);
    out += "<h3>Truth</h3>" + truthHtml(judged);
    out += "<h3>Assumptions</h3>" + assumptionsHtml(judged);
    out += "<h3>Set-up and reproducibility</h3>" + factsHtml(judged);
    out += silentHtml(judged);
    return out + "<h3>Provenance</h3>" + provenanceHtml(judged);
}

std::string summaryHtml(const BenchmarkRun& run) {
    std::vector<std::string> methods;
    std::string out = "<h3>Mean error by part</h3><div class=\"scroll\"><table><tr><th>method</th>";
    for (const Judged& part : run.parts) {
        out += fmt::format("<th class=\"n\">{}</th>", escaped(part.question.id));
        for (const JudgedEntry& entry : part.entries) {
            const bool known = std::find(methods.begin(), methods.end(), entry.asked) != methods.end();
            if (entry.evaluation && !known) methods.push_back(entry.asked);
        }
    }
    out += "</tr>";
    for (const std::string& method : methods) {
        out += fmt::format("<tr><td class=\"name\">{}</td>", escaped(method));
        for (const Judged& part : run.parts) {
            const auto entry = std::find_if(part.entries.begin(), part.entries.end(),
                                            [&](const JudgedEntry& each) { return each.asked == method; });
            const bool has = entry != part.entries.end() && entry->evaluation && entry->own.errors.rows > 0;
            out += cell(has ? fmt::format("{}{}{}", shareText(entry->figures().errors.mape),
                                          entry->compared ? "" : " *", entry->fittedRows > 0 ? " †" : "")
                            : "–",
                        true);
        }
        out += "</tr>";
    }
    return out + std::string(tableEnd) +
           "<p class=\"note\">* on its own rows, which are less than half of the widest method's; † was fitted to some "
           "of "
           "them.</p>";
}

}  // namespace

std::string judgingReportHtml(const BenchmarkRun& run) {
    const bool alone = run.parts.size() == 1;
    std::string out = fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\"><meta name=\"generator\" content=\"Orrery {}\">"
        "<title>{}</title><style>{}</style></head><body><main><header><div class=\"mark\">Orrery · methods "
        "compared</div>"
        "<h1>{}</h1>",
        ORRERY_VERSION, escaped(run.name), store::reportStyle(), escaped(run.name));
    if (!run.meaning.empty()) out += fmt::format("<p class=\"lead\">{}</p>", escaped(run.meaning));
    out += "</header>";
    if (!alone) out += summaryHtml(run);
    for (const Judged& part : run.parts) out += partHtml(part, alone);
    return out + fmt::format("<footer>Made by Orrery {}.</footer></main></body></html>\n", ORRERY_VERSION);
}

std::vector<NamedFile> judgingFiles(const BenchmarkRun& run) {
    const bool alone = run.parts.size() == 1;
    std::vector<NamedFile> files{{"report.html", judgingReportHtml(run)}};
    for (const Judged& part : run.parts) {
        const std::string begin = alone || part.question.id.empty() ? std::string() : part.question.id + "-";
        const auto both = [&](const char* name, std::string (*draw)(const Judged&, double)) {
            files.push_back({begin + name + ".svg", draw(part, pageWidth)});
            files.push_back({begin + name + "-column.svg", draw(part, columnWidth)});
        };
        both("plane", planeSvg);
        both("setup", setUpSvg);
        both("matrix", matrixSvg);
        both("errors", residualsSvg);
        files.push_back({begin + "figures.csv", judgedCsv(part)});
        files.push_back({begin + "matrix.csv", matrixCsv(part.matrix, part.matrixEntries())});
        files.push_back({begin + "table.tex", judgedTex(part)});
        const auto entries = part.matrixEntries();
        const Survey survey = surveyOf(entries, *part.tables, part.rows, part.calibrations);
        for (const SurveyTable& table : survey.tables) {
            const std::string name = fmt::format("{}survey-{}", begin, toText(table.by));
            files.push_back({name + ".svg", surveySvg(table, entries, pageWidth)});
            files.push_back({name + "-column.svg", surveySvg(table, entries, columnWidth)});
        }
        if (const auto growths = growthsOf(part); !growths.empty()) {
            const std::string& title = part.entries[growths.front().entry].title;
            files.push_back({begin + "growth.svg", growthSvg(growths.front().growth, title, pageWidth)});
            files.push_back({begin + "growth-column.svg", growthSvg(growths.front().growth, title, columnWidth)});
            files.push_back({begin + "growth.csv", growthCsv(part, growths)});
        }
        files.push_back({begin + "survey.md", surveyMarkdown(survey, entries)});
        files.push_back({begin + "survey.csv", surveyCsv(survey, entries)});
    }
    files.push_back({"rows.csv", judgedRowsCsv(run.parts)});
    files.push_back({"questions.csv", questionsCsv(run.parts)});
    files.push_back({"lineage.bib", lineageBib(run.parts)});
    files.push_back({"figures.json", alone ? judgedJson(run.parts.front()) : benchmarkJson(run)});
    if (alone) {
        JudgingQuestion question = run.parts.front().question;
        question.id.clear();
        question.saved = savedRows(run.parts.front());
        std::map<std::string, std::string> imports;
        for (std::string& each : question.references) {
            if (each == "shipped") continue;
            const std::string whole = std::filesystem::absolute(each).string();
            if (const auto own = question.imports.find(each); own != question.imports.end())
                imports[whole] = own->second;
            each = whole;
        }
        question.imports = std::move(imports);
        files.push_back({"judging.yaml", writeJudging(question)});
    }
    return files;
}

}  // namespace orrery
