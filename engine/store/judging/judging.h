#pragma once

// A judging file answered: every method asked about the same rows, figures of the rows that those have in common who
// are compared, the matrix, and what the methods assume. Same numbers whatever the executor; timings differ.

#include "base/executor.h"
#include "base/progress.h"
#include "evaluation/assumptions.h"
#include "evaluation/method_matrix.h"
#include "evaluation/side_by_side.h"
#include "learning/calibration.h"
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
    std::size_t groups = 0;            ///< of equal terms, among the compared ones; 0: nobody is told apart
    MethodMatrix matrix;
    CalibrationSet calibrations;  ///< with which methods were asked
    Diagnostics warnings;         ///< of tables, and of what differs from that with which the file was saved
    /// Whether the file knew its results, and every one of them is the same now.
    bool asSaved = false;
    std::vector<MatrixEntry> matrixEntries() const;
};

struct JudgeOptions {
    Executor* executor = nullptr;  ///< required
    std::stop_token stop;
    Progress* progress = nullptr;
    const CalibrationSet* calibrations = nullptr;  ///< null: the shipped ones
    FactFinder* facts = nullptr;                   ///< keeps what it found for the next judging; null: a fresh one
};

/// The references that the question names: `shipped` as they ship, others after them, of which only rows are kept that
/// `where` takes. Fails as readReferences().
Expected<std::shared_ptr<const std::vector<ReferenceTable>>> judgingTables(const JudgingQuestion& question);

/// What would be asked, and nobody asked: tables, rows, their hash and warnings of tables. `calibrations`: null for the
/// shipped ones. Fails as readReferences() does, with `reference.no-rows` where none is left.
Expected<Judged> judgingRows(const JudgingQuestion& question, const CalibrationSet* calibrations);

/// Results of other tools as entries; lines about other rows are warned of. Fails as readResults().
Expected<std::vector<JudgedEntry>> importedEntries(std::span<const std::string> files,
                                                   std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                                                   Diagnostics& warnings);

/// Fails as readReferences() and readResults() do, with `reference.no-rows` where none is left, `study.cancelled`.
Expected<Judged> judge(const JudgingQuestion& question, const JudgeOptions& options);

/// Everything but the asking: `judged` has its question, tables, the rows asked and entries with title, card and
/// evaluation or refusal; the rest is made anew. Once stopped it ends within the facts of one method or the assumptions
/// of one cell, and what is not done yet is empty.
void compareJudged(Judged& judged, const CalibrationSet& calibrations, FactFinder& facts,
                   const std::stop_token& stop = {});

/// Whether compared methods stand on the same rows: asked for, and there are some. Else no two of their errors compare.
bool onSameRows(const Judged& judged);
/// Of the compared methods those that no other one of their equals beats in both error and cost of an answer, by
/// group, cheapest first. By clock: other machines may say otherwise. None where they do not stand on the same rows, or
/// where all share no rows; whose cost is not known is in none.
std::vector<std::vector<std::size_t>> answerFronts(const Judged& judged);

/// What the file says of its rows and results, to be saved with it.
SavedRows savedRows(const Judged& judged);

/// A hash of every prediction of every method, of their versions and of the rows: equal where the numbers are.
std::string resultsHash(const Judged& judged);

}  // namespace orrery
