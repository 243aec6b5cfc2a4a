#include "app/document/kept_answers.h"

#include "methods/adapter/adapter_method.h"
#include "methods/provenance.h"

#include <fmt/format.h>

#include <deque>
#include <mutex>
#include <utility>

namespace orrery::app {

namespace {

constexpr std::size_t mostKept = 64;
struct KeptAnswers {
    std::mutex mutex;
    std::deque<std::pair<std::string, std::shared_ptr<const Estimate>>> all;
};
KeptAnswers& keptAnswers() {
    static KeptAnswers kept;
    return kept;
}

std::string questionKey(const std::string& method, const Scenario& scenario) {
    return fmt::format("{}\n{}\n{}\n{}\n{}", method, hardwareHash(*scenario.hardware), workloadHash(*scenario.workload),
                       toText(scenario.task), toText(scenario.plan));
}

}  // namespace

bool keepAnswers(const Study& study, const std::vector<StudyResult>& results) {
    bool any = false;
    for (const StudyResult& result : results) {
        const Method* method = findMethod(result.method);
        if (!result.estimate || !method || !asksProgram(*method)) continue;
        any = true;
        const std::string key = questionKey(result.method, study.scenarios[result.scenario]);
        KeptAnswers& kept = keptAnswers();
        const std::lock_guard lock(kept.mutex);
        std::erase_if(kept.all, [&](const auto& each) { return each.first == key; });
        kept.all.emplace_back(key, result.estimate);
        if (kept.all.size() > mostKept) kept.all.pop_front();
    }
    return any;
}

std::shared_ptr<const Estimate> keptAnswer(const std::string& method, const Scenario& scenario) {
    if (!scenario.hardware || !scenario.workload) return nullptr;
    const std::string key = questionKey(method, scenario);
    KeptAnswers& kept = keptAnswers();
    const std::lock_guard lock(kept.mutex);
    for (const auto& [question, answer] : kept.all)
        if (question == key) return answer;
    return nullptr;
}

}  // namespace orrery::app
