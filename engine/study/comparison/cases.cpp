#include "study/comparison/cases.h"

#include "evaluation/best_answer.h"
#include "hardware/views/cluster_view.h"
#include "mapping/plan_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

bool isBound(const Estimate& estimate) {
    return estimate.interval.kind == IntervalKind::Bound;
}

// The method of least error at its worst case, among those that answer all; nothing where none does.
std::optional<std::size_t> methodOfAll(const std::vector<StudyResult>& results, std::size_t cases,
                                       std::size_t methods) {
    std::optional<std::size_t> best;
    std::pair<bool, double> least;
    for (std::size_t m = 0; m < methods; ++m) {
        std::pair<bool, double> worst{false, 0};
        bool all = true;
        for (std::size_t c = 0; c < cases && all; ++c) {
            const Estimate* estimate = results[c * methods + m].estimate.get();
            all = estimate != nullptr;
            if (!all) break;
            worst.first = worst.first || isBound(*estimate);
            worst.second = std::max(worst.second, expectedError(*estimate));
        }
        if (!all || (best && !(worst < least))) continue;
        best = m;
        least = worst;
    }
    return best;
}

}  // namespace

Expected<CaseComparison> compareCases(std::vector<ComparedCase> cases, std::size_t baseline,
                                      const std::vector<std::string>& methods, const CompareOptions& options) {
    if (cases.empty() || methods.empty()) {
        return fail("compare.empty", cases.empty() ? "there is no case to compare" : "no method is asked",
                    "cases and at least one method");
    }
    if (baseline >= cases.size()) {
        return fail("compare.baseline", fmt::format("case {} of {} is the baseline", baseline + 1, cases.size()),
                    fmt::format("a case from 1 to {}", cases.size()));
    }
    Study study{.name = "comparison", .scenarios = {}, .methods = methods, .seed = options.seed};
    for (const ComparedCase& each : cases) study.scenarios.push_back(each.scenario);
    const auto serial = options.executor ? nullptr : makeSerialExecutor();
    StudyOptions asked;
    asked.executor = options.executor ? options.executor : serial.get();
    asked.stop = options.stop;
    asked.progress = options.progress;
    asked.wantTimeline = false;
    asked.calibrations = options.calibrations;
    const auto results = runStudy(study, asked);

    CaseComparison comparison{.cases = {}, .baseline = baseline};
    const auto common = methodOfAll(results, cases.size(), methods.size());
    comparison.oneMethod = common.has_value();
    const Hardware& drawn = *cases[baseline].scenario.hardware;
    for (std::size_t c = 0; c < cases.size(); ++c) {
        std::vector<AskedAnswer> answers;
        for (std::size_t m = 0; m < methods.size(); ++m)
            answers.push_back({methods[m], results[c * methods.size() + m].estimate.get()});
        const AnswerRanking ranking = rankAnswers(answers);
        const std::size_t m = common ? *common : ranking.best.value_or(0);
        const StudyResult& result = results[c * methods.size() + m];
        const bool own = ranking.best && *ranking.best == m;
        AnsweredCase answered = answeredCase(std::move(cases[c]), result.method, result.estimate, &drawn);
        answered.failure = result.failure;
        if (result.estimate)
            answered.reason = own ? ranking.reason : "least error over all cases; " + supportText(*result.estimate);
        comparison.cases.push_back(std::move(answered));
    }
    return comparison;
}

std::string_view toText(Against::Says says) {
    switch (says) {
        case Against::Says::Same:
            return "same";
        case Against::Says::Better:
            return "better";
        case Against::Says::Worse:
            return "worse";
        case Against::Says::Overlap:
            return "overlap";
        case Against::Says::NoInterval:
            break;
    }
    return "no-interval";
}

std::optional<Against> against(const std::optional<Ranged>& baseline, const std::optional<Ranged>& other,
                               bool moreIsBetter) {
    if (!baseline || !other || !(baseline->value > 0) || !std::isfinite(other->value)) return std::nullopt;
    using Says = Against::Says;
    Against found;
    found.ratio = other->value / baseline->value;
    found.low = baseline->high > 0 ? other->low / baseline->high : found.ratio;
    found.high = baseline->low > 0 ? other->high / baseline->low : std::numeric_limits<double>::infinity();
    const bool stated = baseline->low < baseline->high || other->low < other->high;
    if (other->value == baseline->value && other->low == baseline->low && other->high == baseline->high) {
        found.says = Says::Same;
    } else if (!stated) {
        found.says = Says::NoInterval;
    } else if (other->high < baseline->low || other->low > baseline->high) {
        found.says = (other->value > baseline->value) == moreIsBetter ? Says::Better : Says::Worse;
    } else {
        found.says = Says::Overlap;
    }
    return found;
}

std::string verdictText(const AnsweredCase& baseline, const AnsweredCase& other) {
    if (!sameQuestion(baseline, other)) return "another kind of question: only the designs are held against each other";
    const auto found = against(baseline.values.empty() ? std::nullopt : baseline.values.front(),
                               other.values.empty() ? std::nullopt : other.values.front(), false);
    if (!found) return "no answer to compare";
    if (found->says == Against::Says::Same) return "the same time";
    // Of two times the faster one's gain, so that the number is above 1.
    const bool faster = found->ratio <= 1;
    const double gain = faster ? 1 / found->ratio : found->ratio;
    const double low = faster ? (std::isinf(found->high) ? 0 : 1 / found->high) : found->low;
    const double high =
        faster ? (found->low > 0 ? 1 / found->low : std::numeric_limits<double>::infinity()) : found->high;
    std::string text = fmt::format("{:.3g} × as {}", gain, faster ? "fast" : "long");
    if (found->says == Against::Says::NoInterval) return text + ", no interval is stated";
    text += fmt::format(" [{:.3g} … {:.3g}]", low, high);
    return text + (found->says == Against::Says::Overlap ? ", not sure: the intervals overlap" : ", sure");
}

std::optional<double> deviceHourOf(const std::map<std::string, double, std::less<>>& prices, const Scenario& scenario) {
    const auto cluster = clusterView(*scenario.hardware);
    if (cluster && !cluster->groups.empty()) {
        const auto kinds = planKinds(*cluster, scenario.plan);
        const auto& group = cluster->groups[kinds && !kinds->kinds.empty() ? kinds->kinds.front() : 0];
        if (const auto stated = prices.find(group.name); stated != prices.end()) return stated->second;
    }
    if (const auto all = prices.find(""); all != prices.end()) return all->second;
    return std::nullopt;
}

}  // namespace orrery
