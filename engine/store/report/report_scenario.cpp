#include "base/unit.h"
#include "store/export/export_parts.h"
#include "store/report/report_parts.h"
#include "study/best_first.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace orrery::store {

namespace {

std::string answerRow(const Estimate& estimate, std::string_view mark) {
    std::string out = fmt::format(
        R"(<tr{}><td class="name">{}{}</td><td class="n">{}</td><td class="n">{} … {}</td><td class="n">{}</td><td class="n">{}</td><td class="n">{}</td></tr>)",
        estimate.figures.empty() ? "" : R"( class="open")", escaped(methodTitle(estimate.method)),
        mark.empty() ? std::string() : fmt::format(R"( <span class="note">{}</span>)", mark),
        escaped(format(estimate.latency)), escaped(format(estimate.interval.low)),
        escaped(format(estimate.interval.high)), estimate.energy ? escaped(format(*estimate.energy)) : "–",
        estimate.memory ? escaped(format(estimate.memory->total())) : "–", escaped(format(estimate.cost)));
    if (estimate.figures.empty()) return out;
    out += R"(<tr><td colspan="6" class="figures">)";
    for (const Figure& figure : estimate.figures) {
        const std::string value = formatMeasure(figure.value, figure.dimension);
        out += fmt::format("<span>{} <b>{}</b></span>", escaped(figure.label),
                           escaped(figure.unit.empty() ? value : value + " " + figure.unit));
    }
    return out + "</td></tr>";
}

std::string answersTable(const std::vector<StudyResult>& results, std::size_t index) {
    std::string out =
        R"(<div class="scroll"><table><thead><tr><th>method</th><th class="n">latency</th><th class="n">interval</th><th class="n">energy</th>)"
        R"(<th class="n">memory</th><th class="n">time to answer</th></tr></thead><tbody>)";
    const ScenarioRanking ranking = rankScenario(results, index);
    for (const std::size_t at : ranking.order) {
        const StudyResult& result = results[at];
        if (result.estimate) {
            const bool bound = result.estimate->interval.kind == IntervalKind::Bound;
            out += answerRow(*result.estimate, ranking.best == at ? "best" : bound ? "bound" : "");
        } else {
            const std::string why = result.failure ? result.failure->message : "no answer";
            out += fmt::format(R"(<tr class="failed"><td class="name">{}</td><td colspan="5">{}</td></tr>)",
                               escaped(methodTitle(result.method)), escaped(why));
        }
    }
    return out + "</tbody></table></div>";
}

// The same sentence of several methods stands once, with their names.
std::string sentences(const std::map<std::string, std::vector<std::string>>& byText, std::size_t methods) {
    std::string out = "<ul>";
    for (const auto& [text, from] : byText) {
        const bool all = from.size() == methods;
        out += fmt::format(
            "<li>{}{}</li>", escaped(text),
            all ? std::string()
                : fmt::format(R"( <span class="note">({})</span>)", escaped(fmt::format("{}", fmt::join(from, ", ")))));
    }
    return out + "</ul>";
}

std::string warningText(const Diagnostic& warning) {
    std::string text;
    if (const std::string place = orrery::toText(warning.place); !place.empty()) text = place + ": ";
    text += warning.message;
    return warning.hint.empty() ? text : text + " (" + warning.hint + ")";
}

std::string provenanceHtml(const Scenario& scenario, const Answers& answers) {
    std::string out = "<dl>";
    const auto row = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) out += fmt::format("<dt>{}</dt><dd>{}</dd>", name, escaped(value));
    };
    if (scenario.workload) {
        row("model", fmt::format("{} ({})", scenario.workload->name, scenario.workload->recipe.source));
        row("options", optionsText(*scenario.workload));
        const CostTotals& totals = scenario.workload->totals;
        row("work",
            fmt::format("{}, {} parameters, {} of weights", format(Flops(totals.flops)),
                        formatMeasure(totals.parameters, Dimension::Number), format(Bytes(totals.weightBytes))));
    }
    if (scenario.hardware) {
        row("hardware", scenario.hardware->description.empty()
                            ? scenario.hardware->name
                            : scenario.hardware->name + ": " + scenario.hardware->description);
    }
    if (!answers.empty()) {
        const Provenance& from = answers.front()->provenance;
        row("inputs",
            fmt::format("hardware {}, workload {}{}, seed {}", from.hardwareHash, from.workloadHash,
                        from.taskHash.empty() ? std::string() : ", serving study " + from.taskHash, from.seed));
    }
    for (const Estimate* each : answers) {
        row("interval",
            fmt::format("{}: {} ({})", methodTitle(each->method), each->interval.basis, toText(each->interval.kind)));
    }
    std::string versions;
    for (const Estimate* each : answers) {
        versions += fmt::format("{}{} {}", versions.empty() ? "" : ", ", each->method, each->provenance.version);
    }
    row("methods", versions);
    return out + "</dl>";
}

// The most detailed picture: the answer with the most ceilings.
const Estimate* pictured(const Answers& answers) {
    const auto most = std::max_element(answers.begin(), answers.end(), [](const Estimate* a, const Estimate* b) {
        return a->ceilings.size() < b->ceilings.size();
    });
    return most == answers.end() ? nullptr : *most;
}

}  // namespace

std::string optionsText(const Workload& workload) {
    const WorkloadOptions& options = workload.recipe.options;
    std::string text = fmt::format("batch {}", options.batch);
    if (options.sequence > 0) text += fmt::format(", sequence {}", options.sequence);
    if (options.image > 0) text += fmt::format(", image {0} × {0}", options.image);
    if (options.phase != Phase::Forward) text += fmt::format(", {}", orrery::toText(options.phase));
    text += fmt::format(", {} weights", orrery::toText(options.weightFormat()));
    if (options.activationFormat() != options.weightFormat())
        text += fmt::format(", {} activations", orrery::toText(options.activationFormat()));
    for (const auto& [symbol, value] : options.bindings) text += fmt::format(", {} = {}", symbol, value);
    return text;
}

std::string scenarioHtml(const Scenario& scenario, const std::vector<StudyResult>& results, std::size_t index) {
    Answers answers;
    for (const std::size_t at : rankScenario(results, index).order) {
        if (results[at].estimate) answers.push_back(results[at].estimate.get());
    }
    std::string out = "<h3>Answers</h3>" + answersTable(results, index);
    if (answers.empty()) return out;
    out += intervalsSvg(answers);
    const auto section = [&](std::string_view title, const std::string& body) {
        if (!body.empty()) out += fmt::format("<h3>{}</h3>{}", title, body);
    };
    const Estimate* picture = pictured(answers);
    section("Roofline", rooflineSvg(scenario, *picture));
    section("Where the time goes", breakdownHtml(scenario, answers));
    section("Memory", memoryHtml(answers));
    section(fmt::format("Longest operators <span class=\"note\">by {}</span>", escaped(methodTitle(picture->method))),
            operatorsHtml(scenario, *picture));
    std::map<std::string, std::vector<std::string>> assumptions, warnings;
    for (const Estimate* each : answers) {
        for (const std::string& text : each->assumptions) assumptions[text].push_back(methodTitle(each->method));
        for (const Diagnostic& warning : each->warnings)
            warnings[warningText(warning)].push_back(methodTitle(each->method));
    }
    if (!warnings.empty()) section("Warnings", sentences(warnings, answers.size()));
    if (!assumptions.empty()) section("Assumptions", sentences(assumptions, answers.size()));
    section("Provenance", provenanceHtml(scenario, answers));
    return out;
}

}  // namespace orrery::store
