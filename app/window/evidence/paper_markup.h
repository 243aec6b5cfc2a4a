#pragma once

// Pages of HTML that Orrery wrote, said again in the markup that rich text and SVG of Qt know: neither reads style
// sheets with variables, grids or flexible boxes.

#include <QString>

namespace orrery::app {

/// In the colours of paper: elements of figures carry what the page's style sheet says of them, rows of bars are
/// figures, legends and lists of figures are text with something between their words. The style sheet is left out.
QString forPaper(const QString& html);

}  // namespace orrery::app
