#pragma once

#include "hardware/component.h"
#include "widgets/common/theme.h"

#include <QIcon>

class QPainter;

namespace orrery::ui {

/// One line glyph per kind of component, drawn in `ink` into a square; the same line weight for all.
void paintGlyph(QPainter& painter, ComponentKind kind, const QRectF& square, const QColor& ink);
/// The glyph as an icon in the theme's text colours; follows the mode at the time of the call.
QIcon glyph(ComponentKind kind);
/// Severity as a shape: circle, triangle, octagon.
void paintSeverity(QPainter& painter, Severity severity, const QRectF& square);
QIcon severityIcon(Severity severity);

}  // namespace orrery::ui
