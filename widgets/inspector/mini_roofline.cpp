#include "widgets/inspector/mini_roofline.h"

#include "widgets/common/theme.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <array>

namespace orrery::ui {

void paintMiniRoofline(QPainter& painter, const QRectF& box, const QString& seed) {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    // A tiny generator of its own: the picture of an example must not change between starts.
    std::uint32_t state = 2166136261u;
    for (const QChar letter : seed) state = (state ^ letter.unicode()) * 16777619u;
    const auto random = [&state] {
        state = state * 1664525u + 1013904223u;
        return static_cast<double>(state >> 8) / 16777216.0;
    };
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setClipRect(box);
    const QRectF plot = box.adjusted(box.width() * 0.06, box.height() * 0.12, -box.width() * 0.06, -box.height() * 0.1);
    painter.setPen(QPen(colours.faintLine, 1));
    for (int i = 1; i < 5; ++i) {
        const double x = plot.left() + plot.width() * i / 5;
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
        const double y = plot.top() + plot.height() * i / 5;
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
    }
    const double ridge = 0.42 + 0.2 * random();
    const double roof = 0.06 + 0.06 * random();
    const double slope = (0.92 - roof) / ridge;  // height per width, both as fractions
    const auto ceiling = [&](double x) { return std::max(roof, 0.92 - slope * x); };
    const auto at = [&](double x, double y) {
        return QPointF(plot.left() + x * plot.width(), plot.top() + y * plot.height());
    };
    for (const int lower : {1, 0}) {
        const double drop = lower ? 0.16 : 0;
        QColor ink = lower ? colours.mutedText : colours.text;
        ink.setAlphaF(lower ? 0.45 : 0.85);
        painter.setPen(QPen(ink, 1.4, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter.drawPolyline(QPolygonF({at(0, 0.92), at(ridge - drop / slope, roof + drop), at(1, roof + drop)}));
    }
    constexpr std::array kinds = {OperatorKind::MatMul, OperatorKind::Attention, OperatorKind::Elementwise,
                                  OperatorKind::Normalization, OperatorKind::Conv};
    const int points = 9 + static_cast<int>(random() * 6);
    for (int i = 0; i < points; ++i) {
        const double x = 0.06 + 0.88 * random();
        const double y = std::min(0.95, ceiling(x) + 0.02 + 0.22 * random() * random());
        const double radius = 2.2 + 4.5 * random() * random();
        QColor fill = theme.operatorColour(kinds[static_cast<std::size_t>(random() * kinds.size()) % kinds.size()]);
        painter.setPen(QPen(colours.surface, 1));
        fill.setAlphaF(0.9);
        painter.setBrush(fill);
        painter.drawEllipse(at(x, y), radius, radius);
    }
    painter.restore();
}

}  // namespace orrery::ui
