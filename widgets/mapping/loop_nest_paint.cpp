#include "widgets/mapping/loop_nest_paint.h"

#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"

#include <QCoreApplication>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

QString say(const char* text) {
    return QCoreApplication::translate("LoopNestView", text);
}

double traffic(const TensorCounts& counts) {
    return (counts.reads + counts.fills + counts.updates) * counts.instances;
}

double mostTraffic(const NestCounts& counts) {
    double most = 1;
    for (const LevelCounts& level : counts.levels) {
        for (const TensorCounts& tensor : level.tensors) most = std::max(most, traffic(tensor));
    }
    return most;
}

QColor levelColour(const LoopNestPicture& picture, std::size_t level) {
    return Theme::instance().levelColour(static_cast<int>(picture.hardware.levels.size() - 1 - level));
}

QColor pale(const QColor& colour) {
    const QColor& surface = Theme::instance().colours().surface;
    const auto mix = [](int a, int b) { return a + (b - a) * 55 / 100; };
    return {mix(colour.red(), surface.red()), mix(colour.green(), surface.green()), mix(colour.blue(), surface.blue())};
}

// The number stands on the bar: the bar is pale so that text reads on and beside it.
void paintBar(QPainter& painter, const QRect& area, double share, const QColor& colour, const QString& text,
              const QString& shorter) {
    const Palette& colours = Theme::instance().colours();
    const QRect slot = area.adjusted(0, 3, 0, -3);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colours.faintLine);
    painter.drawRoundedRect(slot, 2, 2);
    QRect filled = slot;
    filled.setWidth(static_cast<int>(std::lround(slot.width() * std::clamp(share, 0.0, 1.0))));
    painter.setBrush(pale(colour));
    if (filled.width() > 0) painter.drawRoundedRect(filled, 2, 2);
    const QRect inside = slot.adjusted(4, 0, -2, 0);
    const QFontMetrics metrics = painter.fontMetrics();
    const QString shown = metrics.horizontalAdvance(text) <= inside.width() ? text : shorter;
    if (metrics.horizontalAdvance(shown) > inside.width()) return;
    painter.setPen(colours.text);
    painter.drawText(inside, static_cast<int>(Qt::AlignVCenter | Qt::AlignLeft), shown);
}

/// `1.2M`: a count where there is little room.
QString shortCount(double count) {
    for (const auto& [unit, sign] : {std::pair{1e9, "G"}, std::pair{1e6, "M"}, std::pair{1e3, "k"}}) {
        if (count >= unit * 10) return QString::number(count / unit, 'f', 0) + QLatin1String(sign);
        if (count >= unit) return QString::number(count / unit, 'f', 1) + QLatin1String(sign);
    }
    return QString::number(count, 'f', 0);
}

void paintLevel(QPainter& painter, const LoopNestPicture& picture, const LevelBlock& block) {
    const Palette& colours = Theme::instance().colours();
    const NestLevel& level = picture.hardware.levels[block.level];
    const QColor hue = levelColour(picture, block.level);
    painter.setPen(QPen(colours.line, 1));
    painter.setBrush(colours.surface);
    painter.drawRoundedRect(block.box.adjusted(0, 0, -1, -1), 4, 4);
    painter.fillRect(QRect(block.box.left(), block.box.top() + 3, 4, block.box.height() - 6), hue);
    QFont strong = painter.font();
    strong.setWeight(QFont::DemiBold);
    const QFont plain = painter.font();
    painter.setFont(strong);
    painter.setPen(colours.text);
    const QString name = qs(level.name);
    painter.drawText(block.head.adjusted(12, 0, 0, 0), Qt::AlignVCenter, name);
    const int used = painter.fontMetrics().horizontalAdvance(name) + 24;
    painter.setFont(plain);
    painter.setPen(colours.mutedText);
    QStringList facts;
    if (level.instances > 1) facts << QStringLiteral("×%L1").arg(static_cast<qlonglong>(level.instances));
    if (std::isfinite(level.capacityWords)) facts << say("holds %1 words").arg(countText(level.capacityWords));
    if (picture.counts && block.level < picture.counts->levels.size()) {
        const LevelCounts& counts = picture.counts->levels[block.level];
        if (counts.energy > 0) facts << text(Joules(counts.energy));
        if (counts.slowdown < 0.9995) facts << say("bandwidth slows the array to %1").arg(percentText(counts.slowdown));
    }
    painter.drawText(block.head.adjusted(used, 0, -8, 0), Qt::AlignVCenter, facts.join(QStringLiteral("  ·  ")));
}

void paintLoop(QPainter& painter, const LoopNestPicture& picture, const LoopRow& row) {
    const Palette& colours = Theme::instance().colours();
    const NestLoop& loop = picture.mapping.levels[row.place.level].loops[row.place.index];
    const bool current = picture.current == row.place;
    if (current || picture.hovered == row.place) {
        painter.setPen(current && picture.focused ? QPen(colours.accent, 1) : QPen(Qt::NoPen));
        painter.setBrush(current ? colours.selection : colours.raised);
        painter.drawRoundedRect(row.box.adjusted(-4, 1, -1, -1), 3, 3);
    }
    painter.setOpacity(picture.dragged == row.place ? 0.4 : 1);
    painter.setPen(colours.mutedText);
    const bool spatial = loop.kind != LoopKind::Temporal;
    const QString word = spatial ? QStringLiteral("par") : QStringLiteral("for");
    painter.drawText(row.box, Qt::AlignVCenter, word);
    const int step = painter.fontMetrics().horizontalAdvance(QStringLiteral("par  "));
    QFont strong = painter.font();
    const QFont plain = strong;
    strong.setWeight(QFont::DemiBold);
    painter.setFont(strong);
    painter.setPen(levelColour(picture, row.place.level));
    const QString name = qs(picture.problem.dimensions[loop.dimension]);
    painter.setPen(colours.text);
    painter.drawText(row.box.adjusted(step, 0, 0, 0), Qt::AlignVCenter, name);
    painter.setFont(plain);
    QRect number = row.bound;
    number.setLeft(row.box.left() + step + painter.fontMetrics().horizontalAdvance(name) + 12);
    painter.setPen(colours.mutedText);
    QString bound = QStringLiteral("0 … %L1").arg(static_cast<qlonglong>(loop.bound));
    if (loop.residual != loop.bound) bound += say(", last %L1").arg(static_cast<qlonglong>(loop.residual));
    painter.setPen(colours.text);
    number.setRight(row.box.right());
    painter.drawText(number, Qt::AlignVCenter, bound);
    if (spatial) {
        const QString where = loop.kind == LoopKind::SpatialX ? say("columns") : say("rows");
        const int from = number.left() + painter.fontMetrics().horizontalAdvance(bound) + 10;
        QRect pill(from, row.box.top() + 3, painter.fontMetrics().horizontalAdvance(where) + 12, row.box.height() - 6);
        const bool whole = pill.right() <= row.box.right();
        const QString arrow = loop.kind == LoopKind::SpatialX ? QStringLiteral("↔") : QStringLiteral("↕");
        if (!whole) pill.setWidth(painter.fontMetrics().horizontalAdvance(arrow) + 10);
        painter.setPen(Qt::NoPen);
        painter.setBrush(colours.accent);
        painter.drawRoundedRect(pill, pill.height() / 2.0, pill.height() / 2.0);
        painter.setPen(colours.accentText);
        painter.drawText(pill, Qt::AlignCenter, whole ? where : arrow);
    }
    painter.setOpacity(1);
}

void paintTensor(QPainter& painter, const LoopNestPicture& picture, const TensorRow& row, double most) {
    const Palette& colours = Theme::instance().colours();
    const bool outermost = row.level + 1 == picture.hardware.levels.size();
    const bool keeps = outermost || (picture.mapping.levels[row.level].keeps >> row.tensor & 1u);
    const QColor hue = Theme::instance().methodColour(static_cast<int>(row.tensor));
    painter.setPen(QPen(keeps ? hue : colours.mutedText, 1));
    painter.setBrush(keeps ? QBrush(hue) : Qt::NoBrush);
    painter.drawRoundedRect(row.keep.adjusted(1, 1, -2, -2), 2, 2);
    painter.setPen(keeps ? colours.text : colours.mutedText);
    const QString name = qs(picture.problem.tensors[row.tensor].name);
    painter.drawText(row.name, Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(name, Qt::ElideRight, row.name.width()));
    if (!keeps) {
        painter.drawText(row.held.united(row.traffic), Qt::AlignVCenter, say("passes by"));
        return;
    }
    if (!picture.counts || row.level >= picture.counts->levels.size()) return;
    const TensorCounts& counts = picture.counts->levels[row.level].tensors[row.tensor];
    if (!counts.kept) return;
    const double room = picture.hardware.levels[row.level].capacityWords;
    const double share = std::isfinite(room) && room > 0 ? counts.tile / room : 0;
    painter.setOpacity(picture.stale ? 0.45 : 1);
    paintBar(painter, row.held, share, share > 1 ? colours.bad : hue, heldText(picture.hardware, counts, row.level),
             shortCount(counts.tile));
    // Traffic spans orders of magnitude: the bar is logarithmic, the number says it in words.
    const double moved = traffic(counts);
    paintBar(painter, row.traffic, moved > 1 ? std::log10(moved) / std::log10(std::max(most, 10.0)) : 0,
             levelColour(picture, row.level), trafficText(counts),
             shortCount(counts.reads + counts.fills + counts.updates));
    painter.setOpacity(1);
}

void paintUnits(QPainter& painter, const LoopNestPicture& picture) {
    const Palette& colours = Theme::instance().colours();
    const NestArithmetic& units = picture.hardware.arithmetic;
    const std::int64_t columns = std::max<std::int64_t>(units.meshX, 1);
    const std::int64_t rows = std::max<std::int64_t>(units.instances / columns, 1);
    const std::int64_t x = spread(picture.mapping, LoopKind::SpatialX), y = spread(picture.mapping, LoopKind::SpatialY);
    const QRect area = picture.layout.units;
    const int line = painter.fontMetrics().height() + 6;
    const QRect field(area.left() + 4, area.top() + line, area.width() - 8, area.height() - line - 4);
    const double cell = std::min(static_cast<double>(field.width()) / static_cast<double>(columns),
                                 static_cast<double>(field.height()) / static_cast<double>(rows));
    const QRectF all(field.topLeft(), QSizeF(cell * static_cast<double>(columns), cell * static_cast<double>(rows)));
    const QRectF used(field.topLeft(), QSizeF(cell * static_cast<double>(std::min(x, columns)),
                                              cell * static_cast<double>(std::min(y, rows))));
    painter.setPen(colours.text);
    painter.drawText(QRect(area.left() + 4, area.top(), area.width() - 8, line), Qt::AlignVCenter,
                     say("%1: %L2 × %L3 of %L4 × %L5 units work, %6")
                         .arg(qs(units.name))
                         .arg(static_cast<qlonglong>(x))
                         .arg(static_cast<qlonglong>(y))
                         .arg(static_cast<qlonglong>(columns))
                         .arg(static_cast<qlonglong>(rows))
                         .arg(percentText(static_cast<double>(x * y) / static_cast<double>(columns * rows))));
    painter.fillRect(all, colours.faintLine);
    painter.fillRect(used, colours.accent);
    if (cell >= 3) {
        painter.setPen(QPen(colours.surface, 1));
        for (std::int64_t c = 1; c < columns; ++c) {
            const double at = all.left() + cell * static_cast<double>(c);
            painter.drawLine(QPointF(at, all.top()), QPointF(at, all.bottom()));
        }
        for (std::int64_t r = 1; r < rows; ++r) {
            const double at = all.top() + cell * static_cast<double>(r);
            painter.drawLine(QPointF(all.left(), at), QPointF(all.right(), at));
        }
    }
    if (!picture.refusal.isEmpty()) {
        const QRect place = field.adjusted(static_cast<int>(all.width()) + 16, 0, 0, 0);
        painter.setPen(colours.bad);
        painter.drawText(place, Qt::AlignVCenter | Qt::TextWordWrap, picture.refusal);
    }
}

void paintDrop(QPainter& painter, const LoopNestPicture& picture) {
    if (!picture.dragged || !picture.drop) return;
    int y = 0;
    for (const LevelBlock& block : picture.layout.levels) {
        if (block.level == picture.drop->level) y = block.head.bottom() + 1;
    }
    for (const LoopRow& row : picture.layout.loops) {
        if (row.place.level == picture.drop->level && row.place.index >= picture.drop->index) y = row.box.bottom() + 1;
    }
    painter.setPen(QPen(Theme::instance().colours().accent, 2));
    painter.drawLine(20, y, picture.layout.tensors.empty() ? 300 : picture.layout.tensors.front().box.left() - 12, y);
}

}  // namespace

QString loopText(const NestProblem& problem, const NestLoop& loop) {
    const QString text =
        say("%1 from 0 to %L2").arg(qs(problem.dimensions[loop.dimension])).arg(static_cast<qlonglong>(loop.bound));
    switch (loop.kind) {
        case LoopKind::SpatialX:
            return text + say(", across columns");
        case LoopKind::SpatialY:
            return text + say(", across rows");
        case LoopKind::Temporal:
            break;
    }
    return text;
}

QString heldText(const NestHardware& hardware, const TensorCounts& counts, std::size_t level) {
    const double room = hardware.levels[level].capacityWords;
    if (!std::isfinite(room)) return say("%1 words").arg(countText(counts.tile));
    return say("%1 words, %2").arg(countText(counts.tile), percentText(counts.tile / std::max(room, 1.0)));
}

QString trafficText(const TensorCounts& counts) {
    QStringList parts;
    if (counts.reads > 0) parts << say("%1 read").arg(countText(counts.reads));
    if (counts.fills > 0) parts << say("%1 filled").arg(countText(counts.fills));
    if (counts.updates > 0) parts << say("%1 updated").arg(countText(counts.updates));
    return parts.join(QStringLiteral(" · "));
}

void paintNest(QPainter& painter, const LoopNestPicture& picture, const QRect& visible) {
    painter.setRenderHint(QPainter::Antialiasing);
    for (const LevelBlock& block : picture.layout.levels) {
        if (block.box.intersects(visible)) paintLevel(painter, picture, block);
    }
    for (const LoopRow& row : picture.layout.loops) {
        if (row.box.intersects(visible)) paintLoop(painter, picture, row);
    }
    const double most = picture.counts ? mostTraffic(*picture.counts) : 1;
    for (const TensorRow& row : picture.layout.tensors) {
        if (row.box.intersects(visible)) paintTensor(painter, picture, row, most);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    if (picture.layout.units.intersects(visible)) paintUnits(painter, picture);
    paintDrop(painter, picture);
}

}  // namespace orrery::ui
