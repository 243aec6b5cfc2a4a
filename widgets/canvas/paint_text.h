#pragma once

// Text of the drawing: sizes in device pixels, never under nine, elided where it does not fit.

#include "widgets/common/theme.h"

#include <QFont>
#include <QRectF>
#include <QString>

class QPainter;

namespace orrery::ui {

inline constexpr double leastText = 9;

/// A font of the theme at a size in pixels; `strong` is semi-bold.
const QFont& textFont(double pixels, bool strong);
/// Width at this size; remembered.
double textWidth(const QString& text, double pixels, bool strong);
/// The text, or as much of it as fits with `…`; empty if fewer than two characters fit.
QString fitted(const QString& text, double width, double pixels, bool strong);
/// One line, elided, centred vertically in `box`. Draws nothing below leastText. Returns the width used.
double paintLine(QPainter& painter, const QRectF& box, const QString& text, double pixels, bool strong,
                 const QColor& ink, Qt::Alignment horizontal = Qt::AlignLeft);

}  // namespace orrery::ui
