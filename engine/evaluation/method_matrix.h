#pragma once

// Methods × scenarios: how far off each method is on each platform (or class of workload, or level), grouped by
// methodology; where it has no answer, why; where nothing was measured, nothing.

#include "evaluation/row_facets.h"
#include "methods/method.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// A method that was judged, or that could not be.
struct MatrixEntry {
    std::string asked;             ///< `id(key=value)`
    const MethodCard* card;        ///< never null
    const Evaluation* evaluation;  ///< null where it answers none of the rows
    std::string refusal;           ///< then: why
};

struct MatrixCell {
    enum class State : std::uint8_t {
        NoTruth,        ///< no row stands there
        NotApplicable,  ///< rows stand there and the method prices none of them
        Judged
    } state = State::NoTruth;
    std::size_t rows = 0;      ///< that the figures are of
    bool common = false;       ///< they are those that every method prices which counts in this column
    double median = 0;         ///< of (predicted − measured) ÷ measured, signed
    double low = 0, high = 0;  ///< 90 % interval of the median, by order statistics; all errors where rows are few
    double mape = 0;
    std::size_t equals = 0;     ///< that are set against each other in its column, itself among them; 0: not said
    bool least = false;         ///< the smallest mean error of these, where they are two or more
    double coverage90 = 0;      ///< share inside the method's own 90 % intervals
    std::vector<RowRef> which;  ///< the rows
    std::string reason;         ///< of NotApplicable, one sentence
};

struct MatrixColumn {
    std::string word;        ///< `GPU`
    std::size_t asked = 0;   ///< rows that stand there
    std::size_t common = 0;  ///< of them, priced by every method that counts: those with at least half of the most
};

struct MethodMatrix {
    Facet by = Facet::Platform;
    std::vector<MatrixColumn> columns;
    std::vector<std::size_t> order;              ///< entries by methodology, then as given
    std::vector<std::vector<MatrixCell>> cells;  ///< by entry as given, then by column
};

/// `common`: figures of rows that all have in common who price at least half of a column; else each on its own rows. A
/// column by platform stands also where no row does, if a card claims the platform. O(entries × rows × log rows).
MethodMatrix methodMatrix(std::span<const MatrixEntry> entries, std::span<const ReferenceTable> tables,
                          std::span<const RowRef> asked, Facet by, bool common);

/// Says in each column who errs least among equals, on the rows that its methods have in common. `group`: by place in
/// the entries and by column, of whom the method is an equal there.
void markLeast(MethodMatrix& matrix, const std::function<std::size_t(std::size_t entry, std::size_t column)>& group);

/// Median of some numbers and its 90 % interval by order statistics (ranks n/2 ± 0.82 √n); the whole range under eight.
/// Empty gives zeros.
struct MedianInterval {
    double median = 0, low = 0, high = 0;
};
MedianInterval aroundMedian(std::vector<double> values);

/// method, methodology, level, column, state, rows, common, median error, interval, mean, coverage, equals, whether it
/// errs least of these, reason.
std::string matrixCsv(const MethodMatrix& matrix, std::span<const MatrixEntry> entries);
/// A table of LaTeX (booktabs, multirow-free): signed median error in per cent with n as an index; `--` is not
/// applicable, blank is no truth, bold is the least mean error among equals.
std::string matrixTex(const MethodMatrix& matrix, std::span<const MatrixEntry> entries);

}  // namespace orrery
