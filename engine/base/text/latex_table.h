#pragma once

// A table of CSV as LaTeX, for papers: booktabs, numbers to the right.

#include <string>
#include <string_view>

namespace orrery {

/// The first record becomes the head. A column whose cells are all numbers (or empty) stands to the right. What LaTeX
/// reads as commands is escaped, and powers of ten are set. Beyond 40 rows a `longtable`, which goes over pages, else a `tabular`; both need the
/// package booktabs. Cells are separated by commas, quoted as RFC 4180 says, and may hold line ends; of records that
/// are shorter than the head the rest stays empty. Empty for a text without records.
std::string latexTable(std::string_view csv);
/// `text` as a cell of such a table.
std::string latexText(std::string_view text);
/// With so many significant digits: `480`, `0.0123`, `$4.8\cdot10^{7}$` from a million on and below a thousandth; `--`
/// for what is no finite number.
std::string latexNumber(double value, int digits = 3);

}  // namespace orrery
