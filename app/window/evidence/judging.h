#pragma once

// What the judge page holds: every method judged on the same rows, and what the rows that count say of those that are
// compared. Asked and put together off the window's thread.

#include "app/window/evidence/reference_shelf.h"
#include "evaluation/assumptions.h"
#include "evaluation/evaluation.h"
#include "evaluation/method_matrix.h"
#include "evaluation/row_facets.h"
#include "evaluation/side_by_side.h"
#include "store/judging/judging.h"

#include <QString>
#include <QStringList>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace orrery::app {

/// One method with what the references say of it.
struct Judgement {
    QString method, title;                              ///< id, or a choice with options
    int colour = 0;                                     ///< of its methodology
    std::shared_ptr<const Evaluation> evaluation = {};  ///< none while it runs or where it failed
    std::optional<Diagnostic> failure = {};
    std::shared_ptr<const MethodCard> card = {};  ///< never null
    QString importedFrom = {};                    ///< file of another tool's results; empty: a method of Orrery
};

/// Which rows and methods count.
struct Comparing {
    FacetsOff off;                   ///< rows that are left out, by what they are of
    std::map<QString, bool> chosen;  ///< methods that a person put in or took out; others by themselves
    Facet by = Facet::Platform;      ///< columns of the matrix
    bool common = true;              ///< figures of rows that all compared methods price
    bool equal = true;               ///< asked with equal assumptions, where their options allow
};

/// What the judged methods that are compared do on the rows that count.
struct Compared {
    std::vector<RowRef> rows;     ///< that count
    std::vector<int> judgements;  ///< which are compared, parallel to the common figures
    CommonRows common;
    std::vector<EvaluationFigures> own;          ///< by judgement: of the rows that count and that it prices itself
    std::vector<Assumptions> assumptions;        ///< by judgement
    std::vector<Aspect> differing;               ///< of those that are compared
    std::vector<MethodFacts> facts;              ///< by judgement: difficulty, samples, reproducibility
    std::vector<std::size_t> fittedRows;         ///< by judgement: rows that count and that it was fitted to
    std::vector<std::vector<FacetCount>> chips;  ///< by facet, of the rows that were asked
    MethodMatrix matrix;                 ///< by judgement; its rows are not narrowed by what its own columns leave out
    SavedRows saved;                     ///< what a file of this page says of it
    std::shared_ptr<const Judged> page;  ///< all of it, as the command line has it
    bool isCompared(int judgement) const;
    /// Null where it is not compared.
    const CommonFigures* figuresOf(int judgement) const;
};

/// Every method that stands among all (`methods/among_all.h`) and beside them those choices that name others: options
/// filled, a slow one, another program. Or those of `only` where it names some.
std::vector<Judgement> toBeJudged(const QStringList& choices, const std::vector<std::string>& only = {});
/// What a choice fills; empty where it is an id alone.
OptionValues optionsOf(const QString& method);
QString titleOf(Facet facet);  ///< `Platform`

/// What stands on the horizontal axis of the residuals; of Sums, how they grow as kernels are added up.
enum Against { Intensity, Size, Prediction, Sums };

/// Another tool's results as a judgement.
Judgement judgementOf(const JudgedEntry& imported);
/// What was judged as the engine compares it, so that a page and its file say the same.
Judged pageOf(const JudgingQuestion& question, const ReferenceTablesPtr& tables, const std::vector<RowRef>& asked,
              const std::vector<Judgement>& judged);
/// compareJudged() of a page.
Compared comparedOf(Judged page, const CalibrationSet& calibrations, FactFinder& facts, const std::stop_token& stop);

/// Judgements as entries of a matrix.
std::vector<MatrixEntry> matrixEntries(const std::vector<Judgement>& judged);

/// The matrix while methods are still asked: cells of those in `judged` that have answered or refused, as if nobody
/// else was asked; blank cells of the others. Who errs least is not said yet. O(entries × rows × log rows).
MethodMatrix matrixSoFar(const JudgingQuestion& question, const std::vector<ReferenceTable>& tables,
                         const std::vector<RowRef>& asked, const std::vector<Judgement>& judged);

}  // namespace orrery::app
