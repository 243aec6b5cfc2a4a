// The painting of TimelineView: overview, ruler, rows, area.

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/plots/operator_facts.h"
#include "widgets/plots/span_paint.h"
#include "widgets/plots/timeline_view.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

QColor faded(QColor colour, double alpha) {
    colour.setAlphaF(float(alpha));
    return colour;
}

}  // namespace

QColor TimelineView::colourOf(std::int32_t op) const {
    const Theme& theme = Theme::instance();
    if (op >= 0 && shown_) return theme.operatorColour(operatorKind(*shown_, op));
    return workColour(op);
}

void TimelineView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paintAll(painter, false);
}

void TimelineView::paintPicture(QPainter& painter, const QRect& target) {
    painter.save();
    painter.translate(target.topLeft());
    painter.scale(double(target.width()) / std::max(width(), 1), double(target.height()) / std::max(height(), 1));
    paintAll(painter, true);
    painter.restore();
}

void TimelineView::paintAll(QPainter& painter, bool vector) {
    painter.fillRect(rect(), Theme::instance().colours().surface);
    if (model_.empty()) return;
    paintRows(painter);
    paintRuler(painter);
    paintOverview(painter, vector);
    if (area_) {
        paintArea(painter);
        paintFooter(painter);
    }
}

void TimelineView::paintMini(QPainter& painter, const QRectF& strip) {
    painter.fillRect(strip, Theme::instance().colours().raised);
    const std::size_t rows = model_.rows().size();
    const TimeMap map{double(model_.begin()), double(model_.end()), strip.left(), strip.width()};
    const double tall = (strip.height() - 4) / double(rows);
    for (std::size_t row = 0; row < rows; ++row) {
        const double top = strip.top() + 2 + double(row) * tall;
        const auto draw = [&](const TimelinePiece& piece) {
            const double left = map.pixel(double(piece.start));
            const double right = std::max(map.pixel(double(piece.end)), left + 1);
            painter.fillRect(QRectF(left, top, right - left, std::max(tall - 1, 1.0)),
                             pieceFill(piece, colourOf(piece.op)));
        };
        model_.rows()[row].visit(model_.begin(), model_.end(), std::int64_t(map.perPixel()), draw);
    }
}

void TimelineView::paintOverview(QPainter& painter, bool vector) {
    const Palette& c = Theme::instance().colours();
    const QRect strip = overviewRect();
    const double begin = double(model_.begin()), end = double(model_.end());
    if (vector) {
        paintMini(painter, strip);
    } else {
        if (overview_.isNull()) {
            overview_ = QImage(strip.size() * devicePixelRatioF(), QImage::Format_ARGB32_Premultiplied);
            overview_.setDevicePixelRatio(devicePixelRatioF());
            QPainter mini(&overview_);
            paintMini(mini, QRectF(QPointF(), strip.size()));
        }
        painter.drawImage(strip.topLeft(), overview_);
    }
    const auto x = [&](double time) { return strip.left() + (time - begin) / (end - begin) * strip.width(); };
    const double left = std::clamp(x(map_.from), double(strip.left()), double(strip.right()));
    const double right = std::clamp(x(map_.to), left + 2, double(strip.right() + 1));
    const QColor veil = faded(c.surface, 0.72);
    painter.fillRect(QRectF(strip.left(), strip.top(), left - strip.left(), strip.height()), veil);
    painter.fillRect(QRectF(right, strip.top(), strip.right() + 1 - right, strip.height()), veil);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(whole_ ? c.line : c.accent, 1));
    painter.drawRect(QRectF(left + 0.5, strip.top() + 0.5, std::max(right - left - 1, 1.0), strip.height() - 1));
}

void TimelineView::paintRuler(QPainter& painter) {
    const Theme& theme = Theme::instance();
    const Palette& c = theme.colours();
    const QRect ruler = rulerRect();
    painter.fillRect(QRect(0, ruler.top(), width(), ruler.height()), c.surface);
    painter.setFont(theme.font(FontRole::Small));
    const QFontMetrics metrics(painter.font());
    painter.setPen(c.line);
    painter.drawLine(0, ruler.bottom(), width(), ruler.bottom());
    for (const RulerTick& tick : rulerTicks(map_, 84 * theme.scale())) {
        const double x = map_.pixel(tick.time);
        if (x < ruler.left()) continue;
        painter.setPen(c.line);
        painter.drawLine(QPointF(x, ruler.bottom() - 4), QPointF(x, ruler.bottom()));
        painter.setPen(c.mutedText);
        const int wide = metrics.horizontalAdvance(tick.label);
        if (x + 3 + wide <= width()) painter.drawText(QPointF(x + 3, ruler.bottom() - 5), tick.label);
    }
    if (mouse_.x() > gutter_ && drag_ != Drag::Overview) {
        const QString now = text(Seconds(map_.time(mouse_.x()) * 1e-12), 4);
        QRect chip(0, ruler.top() + 1, metrics.horizontalAdvance(now) + 10, ruler.height() - 3);
        chip.moveLeft(std::clamp(mouse_.x() - chip.width() / 2, gutter_, std::max(gutter_, width() - chip.width())));
        painter.fillRect(chip, c.raised);
        painter.setPen(c.line);
        painter.drawRect(chip.adjusted(0, 0, -1, -1));
        painter.setPen(c.text);
        painter.drawText(chip, Qt::AlignCenter, now);
    }
}

void TimelineView::paintRows(QPainter& painter) {
    const Theme& theme = Theme::instance();
    const Palette& c = theme.colours();
    const QRect all = rowsRect();
    painter.save();
    painter.setClipRect(all);
    painter.setPen(c.faintLine);
    for (const RulerTick& tick : rulerTicks(map_, 84 * theme.scale())) {
        const double x = map_.pixel(tick.time);
        if (x >= gutter_) painter.drawLine(QPointF(x, all.top()), QPointF(x, all.bottom()));
    }
    painter.setFont(theme.font(FontRole::Small));
    const QFontMetrics metrics(painter.font());
    for (int row = 0; row < int(model_.rows().size()); ++row) {
        const QRect rect = rowRect(row);
        if (rect.bottom() < all.top() || rect.top() > all.bottom()) continue;
        painter.setClipRect(QRect(gutter_, all.top(), width() - gutter_, all.height()));
        paintRow(painter, row, rect);
        painter.setClipRect(all);
        painter.setPen(c.faintLine);
        painter.drawLine(0, rect.bottom(), width(), rect.bottom());
        painter.setPen(c.mutedText);
        const QString name = QString::fromStdString(model_.timeline()->rows[std::size_t(row)]);
        painter.drawText(QRect(8, rect.top(), gutter_ - 12, rect.height()), Qt::AlignVCenter | Qt::AlignLeft,
                         metrics.elidedText(name, Qt::ElideRight, gutter_ - 12));
    }
    if (mouse_.x() > gutter_ && drag_ == Drag::None) {
        painter.setPen(QPen(faded(c.mutedText, 0.5), 1));
        painter.drawLine(mouse_.x(), all.top(), mouse_.x(), all.bottom());
    }
    painter.restore();
}

void TimelineView::paintRow(QPainter& painter, int row, const QRect& rect) {
    const Palette& c = Theme::instance().colours();
    const QSet<int>& chosen = selection()->operators();
    const QFontMetrics metrics(painter.font());
    const int top = rect.top() + 2;
    const int tall = rect.height() - 5;
    int drawnTo = -1;  // pieces that end on a pixel already drawn would only be painted over each other
    std::vector<std::pair<QRect, QColor>> outlines;
    const auto draw = [&](const TimelinePiece& piece) {
        const int left = std::max(int(std::floor(map_.pixel(double(piece.start)))), gutter_ - 2);
        const int right = std::min(std::max(int(std::floor(map_.pixel(double(piece.end)))), left + 1), width() + 2);
        const bool single = piece.span >= 0;
        const bool selected = chosen.contains(piece.op);
        if (right <= drawnTo && !selected) return;
        drawnTo = std::max(drawnTo, right);
        QColor fill = pieceFill(piece, colourOf(piece.op));
        if (!chosen.isEmpty() && !selected) fill = faded(fill, fill.alphaF() * 0.28);
        const int wide = right - left;
        const QRect box(left, top, wide > 4 ? wide - 1 : wide, tall);
        painter.fillRect(box, fill);
        if (single && (piece.span == current_ || piece.span == hovered_))
            outlines.emplace_back(box, piece.span == current_ ? c.text : c.accent);
        else if (wide > 2 && piece.op >= 0 && piece.op == selection()->hovered())
            outlines.emplace_back(box, c.accent);
        const int room = std::min(right, width()) - std::max(left, gutter_) - 8;
        if (!single || piece.op < 0 || room < 24 || tall < metrics.height()) return;
        const bool dim = !chosen.isEmpty() && !selected;
        painter.setPen(dim ? c.mutedText : Theme::instance().inkOn(fill));
        const QString name = shortName(operatorName(*shown_, piece.op));
        const QString timed =
            QStringLiteral("%1  %2").arg(name, text(Seconds(double(piece.end - piece.start) * 1e-12)));
        const bool long_ = metrics.horizontalAdvance(timed) <= room;
        const QString label = long_ ? timed : metrics.elidedText(name, Qt::ElideRight, room);
        if (label != timed && label != name && label.size() < 5) return;  // a letter and dots say nothing
        painter.drawText(QRect(std::max(left, gutter_) + 4, top, room, tall), Qt::AlignVCenter | Qt::AlignLeft, label);
    };
    model_.rows()[std::size_t(row)].visit(std::int64_t(map_.from), std::int64_t(map_.to) + 1,
                                          std::int64_t(map_.perPixel()), draw);
    painter.setBrush(Qt::NoBrush);
    for (const auto& [box, colour] : outlines) {
        painter.setPen(QPen(colour, 2));
        painter.drawRect(QRectF(box).adjusted(1, 1, -1, -1));
    }
}

void TimelineView::paintArea(QPainter& painter) {
    const Palette& c = Theme::instance().colours();
    const double left = std::max(map_.pixel(area_->from), double(gutter_));
    const double right = std::min(map_.pixel(area_->to), double(width()));
    if (right <= left) return;
    painter.save();
    painter.setClipRect(rowsRect());
    const QRectF box(QPointF(left, rowRect(area_->firstRow).top()), QPointF(right, rowRect(area_->lastRow).bottom()));
    painter.fillRect(box, faded(c.accent, 0.14));
    painter.setPen(QPen(c.accent, 1));
    painter.drawLine(box.topLeft(), box.bottomLeft());
    painter.drawLine(box.topRight(), box.bottomRight());
    painter.restore();
}

void TimelineView::paintFooter(QPainter& painter) {
    const Theme& theme = Theme::instance();
    const Palette& c = theme.colours();
    const QRect footer = footerRect();
    painter.fillRect(footer, c.raised);
    painter.setPen(c.line);
    painter.drawLine(footer.topLeft(), footer.topRight());
    const SpanStatistics sum = areaStatistics();
    const auto time = [](double ps) { return text(Seconds(ps * 1e-12)); };
    QStringList parts{tr("Area %1").arg(time(area_->to - area_->from)),
                      sum.count == 1 ? tr("1 span") : tr("%1 spans").arg(countText(double(sum.count)))};
    if (sum.count > 0) {
        parts << tr("sum %1").arg(time(double(sum.sum))) << tr("mean %1").arg(time(sum.mean()))
              << tr("min %1").arg(time(double(sum.least))) << tr("max %1").arg(time(double(sum.most)));
    }
    painter.setFont(theme.font(FontRole::Small));
    const QFontMetrics metrics(painter.font());
    painter.setPen(c.text);
    painter.drawText(footer.adjusted(8, 0, -8, 0), Qt::AlignVCenter | Qt::AlignLeft,
                     metrics.elidedText(parts.join(QStringLiteral("  ·  ")), Qt::ElideRight, footer.width() - 16));
}

}  // namespace orrery::ui
