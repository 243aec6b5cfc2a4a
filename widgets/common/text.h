#pragma once

#include "base/unit.h"

#include <QString>

#include <string>
#include <string_view>

namespace orrery::ui {

inline QString qs(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// The engine's words for a window: the marks that set names apart on a terminal are left out.
inline QString windowText(std::string_view text) {
    return qs(text).remove(QLatin1Char('`'));
}

/// With a capital at its beginning and a full stop at its end.
inline QString sentenceText(QString words) {
    if (words.isEmpty()) return words;
    words[0] = words[0].toUpper();
    if (!words.endsWith(QLatin1Char('.')) && !words.endsWith(QLatin1Char('?'))) words += QLatin1Char('.');
    return words;
}

/// A value as a person would type it: `3.35 TB/s`, `512 B/cycle`, `273 cycles`, with binary prefixes on request.
QString measureText(double si, bool perCycle, Dimension dimension, bool binary = false, int digits = 3);
/// The spelling that the person used, else the formatted value.
QString measureText(const Measure& measure, Dimension dimension);
/// Is the value spelt with binary prefixes (`80 GiB`)?
bool isBinary(const QString& spelling);
/// Three significant digits with unit and, for a tooltip, all digits: `1.23 ms (0.001234567 s)`.
QString fullText(double si, Dimension dimension);

/// `1.2 ms`, `3 min 20 s`: durations for people; empty if negative.
QString durationText(double seconds);

}  // namespace orrery::ui
