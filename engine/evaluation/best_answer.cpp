#include "evaluation/best_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {

namespace {

constexpr double perShare = 0.1;   // of the time outside or unmeasured, in ln
constexpr double likeError = 1.1;  // errors closer than this are a tie
constexpr double farAway = 1e3;

double halfWidth(const Estimate& estimate) {
    const double low = estimate.interval.low.value, high = estimate.interval.high.value;
    if (!(high > 0)) return 0;
    return low > 0 ? std::log(high / low) / 2 : farAway;
}

// Classes of like errors, so that the order is one: a class is a factor of `likeError`.
int errorClassOf(double error) {
    return static_cast<int>(std::floor(std::log(std::max(error, 1e-6)) / std::log(likeError)));
}

struct Rank {
    int group = 2;  // 0: an answer, 1: a bound, 2: none
    int error = 0;
    double width = 0;
};

Rank rankOf(const Estimate* estimate) {
    if (!estimate) return {};
    return {estimate->interval.kind == IntervalKind::Bound ? 1 : 0, errorClassOf(expectedError(*estimate)),
            halfWidth(*estimate)};
}

std::string share(double value) {
    return value > 0.995 ? "all" : fmt::format("{:.0f} %", 100 * value);
}

}  // namespace

double expectedError(const Estimate& estimate) {
    if (!estimate.support) return halfWidth(estimate) + perShare;
    const Support& support = *estimate.support;
    // What is outside or unmeasured is not counted at the edge too, but by weighPasses()
    // (methods/model/pass_evidence.h): of what is both whole passes speak.
    const double spokenFor = std::clamp(std::max(support.outside, support.unmeasured) + support.edge - 1, 0.0, 1.0);
    return support.error + perShare * (support.outside + support.unmeasured) * (1 - spokenFor);
}

std::string supportText(const Estimate& estimate) {
    if (!estimate.support) return "only its interval shows its error";
    const Support& support = *estimate.support;
    std::string text = support.what;
    if (support.unmeasured < 0.995) {
        const double inside = std::clamp(1 - support.outside - support.edge - support.unmeasured, 0.0, 1.0);
        text += fmt::format("; {} of the time in kernels that were measured", inside < 0.005 ? "none" : share(inside));
    }
    if (support.unmeasured > 0.01 && support.unmeasured < 0.995)
        text += fmt::format(", {} never measured", share(support.unmeasured));
    return text;
}

AnswerRanking rankAnswers(std::span<const AskedAnswer> answers) {
    std::vector<Rank> ranks;
    for (const AskedAnswer& answer : answers) ranks.push_back(rankOf(answer.estimate));
    AnswerRanking ranking;
    ranking.order.resize(answers.size());
    std::iota(ranking.order.begin(), ranking.order.end(), std::size_t{0});
    std::stable_sort(ranking.order.begin(), ranking.order.end(), [&](std::size_t a, std::size_t b) {
        const Rank &x = ranks[a], &y = ranks[b];
        if (x.group != y.group) return x.group < y.group;
        return x.error != y.error ? x.error < y.error : x.width < y.width;
    });
    if (ranking.order.empty() || !answers[ranking.order.front()].estimate) return ranking;
    ranking.best = ranking.order.front();
    const Estimate& best = *answers[*ranking.best].estimate;
    ranking.reason = best.interval.kind == IntervalKind::Bound ? "a bound: no other method answers" : supportText(best);
    return ranking;
}

bool isLeastTime(const Estimate& estimate) {
    return estimate.interval.kind == IntervalKind::Bound &&
           estimate.latency.value <= estimate.interval.low.value * (1 + 1e-9);
}

std::optional<Seconds> boundBeside(std::span<const AskedAnswer> answers, const AnswerRanking& ranking) {
    for (const std::size_t at : ranking.order) {
        const Estimate* estimate = answers[at].estimate;
        if (estimate && estimate->bound) return estimate->bound;
    }
    return std::nullopt;
}

}  // namespace orrery
