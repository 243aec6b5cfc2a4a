#pragma once

// Designs × workloads × plans side by side: every case answered, one of them the baseline, all that is weighed of an
// answer in the same columns, and each number against the baseline's with what the intervals allow to say.

#include "study/exploration/quantity.h"
#include "study/study.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct ComparedCase {
    std::string name;  ///< `A`, `hbm3.bandwidth 6.7 TB/s`
    Scenario scenario;
    std::optional<double> deviceHour;  ///< dollars; nothing: no price is known
};

/// A column of the comparison. `throughput` and what follows from it count what the answer counts: tokens, samples, or
/// else passes (rateUnit).
struct CaseQuantity {
    std::string_view name;   ///< `perf_per_watt`: in JSON, CSV and on the command line
    std::string_view title;  ///< `Throughput per watt`
    Dimension dimension;
    bool moreIsBetter = false;
    std::string_view meaning;
};
/// `time`, `throughput`, `energy`, `power`, `memory`, `devices`, `area`, `price`, `cost`, `perf_per_watt`,
/// `perf_per_mm2`, `per_dollar`; of serving runs besides `ttft_p99`, `tpot_p99`, `latency_p99`, `goodput`, `slo_kept`.
std::span<const CaseQuantity> caseQuantities();
/// Index into caseQuantities(). Fails with `compare.quantity` and the nearest names.
Expected<std::size_t> caseQuantity(std::string_view name);
/// Counted by every method alike, so that it needs no interval: `memory`, `devices`.
bool isCounted(std::size_t quantity);

struct AnsweredCase {
    ComparedCase asked;
    std::string method;                         ///< who answers
    std::shared_ptr<const Estimate> estimate;   ///< null where nobody does
    std::string reason;                         ///< why this method, one sentence
    std::optional<Diagnostic> failure;          ///< of the method that was to answer
    std::string rateUnit;                       ///< `token/s`, `sample/s`, `pass/s`
    std::vector<std::optional<Ranged>> values;  ///< by caseQuantities(); nothing where it is not predicted
};

struct CaseComparison {
    std::vector<AnsweredCase> cases;
    std::size_t baseline = 0;
    /// One method answers all cases, so that no difference is one of methods.
    bool oneMethod = false;
    const AnsweredCase& base() const { return cases[baseline]; }
};

struct CompareOptions {
    Executor* executor = nullptr;  ///< null: one thread
    std::stop_token stop;
    Progress* progress = nullptr;
    const CalibrationSet* calibrations = nullptr;  ///< null: the shipped ones
    std::uint64_t seed = 0;
};

/// Asks `methods` of every case. Of those that answer all of them the one with the least expected error leads
/// (evaluation/best_answer.h, the worst case counts; bounds only where nothing else answers); where there is none, each
/// case has its own best. Results do not depend on the executor. Fails with `compare.empty` without cases or methods
/// and `compare.baseline` for a baseline that is none of them.
Expected<CaseComparison> compareCases(std::vector<ComparedCase> cases, std::size_t baseline,
                                      const std::vector<std::string>& methods, const CompareOptions& options);

/// One answer as a case, for callers that have it already. `drawn`: the baseline's design, whose stated silicon a
/// derived design keeps; null: its own.
AnsweredCase answeredCase(ComparedCase asked, std::string method, std::shared_ptr<const Estimate> estimate,
                          const Hardware* drawn = nullptr);

/// One number against the baseline's.
struct Against {
    double ratio = 1;          ///< to the baseline's
    double low = 1, high = 1;  ///< between the far ends of both intervals: all that their errors allow
    enum class Says : std::uint8_t {
        Same,    ///< equal numbers and intervals
        Better,  ///< the whole interval is
        Worse,
        Overlap,    ///< the intervals overlap: not sure
        NoInterval  ///< no interval is stated for either: the numbers alone
    } says = Says::Same;
};
std::string_view toText(Against::Says says);  ///< `same`, `better`, `worse`, `overlap`, `no-interval`
/// Nothing where either has no number, or the baseline's is 0.
std::optional<Against> against(const std::optional<Ranged>& baseline, const std::optional<Ranged>& other,
                               bool moreIsBetter);
/// Whether both were asked the same kind of question: the time of a pass says nothing of that of a serving run.
bool sameQuestion(const AnsweredCase& a, const AnsweredCase& b);
/// The same for a column of two cases. What both share cancels: of one design's silicon only the throughput is unsure.
/// Of two kinds of question only what is of the designs.
std::optional<Against> againstBaseline(const AnsweredCase& baseline, const AnsweredCase& other, std::size_t column);
/// `1.52 × as fast [1.2 … 1.9]: sure`, for the time alone.
std::string verdictText(const AnsweredCase& baseline, const AnsweredCase& other);

/// Dollars of a device's hour by a project's prices: of the kind that the plan works on, else of all others.
std::optional<double> deviceHourOf(const std::map<std::string, double, std::less<>>& prices, const Scenario& scenario);

/// With its unit, as tables show it: `6.12 ms`, `$1.2e-05`, `412 token/s`.
std::string caseValueText(std::size_t quantity, double value, const AnsweredCase& answered);

}  // namespace orrery
