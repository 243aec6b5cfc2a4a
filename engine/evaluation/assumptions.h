#pragma once

// What methods take for granted while they are compared: fusion, launches, clock, the software that they know. Where
// two of them differ, a difference of their errors may be one of these and not of the methods. What has an option
// is asked alike; what was fitted into a method cannot be asked otherwise: there methods are told apart.

#include "evaluation/evaluation.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class Aspect : std::uint8_t { Fusion, Launch, Clock, Stack };
inline constexpr std::array aspects{Aspect::Fusion, Aspect::Launch, Aspect::Clock, Aspect::Stack};
std::string_view toText(Aspect aspect);  ///< `fusion`, `launch`, `clock`, `stack`

/// What is held of rows that are alike.
struct AssumedOf {
    /// One word: of fusion and launch how such rows are really asked (`eager`), `single kernels`, `not modelled`; of
    /// the clock and the stack as below.
    std::string fact;
    std::size_t rows = 0;
    bool operator==(const AssumedOf&) const = default;
};

struct Assumption {
    /// For people. Of fusion and launch `as measured`, `epilogue`, `not modelled`. Of the clock `the design's`, `as
    /// fitted`. Of the stack `none` (knows no software), `the rows'`, `another`. Where rows differ: `the rows' of 12,
    /// another of 30`.
    std::string value;
    std::string meaning;  ///< one sentence
    /// What methods are compared by: one for each group of rows that are alike, in the same order whatever the method.
    /// Empty where nothing is known of it.
    std::vector<AssumedOf> facts = {};
};
using Assumptions = std::array<Assumption, aspects.size()>;

/// Of a method about these rows, as `options` has it asked: by its options (those chosen, else as the rows' software
/// ran where options.asMeasured is set and rows are whole models, else its own), and by the calibrations that it reads.
Assumptions assumptionsOf(const MethodCard& card, std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                          const EvaluateOptions& options);

/// Share of the rows of which both hold the same in every aspect. Of assumptions about the same rows; where of one
/// nothing is known, 1 if nothing is known of the other for the same reason, else 0.
double agreement(const Assumptions& a, const Assumptions& b);
inline constexpr double equalTerms = 0.75;  ///< share of the rows from which on methods count as of equal terms

/// Who is of equal terms: agrees with the first member of a group on equalTerms of the rows; of several groups, with
/// whose it agrees most. For each the number of its group, counted by first members.
std::vector<std::size_t> equalsOf(std::span<const Assumptions> all);

/// Aspects in which not all hold the same of every row.
std::vector<Aspect> differing(std::span<const Assumptions> all);

/// Sections of the method that speak of the kinds in `rows`; of whole models all.
std::vector<const CalibrationSection*> sectionsBehind(std::string_view method, std::span<const ReferenceTable> tables,
                                                      std::span<const RowRef> rows, const CalibrationSet& calibrations);

/// Measured rows that the method's calibrations were fitted to, each source once, of the kinds that stand in `rows`;
/// 0: it needs none.
std::int64_t samplesBehind(std::string_view method, std::span<const ReferenceTable> tables,
                           std::span<const RowRef> rows, const CalibrationSet& calibrations);

/// The method, and those that fill its slots, as `asked` (`id(key=value)`) fills them, or else the pools of the rows'
/// serving runs: what they were fitted to, it stands on.
std::vector<std::string> standsOn(const MethodCard& card, std::string_view asked,
                                  std::span<const ReferenceTable> tables, std::span<const RowRef> rows);
/// samplesBehind() of all of these.
std::int64_t samplesBehindAll(const MethodCard& card, std::string_view asked, std::span<const ReferenceTable> tables,
                              std::span<const RowRef> rows, const CalibrationSet& calibrations);

}  // namespace orrery
