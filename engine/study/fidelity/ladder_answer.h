#pragma once

// The ladder: every method that can answer a question, from fast to slow. After each the answers are combined, so that
// the estimate settles while slow methods still compute.

#include "methods/method.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// Several answers to one question as one. Weights in ln: the inverse square of an answer's own half-width. Methods may
/// err alike, so that the sides are the weighted mean of theirs and do not shrink with their number. How far answers
/// lie beyond their own intervals from the middle (the weighted spread) comes on top, in squares, as between studies of
/// a random-effects meta-analysis (DerSimonian and Laird 1986). Bounds weigh nothing: nothing lies below them.
struct CombinedAnswer {
    double latency = 0, low = 0, high = 0;
    double spread = 0;            ///< of the answers beyond their own intervals, 90 % in ln
    std::vector<double> weights;  ///< of each answer, together 1
};
/// Null answers and those without time weigh nothing. Nothing where all do.
std::optional<CombinedAnswer> combineAnswers(std::span<const Estimate* const> answers);

struct LadderStep {
    std::string method;            ///< as asked
    std::optional<double> stated;  ///< seconds that its card lets expect
    std::shared_ptr<const Estimate> estimate;
    std::optional<Diagnostic> failure;
    std::optional<CombinedAnswer> soFar;  ///< of all steps up to this one
};

struct LadderAnswer {
    std::vector<LadderStep> steps;      ///< in the order asked
    std::vector<std::string> notAsked;  ///< methods beyond the budget, or after a stop
    double seconds = 0;                 ///< by the clock
    const LadderStep* last() const;     ///< the last that answered; null if none did
};

struct LadderOptions {
    Executor* executor = nullptr;  ///< required
    std::stop_token stop;
    Progress* progress = nullptr;  ///< one step per method
    const CalibrationSet* calibrations = nullptr;
    std::vector<std::string> methods;  ///< choices; empty: all that answer such a task and need no file
    std::optional<double> within;      ///< seconds by the clock: a method that states more than is left is not asked
    std::uint64_t seed = 0;
    bool wantTimeline = false;
    std::function<void(const LadderStep&)> onStep;
};

/// Methods in the order of their stated cost, cheapest first; those that state none come last.
std::vector<std::string> ladderMethods(const Scenario& scenario, const std::vector<std::string>& choices);
/// Never fails: methods that do not answer say why in their step.
LadderAnswer climbLadder(const Scenario& scenario, const LadderOptions& options);

}  // namespace orrery
