#include "base/unit.h"
#include "store/export/export_parts.h"
#include "store/export/exports.h"
#include "store/report/report_parts.h"
#include "study/best_first.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace store {

std::string escaped(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                // Control characters are not allowed in a page, whatever an operator may be called.
                out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
        }
    }
    return out;
}

std::string kindClass(OperatorKind kind) {
    return fmt::format("k{}", static_cast<int>(kind));
}

std::string methodCardsHtml(const std::vector<std::string>& methods, const Scenario& scenario) {
    std::string out;
    std::vector<const Method*> shown;
    for (const std::string& id : methods) {
        const Method* method = findMethod(id);
        if (method == nullptr || std::find(shown.begin(), shown.end(), method) != shown.end()) continue;
        shown.push_back(method);
        const MethodCard& card = method->card;
        out += fmt::format(
            R"(<details><summary><b>{}</b> <span class="note">{}, {} level, version {}</span></summary><div><p>{}</p><dl>)",
            escaped(card.title), orrery::toText(card.methodology), orrery::toText(card.level), escaped(card.version),
            escaped(card.summary));
        out += fmt::format("<dt>limits</dt><dd>{}</dd>", escaped(card.failureMode));
        for (const Evidence& evidence : card.evidence) {
            out += fmt::format("<dt>evidence</dt><dd>{} on {}: {}</dd>", escaped(evidence.workloadClass),
                               escaped(evidence.platform), escaped(evidence.finding));
        }
        for (const std::string_view paper : card.lineage)
            out += fmt::format("<dt>after</dt><dd>{}</dd>", escaped(paper));
        const auto here = expectedCost(*method, scenario);
        out += fmt::format("<dt>cost</dt><dd>{}{}</dd></dl></div></details>", escaped(orrery::toText(card.cost)),
                           here ? "; for this question about " + escaped(format(*here, 2)) : std::string());
    }
    return out;
}

}  // namespace store

namespace {

using store::escaped;

constexpr std::size_t detailed = 8;

std::string headline(const Study& study, const std::vector<StudyResult>& results) {
    const Scenario& scenario = study.scenarios.front();
    double low = 1e300, high = 0;
    std::size_t answers = 0;
    for (const StudyResult& result : results) {
        if (!result.estimate) continue;
        low = std::min(low, result.estimate->interval.low.value);
        high = std::max(high, result.estimate->interval.high.value);
        ++answers;
    }
    std::string out = fmt::format("<h1>How long does {} take?</h1>", escaped(scenario.name()));
    if (scenario.workload)
        out += fmt::format(R"(<p class="lead">{}</p>)", escaped(store::optionsText(*scenario.workload)));
    if (answers == 0) return out + R"(<p class="answer">No method could answer.</p>)";
    const ScenarioRanking ranking = rankScenario(results, 0);
    const Estimate& best = *results[*ranking.best].estimate;
    const bool bound = best.interval.kind == IntervalKind::Bound;
    out += fmt::format(R"(<p class="answer">{}<b>{}</b>, between <b>{}</b> and <b>{}</b>, by {}.</p>)",
                       bound ? "At least " : "", escaped(format(best.latency)), escaped(format(best.interval.low)),
                       escaped(format(best.interval.high)), escaped(methodTitle(best.method)));
    out += fmt::format(
        R"(<p class="lead">Why this answer: {}.{}</p>)", escaped(ranking.reason),
        ranking.bound ? " The same kernels take no less than " + escaped(format(*ranking.bound)) + "." : std::string());
    if (const auto truth = store::measuredFor(scenario)) {
        const double error = best.latency.value / truth->value.value - 1;
        out += fmt::format(R"(<p class="lead">Measured: {} ({}, {}). This answer is {:.1f} % {}.</p>)",
                           escaped(format(truth->value)), escaped(truth->software), escaped(truth->source),
                           100 * std::abs(error), error < 0 ? "below it" : "above it");
    }
    if (answers == 1) return out;
    return out + fmt::format(R"(<p class="lead">All {} methods together: between {} and {}.</p>)", answers,
                             escaped(format(Seconds(low))), escaped(format(Seconds(high))));
}

}  // namespace

std::string reportHtml(const Study& study, const std::vector<StudyResult>& results) {
    const bool single = study.scenarios.size() == 1;
    const std::string title = single ? study.scenarios.front().name() : study.name;
    std::string out = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n";
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    out += fmt::format("<meta name=\"generator\" content=\"Orrery {}\">\n<title>{}</title>\n<style>{}</style></head>\n",
                       ORRERY_VERSION, escaped(title), store::reportStyle());
    out += "<body><main><header><div class=\"mark\">Orrery report</div>\n";
    if (single) {
        out += headline(study, results) + "</header>\n" + store::scenarioHtml(study.scenarios.front(), results, 0);
    } else {
        out += fmt::format(R"(<h1>{}</h1><p class="lead">{} scenarios, {} methods</p></header>)", escaped(study.name),
                           study.scenarios.size(), study.methods.size());
        out += store::overviewHtml(study, results);
        for (std::size_t i = 0; i < std::min(study.scenarios.size(), detailed); ++i) {
            const Scenario& scenario = study.scenarios[i];
            out += fmt::format("\n<h2>{}</h2>", escaped(scenario.name()));
            if (scenario.workload)
                out += fmt::format(R"(<p class="lead">{}</p>)", escaped(store::optionsText(*scenario.workload)));
            out += store::scenarioHtml(scenario, results, i);
        }
        if (study.scenarios.size() > detailed) {
            out += fmt::format(R"(<p class="note">Details of the first {} scenarios; the table above has all.</p>)",
                               detailed);
        }
    }
    if (const std::string cards = store::methodCardsHtml(study.methods, study.scenarios.front()); !cards.empty()) {
        out += (single ? "\n<h3>Methods</h3>" : "\n<h2>Methods</h2>") + cards;
    }
    return out + fmt::format("\n<footer>Made by Orrery {}.</footer></main></body></html>\n", ORRERY_VERSION);
}

}  // namespace orrery
