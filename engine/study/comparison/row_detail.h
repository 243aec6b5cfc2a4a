#pragma once

// Two methods on one row of the references: what each makes its time of, the first term in which they differ, and steps
// that lead from one time to the other and on to what was measured, adding up exactly.

#include "evaluation/evaluation.h"
#include "evaluation/reference_index.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// A line of both chains: of a kernel a term of "why this number", of a model its operators of one type.
struct RowTerm {
    std::string label;
    std::optional<double> a, b;
    std::optional<double> measured;  ///< of all operators of a model's type, where each was measured as a kernel
    Dimension dimension = Dimension::Time;
    std::string unit;  ///< of a Number
};

/// From the time of A to that of B to the measured one.
struct RowStep {
    std::string label;
    double seconds = 0;
    enum class Of : std::uint8_t {
        Total,   ///< a whole time: A's, B's, the measured one
        Change,  ///< what B adds to A, or the truth to B
        Rest     ///< what no term says
    } of = Of::Change;
};

struct RowDetail {
    std::string row;
    std::string methodA, methodB;
    double a = 0, b = 0, measured = 0;  ///< s
    std::vector<RowTerm> terms;
    std::string first;           ///< the first term that differs by more than 1 %, one sentence; why there is none
    std::vector<RowStep> steps;  ///< Total A, changes, rest, Total B, change, Total measured
};

/// Asks both methods (ids, or choices with options) about the row once more, of a kernel for its terms, of a whole
/// model for its operators. `truths`: kernels that were measured; null: none. Fails as the methods do, naming which.
Expected<RowDetail> rowDetail(std::span<const ReferenceTable> tables, RowRef ref, const std::string& methodA,
                              const std::string& methodB, const EvaluateOptions& options,
                              const ReferenceIndex* truths = nullptr);

/// What the row measured, as a question: its device, and its model or its one kernel. Fails with `row.no-question` for
/// rows of several devices (collectives, experts) and of devices that no catalogue has.
Expected<Scenario> rowQuestion(std::span<const ReferenceTable> tables, RowRef ref);
/// `method` with the settings under which the row was measured (launch, fusion), as a choice.
Expected<std::string> methodAsMeasured(std::span<const ReferenceTable> tables, RowRef ref, const std::string& method);

}  // namespace orrery
