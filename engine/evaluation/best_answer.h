#pragma once

// Which answer to believe, by evidence: how far measurements support each one (Estimate::support), what lies outside
// its domain, and how wide its interval is. Bounds never lead while anything else answers.

#include "methods/estimate.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// An answer among others; null where its method gave none.
struct AskedAnswer {
    std::string method;  ///< as the question names it
    const Estimate* estimate = nullptr;
};

struct AnswerRanking {
    std::vector<std::size_t> order;   ///< of all answers asked, best first; bounds after answers, failures last
    std::optional<std::size_t> best;  ///< nothing if none answered
    std::string reason;               ///< of the best, one sentence without its method: `3.2 % on 7,140 …; 96 % …`
};

/// The error to expect of an answer, as |ln(measured ÷ predicted)|: what its method was off on the nearest references,
/// and a tenth more for each share of its time that lies outside the calibration or that nobody measured, unless whole
/// passes speak for it (at the edge too, methods/model/pass_evidence.h). Where the answer does not say, half of its
/// interval in ln, and as unmeasured.
double expectedError(const Estimate& estimate);
/// Why an answer may be believed, one sentence: `3.2 % on 7140 bf16 gemm kernels of this device; all of the time in
/// its calibration`.
std::string supportText(const Estimate& estimate);

/// Least expected error first; of two that differ by less than a tenth the narrower interval, then the order asked.
/// Costs microseconds.
AnswerRanking rankAnswers(std::span<const AskedAnswer> answers);

/// Whether nothing is faster than the answer's own latency, so that `≥` may stand before it. A roofline counts traffic
/// that a cache may save; where it does, its interval begins below it.
bool isLeastTime(const Estimate& estimate);
/// The bound that stands beside an answer: that of the best answer, else of any. Nothing where no method knows kernels.
std::optional<Seconds> boundBeside(std::span<const AskedAnswer> answers, const AnswerRanking& ranking);

}  // namespace orrery
