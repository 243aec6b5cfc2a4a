#include "widgets/common/glyphs.h"

#include <QGuiApplication>
#include <QHash>
#include <QPainter>
#include <QPainterPath>

namespace orrery::ui {
namespace {

// Glyphs are drawn on a 16×16 grid with a pen of 1.2 and scaled as a whole.
void drawChip(QPainter& p, double inset) {
    p.drawRoundedRect(QRectF(inset, inset, 16 - 2 * inset, 16 - 2 * inset), 1, 1);
}

void drawPins(QPainter& p) {
    for (const double at : {5.5, 10.5}) {
        p.drawLine(QPointF(at, 1.2), QPointF(at, 3.5));
        p.drawLine(QPointF(at, 12.5), QPointF(at, 14.8));
        p.drawLine(QPointF(1.2, at), QPointF(3.5, at));
        p.drawLine(QPointF(12.5, at), QPointF(14.8, at));
    }
}

void drawGrid(QPainter& p, const QRectF& box, int cells) {
    p.drawRect(box);
    for (int i = 1; i < cells; ++i) {
        const double x = box.left() + box.width() * i / cells;
        const double y = box.top() + box.height() * i / cells;
        p.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()));
        p.drawLine(QPointF(box.left(), y), QPointF(box.right(), y));
    }
}

void drawRows(QPainter& p, const QRectF& box, int rows) {
    p.drawRoundedRect(box, 1, 1);
    for (int i = 1; i < rows; ++i) {
        const double y = box.top() + box.height() * i / rows;
        p.drawLine(QPointF(box.left(), y), QPointF(box.right(), y));
    }
}

void drawKind(QPainter& p, ComponentKind kind) {
    switch (kind) {
        case ComponentKind::System:  // two racks
            drawRows(p, {1.5, 2, 5.5, 12}, 3);
            drawRows(p, {9, 2, 5.5, 12}, 3);
            break;
        case ComponentKind::Node:
            p.drawRoundedRect(QRectF(1.5, 4, 13, 8), 1, 1);
            p.drawLine(QPointF(4, 8), QPointF(8, 8));
            p.drawEllipse(QPointF(11.5, 8), 0.8, 0.8);
            break;
        case ComponentKind::Package:
            drawChip(p, 1.5);
            drawChip(p, 4.5);
            break;
        case ComponentKind::Die:
            drawChip(p, 3.5);
            drawPins(p);
            break;
        case ComponentKind::Cluster:
            for (const double x : {2.0, 9.0})
                for (const double y : {2.0, 9.0}) p.drawRoundedRect(QRectF(x, y, 5, 5), 1, 1);
            break;
        case ComponentKind::Core:
            drawChip(p, 2);
            p.drawEllipse(QPointF(8, 8), 2.8, 2.8);
            break;
        case ComponentKind::Array:
            drawGrid(p, {2, 2, 12, 12}, 4);
            break;
        case ComponentKind::VectorUnit:
            for (const double y : {4.0, 8.0, 12.0}) {
                p.drawLine(QPointF(2, y), QPointF(13.5, y));
                p.drawLine(QPointF(13.5, y), QPointF(11.5, y - 1.6));
                p.drawLine(QPointF(13.5, y), QPointF(11.5, y + 1.6));
            }
            break;
        case ComponentKind::TensorUnit:  // a cube
            p.drawPolygon(QPolygonF({{8, 1.5}, {14, 4.8}, {14, 11.2}, {8, 14.5}, {2, 11.2}, {2, 4.8}}));
            p.drawPolyline(QPolygonF({{2, 4.8}, {8, 8}, {14, 4.8}}));
            p.drawLine(QPointF(8, 8), QPointF(8, 14.5));
            break;
        case ComponentKind::Mac:
            p.drawEllipse(QPointF(8, 8), 6, 6);
            p.drawLine(QPointF(8, 5), QPointF(8, 11));
            p.drawLine(QPointF(5, 8), QPointF(11, 8));
            break;
        case ComponentKind::Buffer:
            drawRows(p, {2.5, 3, 11, 10}, 3);
            break;
        case ComponentKind::Cache:
            drawRows(p, {2.5, 3, 11, 10}, 3);
            p.drawLine(QPointF(6, 3), QPointF(6, 13));
            break;
        case ComponentKind::RegisterFile:
            p.drawRoundedRect(QRectF(1.5, 5.5, 13, 5), 1, 1);
            for (const double x : {4.75, 8.0, 11.25}) p.drawLine(QPointF(x, 5.5), QPointF(x, 10.5));
            break;
        case ComponentKind::Dram:  // a stack of dies
            for (const double y : {3.5, 6.5, 9.5}) p.drawRoundedRect(QRectF(2.5, y, 11, 3), 0.6, 0.6);
            for (const double x : {4.5, 8.0, 11.5}) p.drawLine(QPointF(x, 12.5), QPointF(x, 14.5));
            break;
        case ComponentKind::Link:
            p.drawLine(QPointF(4, 8), QPointF(12, 8));
            p.drawEllipse(QPointF(2.8, 8), 1.4, 1.4);
            p.drawEllipse(QPointF(13.2, 8), 1.4, 1.4);
            break;
        case ComponentKind::Switch:
            p.drawRoundedRect(QRectF(5, 5, 6, 6), 1, 1);
            for (const auto& [x, y] : {std::pair{1.5, 1.5}, {14.5, 1.5}, {1.5, 14.5}, {14.5, 14.5}})
                p.drawLine(QPointF(x, y), QPointF(x < 8 ? 5 : 11, y < 8 ? 5 : 11));
            break;
        case ComponentKind::Topology:
            p.drawPolygon(QPolygonF({{8, 2.5}, {13.5, 6.5}, {11.4, 13}, {4.6, 13}, {2.5, 6.5}}));
            for (const auto& [x, y] : {std::pair{8.0, 2.5}, {13.5, 6.5}, {11.4, 13.0}, {4.6, 13.0}, {2.5, 6.5}})
                p.drawEllipse(QPointF(x, y), 1.1, 1.1);
            break;
    }
}

template <class Paint>
QIcon iconOf(Paint paint) {
    QIcon icon;
    for (const int side : {16, 24, 32, 48}) {
        QPixmap pixmap(side, side);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paint(painter, QRectF(0, 0, side, side));
        icon.addPixmap(pixmap);
    }
    return icon;
}

}  // namespace

void paintGlyph(QPainter& painter, ComponentKind kind, const QRectF& square, const QColor& ink) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(square.topLeft());
    painter.scale(square.width() / 16, square.height() / 16);
    painter.setPen(QPen(ink, 1.2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    drawKind(painter, kind);
    painter.restore();
}

QIcon glyph(ComponentKind kind) {
    // Trees ask for it on each row that they paint. Pictures must not outlive the application.
    static QHash<std::pair<int, QRgb>, QIcon> made;
    static const bool cleared = (qAddPostRoutine([] { made.clear(); }), true);
    (void)cleared;
    const QColor ink = Theme::instance().colours().text;
    QIcon& icon = made[{static_cast<int>(kind), ink.rgba()}];
    if (icon.isNull()) {
        icon = iconOf([&](QPainter& painter, const QRectF& square) { paintGlyph(painter, kind, square, ink); });
    }
    return icon;
}

void paintSeverity(QPainter& painter, Severity severity, const QRectF& square) {
    const Palette& colours = Theme::instance().colours();
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(square.topLeft());
    painter.scale(square.width() / 16, square.height() / 16);
    const QColor ink = severity == Severity::Error     ? colours.bad
                       : severity == Severity::Warning ? colours.warning
                                                       : colours.mutedText;
    QColor fill = ink;
    fill.setAlpha(40);
    painter.setPen(QPen(ink, 1.3, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(fill);
    switch (severity) {
        case Severity::Error:
            painter.drawPolygon(QPolygonF({{5, 2}, {11, 2}, {14, 5}, {14, 11}, {11, 14}, {5, 14}, {2, 11}, {2, 5}}));
            painter.drawLine(QPointF(5.8, 5.8), QPointF(10.2, 10.2));
            painter.drawLine(QPointF(10.2, 5.8), QPointF(5.8, 10.2));
            break;
        case Severity::Warning:
            painter.drawPolygon(QPolygonF({{8, 2}, {14.5, 13.5}, {1.5, 13.5}}));
            painter.drawLine(QPointF(8, 6.5), QPointF(8, 9.5));
            painter.drawPoint(QPointF(8, 11.6));
            break;
        case Severity::Note:
            painter.drawEllipse(QPointF(8, 8), 6, 6);
            painter.drawLine(QPointF(8, 7.5), QPointF(8, 11));
            painter.drawPoint(QPointF(8, 5));
            break;
    }
    painter.restore();
}

QIcon severityIcon(Severity severity) {
    return iconOf([&](QPainter& painter, const QRectF& square) { paintSeverity(painter, severity, square); });
}

}  // namespace orrery::ui
