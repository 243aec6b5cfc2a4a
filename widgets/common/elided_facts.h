#pragma once

// Lines of facts, such as `256 GB · 307 GB/s`, that are cut without cutting a number.

#include <QFontMetricsF>
#include <QString>

namespace orrery::ui {

/// As much of a line as fits, then `…`. Of facts with ` · ` between them whole facts; of the first one whole words, and
/// no number without its unit; only `…` where not even that fits. A line that is no fact (no ` · `, no digit at the
/// start of a word) is cut anywhere.
QString elidedFacts(const QString& line, const QFontMetricsF& metrics, double width);

}  // namespace orrery::ui
