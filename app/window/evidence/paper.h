#pragma once

// Figures and reports as PDF: of a folder that a judging file left, `orrery --paper DIR`.

#include <QString>

namespace orrery::app {

/// Beside every `*.svg` of the folder the same as PDF, one page of the picture's size; beside report.html a report.pdf
/// of A4 pages with its figures as vectors. Works in any thread. Returns an error text.
QString writePaper(const QString& folder);

}  // namespace orrery::app
