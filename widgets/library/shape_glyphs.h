#pragma once

#include <QColor>
#include <QRectF>
#include <QString>

class QPainter;

namespace orrery::ui {

/// A network's shape (`ring`, `fat-tree`, as the attribute spells it) as a line glyph, in the weight of the other
/// glyphs. An unknown shape is drawn as a topology.
void paintShapeGlyph(QPainter& painter, const QString& shape, const QRectF& square, const QColor& ink);

}  // namespace orrery::ui
