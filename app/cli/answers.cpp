#include "app/cli/answers.h"

#include "app/cli/output.h"
#include "base/unit.h"
#include "store/export/exports.h"
#include "study/best_first.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>

namespace orrery::cli {

namespace {

// What most of the time is bound by: `hbm3 87 %`.
std::string mostlyBoundBy(const Estimate& estimate) {
    std::map<std::string, double> seconds;
    double total = 0;
    for (std::size_t i = 0; i < std::min(estimate.operators.bound.size(), estimate.operators.size()); ++i) {
        const Bound bound = estimate.operators.bound[i];
        const auto level = static_cast<std::size_t>(std::max<std::int16_t>(bound.level, 0));
        constexpr std::array names{"compute", "memory", "overhead", "network", "–"};
        std::string name = names[static_cast<std::size_t>(bound.kind)];
        if (bound.kind == BoundKind::Memory && bound.level >= 0 && level < estimate.levels.size()) {
            name = estimate.levels[level];
        }
        seconds[name] += estimate.operators.seconds[i];
        total += estimate.operators.seconds[i];
    }
    const auto most = std::max_element(seconds.begin(), seconds.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == seconds.end() || total <= 0) return "–";
    return fmt::format("{} {:.0f} %", most->first, 100 * most->second / total);
}

std::vector<std::string> answerCells(const Estimate& estimate) {
    return {format(estimate.latency),
            intervalText(estimate),
            estimate.energy ? format(*estimate.energy) : "–",
            estimate.memory ? format(estimate.memory->total()) : "–",
            mostlyBoundBy(estimate),
            format(estimate.cost)};
}

const std::vector<std::string> answerHeads{"latency", "interval", "energy", "memory", "bound by", "cost"};

// `loop-nest(chains=on, mapper=genetic)` → `loop-nest-chains=on-mapper=genetic`: nothing that a shell would take apart.
std::string fileWord(std::string_view method) {
    std::string word;
    for (const char c : method) {
        const bool plain = c != '(' && c != ')' && c != ',' && c != ' ';
        if (plain) word += c;
        if (!plain && !word.empty() && word.back() != '-') word += '-';
    }
    while (!word.empty() && word.back() == '-') word.pop_back();
    return word;
}

std::string fileName(std::string_view start, const Study& study, const StudyResult& result, std::string_view end) {
    const std::string number = study.scenarios.size() > 1 ? fmt::format("{}-", result.scenario + 1) : "";
    return fmt::format("{}-{}{}.{}", start, number, fileWord(result.method), end);
}

}  // namespace

std::string answersText(const Study& study, const std::vector<StudyResult>& results) {
    const bool single = study.scenarios.size() == 1;
    const auto sorted = bestFirst(results);
    std::vector<std::string> heads{"", "method"};
    std::vector<bool> right{false, false};
    if (!single) {
        heads.insert(heads.begin(), "scenario");
        right.insert(right.begin(), false);
    }
    heads.insert(heads.end(), answerHeads.begin(), answerHeads.end());
    right.insert(right.end(), {true, true, true, true, false, true});
    Table table(heads, right);
    std::optional<std::size_t> marked;
    for (const StudyResult& result : sorted) {
        if (!result.estimate || result.scenario >= study.scenarios.size()) continue;
        const bool bound = result.estimate->interval.kind == IntervalKind::Bound;
        const bool best = marked != result.scenario;
        marked = result.scenario;
        std::vector<std::string> cells{best ? "best" : bound ? "bound" : "", result.method};
        if (!single) cells.insert(cells.begin(), study.scenarios[result.scenario].name());
        for (std::string& cell : answerCells(*result.estimate)) cells.push_back(std::move(cell));
        table.add(std::move(cells));
    }
    std::string out = single ? study.scenarios.front().name() + "\n\n" : study.name + "\n\n";
    if (table.empty()) return out;
    out += table.text();
    if (!single) return out;
    const ScenarioRanking ranking = rankScenario(results, 0);
    if (ranking.best) {
        out += fmt::format("\nbest: {}, {}\n", results[*ranking.best].method, ranking.reason);
        if (ranking.bound) out += fmt::format("bound: no less than {} for the same kernels\n", format(*ranking.bound));
    }
    for (const StudyResult& result : sorted) {
        if (!result.estimate || result.estimate->figures.empty()) continue;
        out += fmt::format("\n{}\n", result.method);
        Table figures({"", ""}, {false, true});
        for (const Figure& figure : result.estimate->figures) {
            const std::string value = formatMeasure(figure.value, figure.dimension);
            figures.add({"  " + figure.label, figure.unit.empty() ? value : value + " " + figure.unit});
        }
        out += figures.body();
    }
    return out;
}

bool makeFolder(const std::string& folder) {
    std::error_code code;
    std::filesystem::create_directories(folder, code);
    if (code || !std::filesystem::is_directory(folder)) {
        report(fail("file.system", fmt::format("cannot make the folder: {}", code ? code.message() : "a file is there"),
                    "a folder that can be made or written", "give another folder", {folder})
                   .value());
        return false;
    }
    return true;
}

bool writeReportFolder(const std::string& folder, const Study& study, const std::vector<StudyResult>& results,
                       std::size_t most) {
    const std::string base = folder + "/";
    bool written = writeTo(base + "report.html", reportHtml(study, results)) &&
                   writeTo(base + "estimates.csv", comparisonCsv(study, results)) &&
                   writeTo(base + "run.json", runJson(study, results));
    for (const StudyResult& result : results) {
        if (!written) return false;
        if (!result.estimate || result.scenario >= std::min(most, study.scenarios.size())) continue;
        const Scenario& scenario = study.scenarios[result.scenario];
        written = writeTo(base + fileName("operators", study, result, "csv"), operatorsCsv(scenario, *result.estimate));
        if (written && !result.estimate->timeline.spans.empty()) {
            written = writeTo(base + fileName("trace", study, result, "json"), chromeTrace(scenario, *result.estimate));
        }
    }
    return written;
}

bool anyAnswer(const std::vector<StudyResult>& results) {
    return std::any_of(results.begin(), results.end(),
                       [](const StudyResult& each) { return each.estimate != nullptr; });
}

namespace {

// `not applicable: loop-nest, data-centric (no array …); llm-inference (…)`, one line whatever their number.
void reportNotApplicable(const std::vector<StudyResult>& results) {
    std::vector<std::pair<std::string, std::vector<std::string>>> byReason;
    for (const StudyResult& result : results) {
        if (!result.failure || result.failure->code != "method.not-applicable") continue;
        const std::string& reason = result.failure->message;
        auto known = std::find_if(byReason.begin(), byReason.end(), [&](const auto& r) { return r.first == reason; });
        if (known == byReason.end()) known = byReason.insert(byReason.end(), {reason, {}});
        auto& methods = known->second;
        if (std::find(methods.begin(), methods.end(), result.method) == methods.end()) methods.push_back(result.method);
    }
    std::string line;
    for (const auto& [reason, methods] : byReason) {
        line += fmt::format("{}{} ({})", line.empty() ? "" : "; ", fmt::join(methods, ", "), reason);
    }
    if (line.empty()) return;
    Diagnostic note = warning("method.not-applicable", "not applicable: " + line);
    note.severity = Severity::Note;
    report(note);
}

}  // namespace

void reportWarnings(const std::vector<StudyResult>& results, const Diagnostics& shown) {
    std::vector<std::pair<Diagnostic, std::vector<std::string>>> byWarning;
    for (const StudyResult& result : results) {
        if (!result.estimate) continue;
        for (const Diagnostic& each : result.estimate->warnings) {
            if (std::find(shown.begin(), shown.end(), each) != shown.end()) continue;
            auto known =
                std::find_if(byWarning.begin(), byWarning.end(), [&](const auto& w) { return w.first == each; });
            if (known == byWarning.end()) known = byWarning.insert(byWarning.end(), {each, {}});
            auto& methods = known->second;
            if (std::find(methods.begin(), methods.end(), result.method) == methods.end())
                methods.push_back(result.method);
        }
    }
    const auto answers = static_cast<std::size_t>(
        std::count_if(results.begin(), results.end(), [](const StudyResult& r) { return r.estimate != nullptr; }));
    for (auto& [each, methods] : byWarning) {
        const bool all = methods.size() == answers && answers > 3;
        each.message =
            fmt::format("{}: {}", all ? "all methods" : fmt::format("{}", fmt::join(methods, ", ")), each.message);
        report(each);
    }
}

void reportFailures(const std::vector<StudyResult>& results, bool asked) {
    // Nobody asked these methods in particular: that they do not apply is worth a line, not an alarm.
    if (!asked) reportNotApplicable(results);
    std::vector<std::pair<Diagnostic, std::size_t>> failures;
    for (const StudyResult& result : results) {
        if (!result.failure || result.failure->code == "study.cancelled") continue;
        if (!asked && result.failure->code == "method.not-applicable") continue;
        Diagnostic failure = *result.failure;
        failure.message = fmt::format("{}: {}", result.method, failure.message);
        const auto known =
            std::find_if(failures.begin(), failures.end(), [&](const auto& f) { return f.first == failure; });
        if (known == failures.end()) {
            failures.emplace_back(std::move(failure), 1);
        } else {
            ++known->second;
        }
    }
    for (auto& [failure, times] : failures) {
        if (times > 1) failure.message += fmt::format(" (in {} scenarios)", times);
        report(failure);
    }
}

}  // namespace orrery::cli
