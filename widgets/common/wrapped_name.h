#pragma once

#include <QStringList>

class QFontMetrics;

namespace orrery::ui {

/// A name that is told apart by its end, such as a method's, broken between words into as many lines of `width` pixels
/// as it needs. Beyond `most` lines, or where one word is wider than a line, the text ends in `…`.
QStringList wrappedName(const QString& name, const QFontMetrics& metrics, int width, int most);

}  // namespace orrery::ui
