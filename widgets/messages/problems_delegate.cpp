#include "widgets/messages/problems_delegate.h"

#include "widgets/common/glyphs.h"
#include "widgets/messages/problems_model.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>

namespace orrery::ui {
namespace {

/// A line of each role is this high: rows follow the type, which a projector's layout enlarges.
int lineHeightNow() {
    return QFontMetrics(Theme::instance().font(FontRole::Body)).height() + 3;
}

bool isNarrow(const QWidget* list) {
    return list && list->width() < 480 * Theme::instance().scale();
}

void paintBulb(QPainter& painter, const QRectF& square) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(square.topLeft());
    painter.scale(square.width() / 16, square.height() / 16);
    QColor fill = Theme::instance().colours().accent;
    painter.setPen(QPen(fill, 1.3, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    fill.setAlpha(40);
    painter.setBrush(fill);
    QPainterPath glass;
    glass.moveTo(6, 11.5);
    glass.cubicTo(6, 9.5, 3.2, 8.8, 3.2, 5.8);
    glass.cubicTo(3.2, 3.2, 5.3, 1.2, 8, 1.2);
    glass.cubicTo(10.7, 1.2, 12.8, 3.2, 12.8, 5.8);
    glass.cubicTo(12.8, 8.8, 10, 9.5, 10, 11.5);
    glass.closeSubpath();
    painter.drawPath(glass);
    painter.drawLine(QPointF(6.4, 13.2), QPointF(9.6, 13.2));
    painter.drawLine(QPointF(7.2, 14.9), QPointF(8.8, 14.9));
    painter.restore();
}

}  // namespace

QSize ProblemsDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const bool hint = !index.data(ProblemsModel::HintRole).toString().isEmpty();
    const bool place = isNarrow(option.widget) && !index.data(ProblemsModel::PlaceRole).toString().isEmpty();
    return {120, lineHeightNow() * (1 + (hint ? 1 : 0) + (place ? 1 : 0)) + 10};
}

QRect ProblemsDelegate::bulb(const QRect& row, const QModelIndex& index) {
    if (index.data(ProblemsModel::FixCountRole).toInt() == 0) return {};
    return {row.right() - 10 - 20, row.top() + 4, 22, 22};
}

void ProblemsDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter->save();
    if (option.state & (QStyle::State_Selected | QStyle::State_MouseOver)) {
        QColor fill = colours.selection;
        if (!(option.state & QStyle::State_Selected)) fill.setAlpha(fill.alpha() / 2);
        painter->fillRect(option.rect, fill);
    }
    QRect box = option.rect.adjusted(10, 5, -10, -5);
    if (const QRect mark = bulb(option.rect, index); mark.isValid()) {
        paintBulb(*painter, QRectF(mark).adjusted(3, 3, -3, -3));
        box.setRight(mark.left() - 6);
    }
    paintSeverity(*painter, static_cast<Severity>(index.data(ProblemsModel::SeverityRole).toInt()),
                  QRectF(box.left(), box.top() + 1, 16, 16));
    const int left = box.left() + 24;
    painter->setFont(theme.font(FontRole::Small));
    painter->setPen(colours.mutedText);
    const QString place = index.data(ProblemsModel::PlaceRole).toString();
    // Beside the message where there is room, else on a line of its own.
    const bool below = isNarrow(option.widget);
    const int placeWidth =
        below ? box.right() - left : std::min(painter->fontMetrics().horizontalAdvance(place) + 2, box.width() * 2 / 5);
    const int placeTop = below ? box.bottom() - lineHeightNow() + 1 : box.top();
    painter->drawText(QRect(box.right() - placeWidth, placeTop, placeWidth, lineHeightNow()),
                      Qt::AlignVCenter | (below ? Qt::AlignLeft : Qt::AlignRight),
                      painter->fontMetrics().elidedText(place, Qt::ElideLeft, placeWidth));
    const QString hint = index.data(ProblemsModel::HintRole).toString();
    if (!hint.isEmpty()) {
        const int room = box.right() - left;
        painter->drawText(QRect(left, box.top() + lineHeightNow(), room, lineHeightNow()), Qt::AlignVCenter,
                          painter->fontMetrics().elidedText(hint, Qt::ElideRight, room));
    }
    painter->setFont(theme.font(FontRole::Body));
    painter->setPen(colours.text);
    const int room = below ? box.right() - left : box.right() - placeWidth - 16 - left;
    painter->drawText(QRect(left, box.top(), room, lineHeightNow()), Qt::AlignVCenter,
                      painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, room));
    painter->restore();
}

}  // namespace orrery::ui
