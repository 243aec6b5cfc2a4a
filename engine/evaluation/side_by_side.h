#pragma once

// Several methods on the same rows. Errors of two methods can be compared only where both answer, so each method has
// its figures on the rows that all of them price, beside those on all rows that it prices itself.

#include "evaluation/evaluation.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// A method as it was asked for.
struct Contestant {
    std::string asked;  ///< `id(key=value)`
    Method method;
    OptionValues options;
    bool always = true;  ///< false: stands apart where it prices too few rows, see wideEnough()
};

/// Which methods are compared where nobody says so: a narrow one would leave few rows in common, so those that price at
/// least half of what the widest does. `priced`: rows by method; of none that prices nothing.
std::vector<bool> wideEnough(std::span<const std::size_t> priced);

/// What a method does on rows that others price too.
struct CommonFigures {
    EvaluationFigures figures;
    /// 90 % of the mean absolute relative errors of resampled rows (bootstrap, Efron 1979), and in what share of the
    /// resamples it was the smallest of all, or of its equals where methods are told apart. Rows are drawn alike for
    /// all methods.
    double mapeLow = 0, mapeHigh = 0, firstShare = 0;
    std::size_t group = 0;   ///< of those with equal terms (equalsOf()); 0 where nobody is told apart
    std::size_t equals = 0;  ///< methods of its group, itself among them
};

struct CommonRows {
    std::vector<RowRef> rows;            ///< priced by every evaluation, in the order in which they were asked
    std::vector<CommonFigures> figures;  ///< parallel to the evaluations
    std::vector<std::size_t> ranking;    ///< smallest mean error first: indices
};
/// Of evaluations of the same question, none of them null. `groups`: by evaluation (equalsOf() of assumptions.h), who
/// is set against whom in firstShare; empty: all against all. O(draws × rows × evaluations).
CommonRows onCommonRows(std::span<const Evaluation* const> evaluations, std::span<const RowRef> asked,
                        std::span<const std::size_t> groups = {}, std::uint64_t seed = 1);
/// A, B, …: what a group of equals is called in figures and tables.
std::string groupLetter(std::size_t group);

/// What a method costs (seconds, rows to measure) and how far off it is.
struct CostedError {
    double cost = 0, error = 0;
    std::size_t group = 0;  ///< of equals, as CommonFigures has it
    bool apart = false;     ///< on rows of its own: in no front
};
/// By group, which of its methods no other of them beats in both: indices, cheapest first. A group of which nobody is
/// compared has none.
std::vector<std::vector<std::size_t>> frontsOf(std::span<const CostedError> methods);

/// The rows that all of them price, in the order in which they were asked.
std::vector<RowRef> pricedByAll(std::span<const Evaluation* const> evaluations, std::span<const RowRef> asked);

struct JudgedMethod {
    std::string asked;
    std::optional<Evaluation> own;      ///< on all rows that it prices; nothing where it answers none
    std::optional<Diagnostic> refusal;  ///< why
    CommonFigures common;               ///< on the rows that all who are compared price; of others, on its own
    std::string clock, stack;           ///< what it takes for granted of them, as assumptions.h has it
    bool compared = true;               ///< false: it answers none, or stands apart on its own rows
};

struct SideBySide {
    std::vector<JudgedMethod> methods;  ///< as asked for
    std::vector<RowRef> common;         ///< priced by every method that is compared
    std::size_t asked = 0;              ///< rows in all
    /// Of those that are compared, smallest mean error on the common rows first: indices.
    std::vector<std::size_t> ranking;
};

inline constexpr int bootstrapDraws = 1000;

/// Judges one method after the other. A method that answers no row says why and does not empty the common rows. Same
/// bytes whatever the executor, but for the timings. With `asMeasured` methods of other terms are told
/// apart. Fails with `study.cancelled`, and with the first refusal where nobody answers.
Expected<SideBySide> judgeSideBySide(std::span<const Contestant> contestants, std::span<const ReferenceTable> tables,
                                     std::span<const RowRef> rows, const EvaluateOptions& options,
                                     std::uint64_t seed = 1);

/// Rows of `rows` by which none of these calibrations of the method was fitted, by the splits that they record.
/// `warnings`: sections of the rows' kinds that kept none for a test. Fails with `reference.empty-split`.
Expected<std::vector<RowRef>> heldOutRows(const CalibrationSet& calibrations, std::string_view method,
                                          std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                                          Diagnostics& warnings);

}  // namespace orrery
