#include "widgets/common/chip.h"

#include <QPainter>
#include <QPainterPath>

namespace orrery::ui {
namespace {
int scaled(double pixels) {
    return qRound(pixels * Theme::instance().scale());
}
int markWidth() {
    return scaled(16);
}

void paintMark(QPainter& painter, Tone tone, const QRectF& square) {
    const QPointF centre;
    painter.save();
    painter.translate(square.center());
    painter.scale(Theme::instance().scale(), Theme::instance().scale());
    switch (tone) {
        case Tone::Warning:
        case Tone::Bad: {
            QPainterPath triangle(centre + QPointF(0, -4.5));
            triangle.lineTo(centre + QPointF(5, 4));
            triangle.lineTo(centre + QPointF(-5, 4));
            triangle.closeSubpath();
            painter.drawPath(triangle);
            painter.drawLine(centre + QPointF(0, -1.5), centre + QPointF(0, 1));
            painter.drawPoint(centre + QPointF(0, 2.6));
            break;
        }
        case Tone::Muted:
            painter.drawEllipse(centre, 2.5, 2.5);
            break;
        default:  // a sheet with lines: there is a source
            painter.drawRoundedRect(QRectF(centre.x() - 3.5, centre.y() - 4.5, 7, 9), 1, 1);
            painter.drawLine(centre + QPointF(-1.5, -1.5), centre + QPointF(1.5, -1.5));
            painter.drawLine(centre + QPointF(-1.5, 1), centre + QPointF(1.5, 1));
            break;
    }
    painter.restore();
}
}  // namespace

Chip::Chip(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void Chip::set(const QString& text, Tone tone, const QString& tip) {
    setToolTip(tip);
    setAccessibleDescription(tip);
    if (text == text_ && tone == tone_) return;
    text_ = text;
    tone_ = tone;
    updateGeometry();
    update();
}

void Chip::setCompact(bool compact) {
    if (compact == compact_) return;
    compact_ = compact;
    updateGeometry();
    update();
}

QSize Chip::sizeHint() const {
    const QFontMetrics metrics(Theme::instance().font(FontRole::Small));
    if (compact_ || text_.isEmpty()) return {markWidth(), scaled(18)};
    return {std::min(metrics.horizontalAdvance(text_), scaled(96)) + markWidth() + scaled(8), scaled(18)};
}

void Chip::paintEvent(QPaintEvent*) {
    if (text_.isEmpty()) return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor ink = tone_ == Tone::Normal ? toneColour(Tone::Muted) : toneColour(tone_);
    QPen pen(ink, 1.2);
    pen.setCapStyle(Qt::RoundCap);
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    if (compact_) return paintMark(painter, tone_, QRectF(0, 0, width(), height()));
    QColor fill = ink;
    fill.setAlpha(tone_ == Tone::Warning || tone_ == Tone::Bad ? 36 : 20);
    painter.setPen(Qt::NoPen);
    painter.setBrush(fill);
    painter.drawRoundedRect(rect(), 4, 4);
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    paintMark(painter, tone_, QRectF(2, 0, markWidth(), height()));
    painter.setFont(Theme::instance().font(FontRole::Small));
    const QRect words = rect().adjusted(markWidth() + 2, 0, -4, 0);
    painter.drawText(words, Qt::AlignVCenter | Qt::TextSingleLine,
                     painter.fontMetrics().elidedText(text_, Qt::ElideRight, words.width()));
}

}  // namespace orrery::ui
