#pragma once

// Coverage tables of methods, as surveys of the field print them, made of evidence that is really there: methodology ×
// platform, × class of workload, × level, and what each method takes, says and breaks on. A method stands in a cell
// only where rows of references judge it there; what its card claims beside that is told apart, and a cell without a
// mark says what is missing. Nothing is typed in: without the rows the marks are gone.

#include "evaluation/method_matrix.h"
#include "learning/calibration.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// Rows of one reference table.
struct SurveySource {
    std::string table;
    ReferenceKind kind = ReferenceKind::Measured;
    std::size_t rows = 0;
    bool operator==(const SurveySource&) const = default;
};

/// One method where rows judge it.
struct SurveyMark {
    std::size_t entry = 0;              ///< of the entries that were given
    double mape = 0;                    ///< mean of |predicted − measured| ÷ measured
    double median = 0;                  ///< of the same
    double coverage90 = 0;              ///< share of rows inside the method's own 90 % intervals
    bool simulated = false;             ///< none of its rows was measured
    std::vector<SurveySource> sources;  ///< most rows first
    std::vector<RowRef> which;          ///< the rows
};

struct SurveyCell {
    std::vector<SurveyMark> marks;     ///< smallest mean error first
    std::vector<std::size_t> claimed;  ///< entries whose card claims the place and that no row judges there
    std::string missing;               ///< one sentence, where there is no mark; else empty
};

/// One of the survey's figures. Levels are those of the rows: a kernel, a model, a system.
struct SurveyTable {
    Facet by = Facet::Platform;
    std::vector<std::string> columns;
    std::vector<std::size_t> rows;               ///< of references that stand there, by column
    std::vector<std::vector<SurveyCell>> cells;  ///< by methodology as surveyed(), then by column
};

/// The class of rows on which a method is furthest off.
struct SurveyWorst {
    std::string workloadClass;  ///< empty: no row judges it
    double mape = 0;
    std::size_t rows = 0;
};

/// What a method takes and says.
struct SurveyLine {
    std::size_t entry = 0;
    std::string speed;      ///< the card's stated cost, as measured: `50 us + 4 us per kernel`
    double oneKernel = -1;  ///< s of one thread for a question of one kernel, from it; below 0: it rests on more
    std::vector<std::string> needs;   ///< attributes and inputs, from the card
    std::int64_t samples = 0;         ///< measured rows that its calibrations were fitted to, of the kinds asked
    std::string reading, readingWhy;  ///< `terms`, `limits`, `time` or `not asked`; one clause
    std::size_t terms = 0;            ///< of `terms`: named steps of one price
    std::string failureMode;          ///< from the card
    SurveyWorst worst;                ///< found
    std::size_t rows = 0;             ///< that judge it, in all
};

struct Survey {
    std::vector<SurveyTable> tables;  ///< by platform, by class of workload, by level
    std::vector<SurveyLine> lines;    ///< by methodology, then as given
};

/// The methodologies, as the tables have them from top to bottom.
std::span<const Methodology> surveyed();

/// `entries` were judged on `rows` (or could not be). How a price can be read is asked of one of a method's own rows
/// where its answers come at once. O(entries × rows).
Survey surveyOf(std::span<const MatrixEntry> entries, std::span<const ReferenceTable> tables,
                std::span<const RowRef> rows, const CalibrationSet& calibrations);

/// How the method's price of one of the evaluation's rows can be read; fills `reading`, `readingWhy` and `terms`.
void readPrice(SurveyLine& line, const MatrixEntry& entry, std::span<const ReferenceTable> tables,
               const CalibrationSet& calibrations);

}  // namespace orrery
