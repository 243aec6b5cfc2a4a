// All answers of a study as a matrix: scenarios down, methods across, what was measured beside them.

#include "base/unit.h"
#include "evaluation/best_answer.h"
#include "evaluation/error_metrics.h"
#include "evaluation/shipped_references.h"
#include "store/export/export_parts.h"
#include "store/report/report_parts.h"
#include "study/best_first.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <variant>

namespace orrery::store {

namespace {

// Letters for reasons that methods gave, in the order in which they first occur.
class Reasons {
public:
    std::string letter(const std::string& why) {
        const auto [at, fresh] = places_.emplace(why, texts_.size());
        if (fresh) texts_.push_back(why);
        ++counts_[why];
        return name(at->second);
    }
    std::string html() const {
        if (texts_.empty()) return {};
        std::string out = R"(<p class="note">Not answered: )";
        for (std::size_t i = 0; i < texts_.size(); ++i) {
            out +=
                fmt::format("{}<b>{}</b> {} ({})", i ? "; " : "", name(i), escaped(texts_[i]), counts_.at(texts_[i]));
        }
        return out + "</p>";
    }

private:
    static std::string name(std::size_t i) {
        std::string made(1, static_cast<char>('a' + i % 26));
        return i < 26 ? made : made + std::to_string(i / 26);
    }
    std::map<std::string, std::size_t> places_;
    std::map<std::string, int> counts_;
    std::vector<std::string> texts_;
};

std::string signedPercent(double share) {
    return fmt::format("{}{:.1f} %", share < 0 ? "−" : "+", 100 * std::abs(share));
}

std::string cell(const StudyResult* result, bool best, const std::optional<Reference>& truth, Reasons& reasons) {
    if (!result) return R"(<td class="n">–</td>)";
    if (!result->estimate) {
        const std::string why = result->failure ? result->failure->message : "no answer";
        return fmt::format(R"(<td class="n note">{}</td>)", reasons.letter(why));
    }
    const Estimate& each = *result->estimate;
    const std::string time = escaped(format(each.latency));
    std::string out =
        fmt::format(R"(<td class="n">{}{}{}{}<span class="sub">{} … {}</span>)",
                    isLeastTime(each) ? "≥ " : "", best ? "<b>" : "", time, best ? "</b>" : "",
                    escaped(format(each.interval.low)), escaped(format(each.interval.high)));
    if (truth) {
        const double error = each.latency.value / truth->value.value - 1;
        const bool inside = truth->value >= each.interval.low && truth->value <= each.interval.high;
        out += fmt::format(R"(<span class="sub{}">{}{}</span>)", inside ? "" : " bad", signedPercent(error),
                           inside ? "" : ", outside");
    }
    return out + "</td>";
}

// Errors of the methods on the scenarios that all of them answer and that were measured.
std::string errorsHtml(const Study& study, const std::vector<std::vector<const StudyResult*>>& answers,
                       const std::vector<std::optional<Reference>>& truths) {
    std::vector<std::size_t> answering;
    for (std::size_t m = 0; m < study.methods.size(); ++m) {
        for (std::size_t s = 0; s < truths.size(); ++s) {
            if (!truths[s] || !answers[s][m] || !answers[s][m]->estimate) continue;
            answering.push_back(m);
            break;
        }
    }
    std::vector<std::size_t> common;
    std::size_t measured = 0;
    for (std::size_t s = 0; s < truths.size(); ++s) {
        if (!truths[s]) continue;
        ++measured;
        const bool all = std::ranges::all_of(
            answering, [&](std::size_t m) { return answers[s][m] && answers[s][m]->estimate != nullptr; });
        if (all) common.push_back(s);
    }
    if (answering.empty() || common.empty()) return {};
    std::string out = fmt::format(
        R"(<h3>Errors <span class="note">on {} of {} measured scenarios: those that every method here answers</span></h3>)"
        R"(<div class="scroll"><table><thead><tr><th>method</th><th class="n">mean</th><th class="n">median</th><th class="n">bias</th>)"
        R"(<th class="n">inside its interval</th></tr></thead><tbody>)",
        common.size(), measured);
    for (const std::size_t m : answering) {
        std::vector<double> predicted, truth;
        std::size_t inside = 0;
        for (const std::size_t s : common) {
            const Estimate& each = *answers[s][m]->estimate;
            predicted.push_back(each.latency.value);
            truth.push_back(truths[s]->value.value);
            inside += truths[s]->value >= each.interval.low && truths[s]->value <= each.interval.high ? 1 : 0;
        }
        const ErrorSummary errors = summarise(predicted, truth);
        out += fmt::format(
            R"(<tr><td class="name">{}</td><td class="n">{:.1f} %</td><td class="n">{:.1f} %</td><td class="n">{}</td><td class="n">{} of {}</td></tr>)",
            escaped(methodTitle(study.methods[m])), 100 * errors.mape, 100 * errors.medianError,
            signedPercent(errors.bias), inside, common.size());
    }
    return out + "</tbody></table></div>";
}

}  // namespace

std::optional<Reference> measuredFor(const Scenario& scenario) {
    const bool plain = std::holds_alternative<Pass>(scenario.task) && scenario.plan.devices() == 1;
    return plain ? referenceFor(scenario) : std::nullopt;
}

std::string overviewHtml(const Study& study, const std::vector<StudyResult>& results) {
    std::vector<std::vector<const StudyResult*>> answers(study.scenarios.size(),
                                                         std::vector<const StudyResult*>(study.methods.size()));
    for (const StudyResult& result : results) {
        const auto method = std::ranges::find(study.methods, result.method) - study.methods.begin();
        if (result.scenario >= answers.size() || static_cast<std::size_t>(method) >= study.methods.size()) continue;
        answers[result.scenario][static_cast<std::size_t>(method)] = &result;
    }
    std::vector<std::optional<Reference>> truths;
    for (const Scenario& scenario : study.scenarios) truths.push_back(measuredFor(scenario));
    const bool measured = std::ranges::any_of(truths, [](const auto& truth) { return truth.has_value(); });

    std::string out = R"(<h3>All answers</h3><div class="scroll"><table><thead><tr><th>scenario</th>)";
    if (measured) out += R"(<th class="n">measured</th>)";
    for (const std::string& method : study.methods)
        out += fmt::format(R"(<th class="n">{}</th>)", escaped(methodTitle(method)));
    out += "</tr></thead><tbody>";
    Reasons reasons;
    for (std::size_t s = 0; s < study.scenarios.size(); ++s) {
        out += fmt::format(R"(<tr><td class="name">{}</td>)", escaped(study.scenarios[s].name()));
        if (measured) {
            out += truths[s] ? fmt::format(R"(<td class="n" title="{}">{}</td>)", escaped(truths[s]->source),
                                           escaped(format(truths[s]->value)))
                             : R"(<td class="n">–</td>)";
        }
        const ScenarioRanking ranking = rankScenario(results, s);
        for (const StudyResult* result : answers[s]) {
            const bool best = ranking.best && result == &results[*ranking.best];
            out += cell(result, best, truths[s], reasons);
        }
        out += "</tr>";
    }
    out += "</tbody></table></div>";
    out += R"(<p class="note">Latency, with its interval below; the answer to believe is bold; ≥ is a bound.)";
    if (measured) {
        std::vector<std::string> with;
        for (const auto& truth : truths) {
            if (truth && std::ranges::find(with, truth->software) == with.end()) with.push_back(truth->software);
        }
        out += fmt::format(
            " Under it how far it is from what was measured with {}: launches and fusion there may not be those that "
            "the "
            "methods assume.",
            escaped(fmt::format("{}", fmt::join(with, "; "))));
    }
    out += "</p>";
    return out + reasons.html() + errorsHtml(study, answers, truths);
}

}  // namespace orrery::store
