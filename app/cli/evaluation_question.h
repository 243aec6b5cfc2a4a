#pragma once

// What `evaluate` and `calibrate` have in common: which method, which references, which of their rows; and how results
// are shown.

#include "app/cli/command.h"
#include "evaluation/column_mapping.h"
#include "evaluation/evaluation.h"
#include "evaluation/method_matrix.h"
#include "evaluation/side_by_side.h"

#include <optional>
#include <string>
#include <vector>

namespace orrery::cli {

/// `--references`, `--where`, `--device`, `--import`, `--map`, `--word`.
const std::vector<Option>& referenceOptions();

/// How the tables are to be read, from those options. Codes `usage.…`, `reference.…`, `mapping.…`.
Expected<ReadOptions> readReferenceOptions(const Arguments& arguments);
/// What `--map` and `--word` say; nothing if there are none.
Expected<std::optional<ColumnMapping>> readMapping(const Arguments& arguments);
/// `--references` and what stands alone.
std::vector<std::string> referenceFiles(const Arguments& arguments);

struct ReferenceQuestion {
    std::vector<ReferenceTable> tables;
    std::vector<RowRef> rows;  ///< that --where accepts
    std::string where;
};
/// Reads the tables and chooses rows; reports warnings. Where none is named, the tables are those that ship, and a note
/// says so. Codes `usage.…` and `reference.…`.
Expected<ReferenceQuestion> readReferenceQuestion(const Arguments& arguments);
/// The method of `--method`, options in parentheses. Kernel methods count even where no Method composes them.
Expected<Method> readOneMethod(const Arguments& arguments, OptionValues& options);
/// All of them, where `--method` may be repeated; `all` stands for every method that isJudgedUnnamed(). Fails with
/// `usage.twice` where one stands twice.
Expected<std::vector<Contestant>> readContestants(const Arguments& arguments);
/// A whole number; `fallback` if the option is absent. Code `usage.number`.
Expected<std::uint64_t> readSeed(const Arguments& arguments, std::uint64_t fallback);

/// Methods on their common rows, the best first.
std::string sideBySideText(const SideBySide& all);
/// Methods as entries of a matrix, as they were asked.
std::vector<MatrixEntry> matrixEntries(const SideBySide& all, std::span<const Contestant> asked);
/// Methods by scenario, and why cells do not apply.
std::string matrixText(const MethodMatrix& matrix, std::span<const MatrixEntry> entries);
/// A table of figures per device and family, the whole last, and the worst rows.
std::string evaluationText(const Evaluation& evaluation, std::span<const ReferenceTable> tables);

}  // namespace orrery::cli
