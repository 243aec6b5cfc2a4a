#pragma once

// A method against measured kernels: what it predicts for every row, how far that is from the truth, how honest its
// intervals are, and where it is worst.

#include "base/executor.h"
#include "base/progress.h"
#include "evaluation/error_metrics.h"
#include "evaluation/reference_table.h"
#include "methods/method.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

/// A row of one of several tables.
struct RowRef {
    std::int32_t table = 0, row = 0;
    bool operator==(const RowRef&) const = default;
};
/// Those that the filter accepts, in the tables' order.
std::vector<RowRef> selectRows(std::span<const ReferenceTable> tables, const ReferenceFilter& filter = {});
/// `gemm 1024×4096×4096 bf16 on h100-sxm (a.csv:17)`
std::string rowText(std::span<const ReferenceTable> tables, RowRef ref);

/// Columns of equal length, one row per evaluated kernel: what residual plots are drawn from.
struct EvaluatedRows {
    std::vector<double> predicted, low, high, measured;  ///< seconds; low and high hold 90 %
    std::vector<double> flops, bytes;                    ///< of the kernel, each operand once
    std::vector<DomainVerdict> domain;
    std::vector<RowRef> ref;
    /// What the measurement itself leaves open, see repeatability.h; below 0: not known. Empty: of no row.
    std::vector<float> floor;
    std::size_t size() const { return ref.size(); }
    /// (predicted − measured) ÷ measured
    double error(std::size_t i) const { return (predicted[i] - measured[i]) / measured[i]; }
};

struct EvaluationFigures {
    ErrorSummary errors;
    double coverage90 = 0;         ///< share of measured values within low … high
    std::size_t flagged = 0;       ///< rows outside the trained domain
    double flaggedMape = 0;        ///< of those alone; 0 if there are none
    double halfWidth = 0;          ///< of the 90 % interval ÷ predicted; the median row's
    std::size_t wrong = 0;         ///< rows off by more than a factor of two either way
    std::size_t wrongFlagged = 0;  ///< of those, rows that are flagged
    double floor = 0;              ///< mean error that a perfect method would have, by the noise of the measurements
    std::size_t floorRows = 0;     ///< rows of which that is known; 0: of none
    double secondsPerAnswer = 0;   ///< of a processor: the median answered row, see PricedRows
    double secondsLow = 0, secondsHigh = 0;  ///< its quartiles
};

/// Rows that are alike. `size` is the class of measured time.
struct EvaluationGroup {
    std::string device, kind, variant, size;  ///< `h100-sxm`, `gemm`, `bf16`, `10–100 us`
    EvaluationFigures figures;
};

struct Evaluation {
    std::string method, version;
    EvaluatedRows rows;
    EvaluationFigures figures;              ///< of all rows
    std::vector<EvaluationGroup> groups;    ///< by device, kind, variant and size, in this order
    std::vector<EvaluationGroup> families;  ///< by device, kind and variant; `size` is empty
    std::vector<std::size_t> worst;         ///< largest |error| first: indices into `rows`
    std::size_t notCovered = 0;             ///< rows that the method does not price; in no figure
    Diagnostics warnings;
};

struct EvaluateOptions {
    Executor* executor = nullptr;  ///< required
    std::stop_token stop;
    Progress* progress = nullptr;                  ///< one step per row
    const CalibrationSet* calibrations = nullptr;  ///< null: the shipped ones
    bool leaveDeviceOut = false;  ///< each device asked as if nobody had measured it: without what it taught
    OptionValues options;         ///< of methods that are no kernel methods
    /// Whole models: launch and fusion as the row's source says that they were run, where the method has the option and
    /// `options` does not say otherwise. False: as the method has them by itself.
    bool asMeasured = true;
    std::size_t worst = 20;  ///< how many to name
};

/// Asks `method` about the rows. Of rows that are kernels a kernel method is asked kernel by kernel; any other is given
/// graphs of independent operators, and its intervals are its stated errors. Whole models are answered as `run` does.
/// Rows whose device the catalogue lacks are left out with a warning. Same bytes whatever the executor, but for the
/// timings. Fails with `reference.no-rows`, `study.cancelled`, or with what the method says where it can price none.
Expected<Evaluation> evaluate(const Method& method, std::span<const ReferenceTable> tables,
                              std::span<const RowRef> rows, const EvaluateOptions& options);

/// What priced rows say: floors, figures, groups and worst rows; the timings, warnings and rows that are not covered
/// stay the caller's.
Evaluation evaluationOf(std::string method, std::string version, EvaluatedRows rows,
                        std::span<const ReferenceTable> tables, std::size_t worst = 20);

/// As kernelRows() of reference_table.h, of chosen rows. `cpus`: of processors instead of GPUs
/// (methods/cpu/cpu_view.h).
Expected<std::vector<KernelRows>> kernelRows(std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                                             Diagnostics& warnings, bool cpus = false);

/// The figures of some rows of an evaluation.
EvaluationFigures figuresOf(const EvaluatedRows& rows, std::span<const std::size_t> chosen);

}  // namespace orrery
