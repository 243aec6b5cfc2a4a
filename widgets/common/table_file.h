#pragma once

// Figures of a view as a table in a file.

#include <QString>

#include <string_view>

namespace orrery::ui {

/// Whether the ending asks for a table: `.csv` or `.tex`.
bool isTableFile(const QString& file);
/// `csv` as it is, or as LaTeX where the file ends in `.tex`. What went wrong; empty if nothing.
QString writeTable(const QString& file, std::string_view csv);

}  // namespace orrery::ui
