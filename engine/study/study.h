#pragma once

// Many scenarios × many methods. Results arrive one by one on a sink that may be called from any worker.

#include "base/executor.h"
#include "base/progress.h"
#include "methods/method.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

struct StudyResult {
    std::size_t scenario = 0;                  ///< index into Study::scenarios
    std::string method;                        ///< as the study names it
    std::shared_ptr<const Estimate> estimate;  ///< null if it failed
    std::optional<Diagnostic> failure;
};

struct Study {
    std::string name;
    std::vector<Scenario> scenarios;
    std::vector<std::string> methods;  ///< ids, or ids with options: see MethodChoice
    std::uint64_t seed = 0;
};

struct StudyOptions {
    Executor* executor = nullptr;  ///< required
    std::stop_token stop;
    Progress* progress = nullptr;                      ///< one step per scenario × method
    std::function<void(const StudyResult&)> onResult;  ///< as each comes, from workers, one call at a time
    bool wantTimeline = true;
    const CalibrationSet* calibrations = nullptr;  ///< null: the shipped ones
    std::span<const Method> methods = {};          ///< to look ids up in; empty: the built-in ones
    /// As onResult, but with all that came at once: one transaction for many.
    std::function<void(std::span<const StudyResult>)> onResults = {};
    /// Results of an earlier run, in the order of runStudy: not answered again, and not told to `onResult`.
    std::span<const StudyResult> known = {};
    /// Answers pairs (by their place in the order of runStudy) on other machines, and gives back results as they come,
    /// on the calling thread; those that it leaves out were stopped. Empty: the executor answers.
    using Give = std::function<void(std::span<StudyResult> results, std::span<const std::size_t> pairs)>;
    std::function<void(std::span<const std::size_t> pairs, const Give& give)> elsewhere = {};
};

/// One pair, by its place in the order of runStudy.
StudyResult answerPair(const Study& study, const StudyOptions& options, std::size_t pair);

/// Runs everything; a failed pair does not stop the others. The returned results stand in scenario-major order and are
/// the same whatever the executor. Pairs not begun when the token is set come back with `study.cancelled`.
std::vector<StudyResult> runStudy(const Study& study, const StudyOptions& options);

}  // namespace orrery
