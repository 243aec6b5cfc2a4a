#pragma once

// Figures and reports as PDF: of a folder that a judging file left, `orrery --paper DIR`.

#include <QString>

class QTextDocument;

namespace orrery::app {

/// Beside every `*.svg` of the folder the same as PDF, one page of the picture's size; beside report.html a report.pdf
/// of A4 pages with its figures as vectors. Works in any thread. Returns an error text.
QString writePaper(const QString& folder);
/// A page of HTML that Orrery wrote as A4 pages of PDF, its figures (inline SVG) as vectors. Returns an error text.
QString writePdf(const QString& html, const QString& pdf);

/// Breaks pages of that height so that a heading stands with what it is about: its whole figure, or the first rows of
/// its table. Of a document that has its page size.
void keepHeadings(QTextDocument& document, double page);
/// Moves rows of tables that would be cut by the end of a page to the next one, below the repeated heads; not those
/// that are longer than a page, and not cells that span rows.
void keepRows(QTextDocument& document, double page);

}  // namespace orrery::app
