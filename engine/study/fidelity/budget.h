#pragma once

// The best answer for a budget. Every kernel of the graph gets the cheapest answer first; then the method that the
// evidence speaks for is asked kernel by kernel, that one first which shrinks the interval of the total most per
// second. What it says of some kernels corrects the cheap answers about the others of their family (control variate).
// Equal kernels are asked once. With enough budget the answer is that of full fidelity; where it is stated to cost no
// more than the cheap answers, or a tenth of the time that is left, those are spared.

#include "methods/method.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

/// An answer so far.
struct BudgetStep {
    std::string asked;        ///< `npu-tile: up_proj (gemm 128×3072×768 int8)`
    double stated = 0;        ///< seconds spent, by the rates of the methods' cards
    double seconds = 0;       ///< by the clock
    double pricing = 0;       ///< of those, what the methods took
    std::size_t kernels = 0;  ///< different ones that full fidelity has priced
    double latency = 0, low = 0, high = 0;
    double fullLow = 0, fullHigh = 0;  ///< where the answer of full fidelity is expected, 90 %
    bool surprise = false;             ///< the interval became wider: this kernel was not as its family
};

/// What one method was asked.
struct BudgetAsked {
    std::string method;
    std::size_t kernels = 0;         ///< different ones
    double launches = 0;             ///< that they stand for, repeats counted
    double stated = 0, seconds = 0;  ///< spent on it
    double launchSeconds = 0;        ///< the same had every launch been asked about by itself
    bool full = false;               ///< full fidelity for some kernels, not a cheap answer to be corrected
    std::vector<std::string> kinds;  ///< for which it is full fidelity
};

/// How a family of kernels was corrected.
struct BudgetFamily {
    std::string name;     ///< `gemm, bound by arithmetic`
    std::string control;  ///< the cheap method
    std::size_t kernels = 0, asked = 0;
    double share = 0;                     ///< of the time, by kernels that were not asked
    double ratio = 1, low = 1, high = 1;  ///< full ÷ cheap of a kernel that was not asked, 90 %
};

struct BudgetAnswer {
    Estimate estimate;  ///< its interval holds what full fidelity itself states, and what was not asked
    double fullLow = 0, fullHigh = 0;
    std::vector<BudgetAsked> asked;      ///< in the order in which they were first asked
    std::vector<BudgetFamily> families;  ///< most time first
    std::vector<BudgetStep> steps;
    bool complete = false;  ///< full fidelity priced every kernel
    std::string ended;      ///< why it ended, one sentence
    std::size_t kernels = 0;
    double launches = 0;
    /// What full fidelity is stated to cost, every different kernel once and every launch by itself; seconds.
    double statedOnce = 0, statedEach = 0;
    double stated = 0, seconds = 0;  ///< spent in all
    double choosing = 0;  ///< of `seconds`, on finding out whose word is full fidelity; hardly any where it was named
    Diagnostics notes;    ///< methods that could not be asked
};

struct BudgetOptions {
    Executor* executor = nullptr;  ///< required
    std::stop_token stop;
    Progress* progress = nullptr;  ///< one step per different kernel
    const CalibrationSet* calibrations = nullptr;
    std::vector<std::string> methods;  ///< choices; empty: every method that prices kernels
    std::string full;                  ///< full fidelity; empty: for every kind of kernel what evidence speaks for
    std::optional<double> within;      ///< seconds by the clock
    std::optional<double> to;          ///< half-width of the interval ÷ latency
    std::uint64_t seed = 0;
    std::function<double()> clock;  ///< seconds, rising; empty: the machine's
    std::function<void(const BudgetStep&)> onStep;
};

/// Of a pass or a training step on one device. The order in which kernels are asked hangs on the question alone; where
/// `within` ends it hangs on the machine. Fails with `budget.system` for plans over several devices and other tasks,
/// `budget.no-method`, as methods do, and with `study.cancelled` if stopped before the first answer; later the answer
/// is what there is.
Expected<BudgetAnswer> answerWithin(const Scenario& scenario, const BudgetOptions& options);

}  // namespace orrery
