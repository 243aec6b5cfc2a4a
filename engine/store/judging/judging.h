#pragma once

// A judging file answered: every method asked about the same rows, figures of the rows that those have in common who
// are compared, the matrix, and what the methods assume. Same numbers whatever the executor; timings differ.

#include "base/executor.h"
#include "base/progress.h"
#include "evaluation/assumptions.h"
#include "evaluation/method_matrix.h"
#include "evaluation/side_by_side.h"
#include "store/judging/judging_file.h"
#include "store/judging/method_facts.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

struct JudgedEntry {
    std::string asked, title;                ///< `id(key=value)`; for people
    std::shared_ptr<const MethodCard> card;  ///< never null
    std::string importedFrom;                ///< file; empty: a method of Orrery
    std::shared_ptr<const Evaluation> evaluation;
    std::optional<Diagnostic> refusal;  ///< why it answers none
    bool compared = false;
    EvaluationFigures own;  ///< of the rows that count and that it prices
    CommonFigures common;   ///< of those that are compared, on their common rows
    Assumptions assumptions;
    MethodFacts facts;
    std::size_t fittedRows = 0;  ///< of the rows that count, those that it was fitted to itself
    const EvaluationFigures& figures() const { return compared ? common.figures : own; }
};

struct Judged {
    JudgingQuestion question;
    std::shared_ptr<const std::vector<ReferenceTable>> tables;
    std::vector<RowRef> asked;   ///< every method was asked about these
    std::vector<RowRef> rows;    ///< that count
    std::vector<RowRef> common;  ///< of those, priced by all that are compared
    std::string hash;            ///< rowsHash() of those that count
    std::vector<JudgedEntry> entries;
    std::vector<std::size_t> ranking;  ///< of the compared ones, smallest mean error first
    std::vector<Aspect> differing;     ///< assumptions in which the compared ones differ
    MethodMatrix matrix;
    Diagnostics warnings;  ///< of tables, of rows that differ from those that the file was saved with
    std::vector<MatrixEntry> matrixEntries() const;
};

struct JudgeOptions {
    Executor* executor = nullptr;  ///< required
    std::stop_token stop;
    Progress* progress = nullptr;
    const CalibrationSet* calibrations = nullptr;  ///< null: the shipped ones
    FactFinder* facts = nullptr;                   ///< keeps what it found for the next judging; null: a fresh one
};

/// Fails as readReferences() and readResults() do, with `reference.no-rows` where none is left, `study.cancelled`.
Expected<Judged> judge(const JudgingQuestion& question, const JudgeOptions& options);

/// Everything but the asking: `judged` has its question, tables, the rows asked and entries with title, card and
/// evaluation or refusal; the rest is made anew.
void compareJudged(Judged& judged, const CalibrationSet& calibrations, FactFinder& facts);

/// What the file says of its rows, to be saved with it.
SavedRows savedRows(const Judged& judged);

/// A hash of every prediction of every method, of their versions and of the rows: equal where the numbers are.
std::string resultsHash(const Judged& judged);

}  // namespace orrery
