#pragma once

// Which rows methods are judged on when nobody chose them one by one, and names and sums by which rows are known again.

#include "evaluation/evaluation.h"
#include "learning/calibration.h"

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// At most so many, evenly spread, so that each table keeps its share; the same rows for every method.
std::vector<RowRef> thinned(std::vector<RowRef> rows, std::size_t most);

/// The rows that no calibration was fitted to, as far as the files say how they were split: else what was learned by
/// heart would be judged as if it were predicted.
std::vector<RowRef> unseen(std::span<const ReferenceTable> tables, std::vector<RowRef> rows,
                           const CalibrationSet& calibrations);

/// Of the rows, those whose publication the method's calibrations name among their sources: it was fitted to them.
std::size_t fittedAmong(std::string_view method, std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                        const CalibrationSet& calibrations);

/// By what a row is known in files of others: 12 digits of a hash of device, kernel or model, its software and the
/// measured time. Rows that are alike in all of that share it.
std::string rowId(std::span<const ReferenceTable> tables, RowRef ref);

/// One hash of what rows say (devices, kernels, times, kind of truth), whatever file they stand in.
std::string rowsHash(std::span<const ReferenceTable> tables, std::span<const RowRef> rows);

}  // namespace orrery
