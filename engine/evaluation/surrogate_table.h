#pragma once

// Tables of designs as rows that a surrogate is fitted to or judged by: any CSV with a line of names.

#include "evaluation/surrogate_fit.h"

#include <string>
#include <vector>

namespace orrery {

struct SurrogateTable {
    SurrogateRows rows;
    Diagnostics notes;  ///< columns that are left out, and why
};

/// Every column that is neither a target nor ignored is an input: of numbers where all its cells are, else of words.
/// A column that is a target but for a factor and a constant tells what shall be found and is left out. Codes
/// `reference.unreadable`, `surrogate.no-column`, `surrogate.bad-number`, `surrogate.short-row`, `surrogate.empty`,
/// `surrogate.words` (more than 256 of one column), `surrogate.inputs` (more than 256 features).
Expected<SurrogateTable> readSurrogateTable(const std::string& path, const std::vector<std::string>& targets,
                                            const std::vector<std::string>& ignored);
/// Rows for a surrogate that is there: its inputs by name, and those of its targets that the table has.
Expected<SurrogateTable> readRowsFor(const Surrogate& surrogate, const std::string& path);

}  // namespace orrery
