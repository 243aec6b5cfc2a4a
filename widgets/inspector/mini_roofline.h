#pragma once

#include <QColor>
#include <QString>

class QPainter;
class QRectF;

namespace orrery::ui {

/// A small drawing of a roofline with some points, a different one for each `seed`: decoration for a card that has no
/// picture of its own, not a result.
void paintMiniRoofline(QPainter& painter, const QRectF& box, const QString& seed);

}  // namespace orrery::ui
