#pragma once

// Where the time between two answers goes: a list of terms whose differences add up to the difference of the totals.

#include "study/comparison/cases.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class DifferenceBy : std::uint8_t {
    Operators,  ///< matched by name
    Kinds,      ///< by the operators' types: `MatMul`
    Blocks,     ///< by folded blocks and scopes of names: `layers ×32`
    Causes      ///< kernels, gaps of launches, communication, waiting for other stages
};
std::string_view toText(DifferenceBy by);  ///< `operators`, `kinds`, `blocks`, `causes`
/// Fails with `compare.by`.
Expected<DifferenceBy> differenceBy(std::string_view text);

struct DifferenceTerm {
    std::string label;
    double before = 0, after = 0;  ///< s
    bool inBefore = true, inAfter = true;
    /// Operators of either graph that it sums; empty for what is of none.
    std::vector<std::int32_t> operatorsBefore, operatorsAfter;
    enum class Of : std::uint8_t {
        Work,    ///< operators or a cause
        Rest,    ///< all smaller ones together
        Overlap  ///< total less all other terms: below 0 what runs at the same time, above 0 what belongs to no
                 ///< operator
    } of = Of::Work;
    double delta() const { return after - before; }
};

struct TimeDifference {
    DifferenceBy by = DifferenceBy::Operators;
    double before = 0, after = 0;  ///< s, the totals
    /// Largest difference first; then the rest, where there is one; the overlap last, always. Sums of `before` and of
    /// `after` are the totals to rounding (10⁻¹² of them).
    std::vector<DifferenceTerm> terms;
    std::vector<std::string> notes;  ///< what could not be matched, and that two methods differ
};

/// Operators of the same name are one term; those that one answer alone has stand by themselves. Where less than half
/// of either time is in operators that both have, `Operators` falls back to kinds, and says so. `most`: terms of their
/// own, the others are the rest; 0: all. Fails with `compare.no-answer` where either case has none,
/// with `compare.question` for serving runs and for two kinds of question.
Expected<TimeDifference> timeDifference(const AnsweredCase& before, const AnsweredCase& after, DifferenceBy by,
                                        std::size_t most = 0);

/// Operators of `after`'s own graph as they stand against `before`: seconds of both, matched by name; NaN where
/// `before` has none. Empty where either answer's rows are not those of a graph that is known.
struct OperatorPairs {
    std::vector<double> before, after;
};
OperatorPairs operatorPairs(const AnsweredCase& before, const AnsweredCase& after);

}  // namespace orrery
