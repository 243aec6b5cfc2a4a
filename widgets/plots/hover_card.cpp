#include "widgets/plots/hover_card.h"

#include "widgets/common/theme.h"

#include <QPainter>

#include <algorithm>

namespace orrery::ui {
namespace {

constexpr int padding = 8;
constexpr int widest = 360;

QFont titleFont() {
    QFont font = Theme::instance().font(FontRole::Body);
    font.setWeight(QFont::DemiBold);
    return font;
}

}  // namespace

HoverCard::HoverCard(QWidget* view) : QWidget(view) {
    setObjectName(view->objectName() + QStringLiteral("-card"));
    setAttribute(Qt::WA_TransparentForMouseEvents);
    hide();
}

void HoverCard::showAt(const QPoint& near, const QColor& colour, const QString& title, const Lines& lines) {
    colour_ = colour;
    title_ = title;
    lines_ = lines;
    const QFontMetrics bold(titleFont());
    const QFontMetrics body(Theme::instance().font(FontRole::Body));
    labelWidth_ = 0;
    int valueWidth = 0;
    for (const auto& [label, value] : lines_) {
        labelWidth_ = std::max(labelWidth_, body.horizontalAdvance(label));
        valueWidth = std::max(valueWidth, body.horizontalAdvance(value));
    }
    const int inner = std::max(bold.horizontalAdvance(title_) + 18, labelWidth_ + 16 + valueWidth + 4);
    const int width = std::min(inner + 2 * padding, std::max(parentWidget()->width() - 8, 80));
    // A low view gets the first lines only, those that matter most.
    const int line = body.height() + 1;
    const int head = 2 * padding + bold.height() + 4;
    shownLines_ = std::min(std::max((parentWidget()->height() - 8 - head) / line, 1), int(lines_.size()));
    const int height = head + shownLines_ * line;
    resize(std::min(width, int(widest * Theme::instance().scale())), height);
    const QRect room = parentWidget()->rect().adjusted(4, 4, -4, -4);
    QPoint at = near + QPoint(14, 14);
    if (at.x() + this->width() > room.right()) at.setX(near.x() - 14 - this->width());
    if (at.y() + this->height() > room.bottom()) at.setY(near.y() - 14 - this->height());
    at.setX(std::clamp(at.x(), room.left(), std::max(room.left(), room.right() - this->width())));
    at.setY(std::clamp(at.y(), room.top(), std::max(room.top(), room.bottom() - this->height())));
    move(at);
    raise();
    setVisible(true);
    update();
}

QString HoverCard::value(const QString& label) const {
    for (const auto& [name, text] : lines_)
        if (name == label) return text;
    return {};
}

void HoverCard::paintEvent(QPaintEvent*) {
    const Palette& c = Theme::instance().colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(c.line);
    painter.setBrush(c.raised);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
    const QFontMetrics bold(titleFont());
    int y = padding;
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour_);
    painter.drawEllipse(QPointF(padding + 5, y + bold.height() / 2.0), 5, 5);
    painter.setFont(titleFont());
    painter.setPen(c.text);
    const int titleRoom = width() - 2 * padding - 18;
    painter.drawText(QRect(padding + 18, y, titleRoom, bold.height()), Qt::AlignLeft | Qt::AlignVCenter,
                     bold.elidedText(title_, Qt::ElideMiddle, titleRoom));
    y += bold.height() + 4;
    const QFont font = Theme::instance().font(FontRole::Body);
    const QFontMetrics body(font);
    painter.setFont(font);
    const int left = padding + labelWidth_ + 16;
    for (int i = 0; i < shownLines_; ++i) {
        const auto& [label, value] = lines_[std::size_t(i)];
        painter.setPen(c.mutedText);
        painter.drawText(QRect(padding, y, labelWidth_, body.height()), Qt::AlignLeft, label);
        painter.setPen(c.text);
        painter.drawText(QRect(left, y, width() - padding - left, body.height()), Qt::AlignLeft,
                         body.elidedText(value, Qt::ElideRight, width() - padding - left));
        y += body.height() + 1;
    }
}

}  // namespace orrery::ui
