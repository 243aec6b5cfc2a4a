#include "app/document/kept_answers.h"

#include "methods/adapter/adapter_method.h"
#include "methods/live_choice.h"
#include "methods/provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace orrery::app {

namespace {

constexpr std::size_t mostKept = 64;
using Calibrations = std::vector<std::shared_ptr<const Calibration>>;
struct Kept {
    std::string question;
    Calibrations calibrations;
    std::shared_ptr<const Estimate> answer;
};
struct KeptAnswers {
    std::mutex mutex;
    std::deque<Kept> all;
};
KeptAnswers& keptAnswers() {
    static KeptAnswers kept;
    return kept;
}

std::string questionKey(const std::string& method, const Scenario& scenario) {
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", method, hardwareHash(*scenario.hardware),
                       workloadHash(*scenario.workload), toText(scenario.task), toText(scenario.plan),
                       toText(scenario.software));
}

Calibrations calibrationsOf(const CalibrationSet* set) {
    const auto all = (set ? *set : shippedCalibrations().set).all();
    return {all.begin(), all.end()};
}

}  // namespace

bool asksByRunOnly(const std::string& choice, const Scenario& scenario) {
    const Method* method = findMethod(choice);
    if (!method) return false;
    // The one method that serves requests is not kept waiting for.
    const bool serves = method->card.level == MethodLevel::System && kindOf(scenario.task) == TaskKind::ServingRun;
    const auto filled = methodChoice(choice, builtinMethods());
    return asksProgram(*method) || (!serves && !answersLive(method->card, filled ? filled->options : OptionValues{}));
}

bool keepAnswers(const Study& study, const std::vector<StudyResult>& results, const CalibrationSet* calibrations) {
    bool any = false;
    for (const StudyResult& result : results) {
        const Scenario& scenario = study.scenarios[result.scenario];
        if (!result.estimate || !asksByRunOnly(result.method, scenario)) continue;
        any = true;
        Kept one{questionKey(result.method, scenario), calibrationsOf(calibrations), result.estimate};
        KeptAnswers& kept = keptAnswers();
        const std::lock_guard lock(kept.mutex);
        std::erase_if(kept.all, [&](const Kept& each) {
            return each.question == one.question && each.calibrations == one.calibrations;
        });
        kept.all.push_back(std::move(one));
        if (kept.all.size() > mostKept) kept.all.pop_front();
    }
    return any;
}

std::shared_ptr<const Estimate> keptAnswer(const std::string& method, const Scenario& scenario,
                                           const CalibrationSet* calibrations) {
    if (!scenario.hardware || !scenario.workload) return nullptr;
    const std::string key = questionKey(method, scenario);
    const Calibrations used = calibrationsOf(calibrations);
    KeptAnswers& kept = keptAnswers();
    const std::lock_guard lock(kept.mutex);
    const auto found = std::ranges::find_if(
        kept.all, [&](const Kept& each) { return each.question == key && each.calibrations == used; });
    return found == kept.all.end() ? nullptr : found->answer;
}

}  // namespace orrery::app
