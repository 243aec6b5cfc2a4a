#pragma once

#include <QStringList>

class QFontMetrics;

namespace orrery::ui {

/// Where a name may be broken: after spaces, and in what options say after `=`, `,` and `/`. Put together they are it.
QStringList namePieces(const QString& name);

/// A name that is told apart by its end, such as a method's, broken between pieces into as many lines of `width` pixels
/// as it needs. Beyond `most` lines, or where one piece is wider than a line, the text ends in `…`.
QStringList wrappedName(const QString& name, const QFontMetrics& metrics, int width, int most);

}  // namespace orrery::ui
