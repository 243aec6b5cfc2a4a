#include "widgets/welcome/welcome_card.h"

#include "widgets/common/theme.h"
#include "widgets/inspector/mini_roofline.h"

#include <QPainter>
#include <QPainterPath>
#include <QTextLayout>

#include <algorithm>

namespace orrery::ui {
namespace {

constexpr int pictureHeight = 144;

bool isByKey(Qt::FocusReason reason) {
    return reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason || reason == Qt::ShortcutFocusReason;
}

void drawLines(QPainter& painter, const QRect& box, const QString& text, int lines) {
    QTextLayout layout(text, painter.font());
    layout.beginLayout();
    const int height = painter.fontMetrics().lineSpacing();
    for (int i = 0; i < lines; ++i) {
        QTextLine line = layout.createLine();
        if (!line.isValid()) break;
        line.setLineWidth(box.width());
        const bool last = i == lines - 1;
        const QString shown =
            last ? painter.fontMetrics().elidedText(text.mid(line.textStart()), Qt::ElideRight, box.width())
                 : text.mid(line.textStart(), line.textLength());
        painter.drawText(QRect(box.left(), box.top() + i * height, box.width(), height),
                         Qt::AlignLeft | Qt::AlignVCenter, shown);
    }
    layout.endLayout();
}

}  // namespace

ExampleButton::ExampleButton(ExampleCard card, QWidget* parent) : QAbstractButton(parent), card_(std::move(card)) {
    setObjectName(QStringLiteral("welcome.example.") + card_.id);
    setAccessibleName(card_.title);
    setAccessibleDescription(card_.description);
    setToolTip(tr("Open the example “%1” (Enter)").arg(card_.title));
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&Theme::instance(), &Theme::changed, this, [this] { update(); });
}

void ExampleButton::focusInEvent(QFocusEvent* event) {
    byKey_ = isByKey(event->reason());
    QAbstractButton::focusInEvent(event);
}

void ExampleButton::enterEvent(QEnterEvent*) {
    update();
}

void ExampleButton::leaveEvent(QEvent*) {
    update();
}

void ExampleButton::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF frame = QRectF(rect()).adjusted(1, 1, -1, -1);
    QPainterPath card;
    card.addRoundedRect(frame, 8, 8);
    painter.fillPath(card, colours.surface);
    painter.save();
    painter.setClipPath(card);
    const QRectF picture(frame.left(), frame.top(), frame.width(), pictureHeight);
    if (card_.picture.isNull()) {
        painter.fillRect(picture, colours.window);
        paintMiniRoofline(painter, picture, card_.id);
    } else {
        // Whole, on its own ground: what it shows may stand at its edges.
        const QSize wanted =
            card_.picture.size().scaled(picture.size().toSize() * devicePixelRatioF(), Qt::KeepAspectRatio);
        if (scaled_.size() != wanted)
            scaled_ = card_.picture.scaled(wanted, Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
        QRectF place(QPointF(), QSizeF(wanted) / devicePixelRatioF());
        place.moveCenter(picture.center());
        painter.fillRect(picture, colours.window);
        painter.drawPixmap(place.toRect(), scaled_);
    }
    painter.setPen(colours.faintLine);
    painter.drawLine(picture.bottomLeft(), picture.bottomRight());
    painter.restore();
    const bool lively = underMouse() || (hasFocus() && byKey_) || isDown();
    painter.setPen(QPen(lively ? colours.accent : colours.line, hasFocus() && byKey_ ? 2 : 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(card);
    const QRect words(16, pictureHeight + 12, width() - 32, 20);
    QFont title = theme.font(FontRole::Body);
    title.setWeight(QFont::DemiBold);
    painter.setFont(title);
    painter.setPen(lively ? colours.accent : colours.text);
    painter.drawText(words, Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(card_.title, Qt::ElideRight, words.width()));
    painter.setFont(theme.font(FontRole::Small));
    painter.setPen(colours.mutedText);
    drawLines(painter, QRect(words.left(), words.bottom() + 4, words.width(), height() - words.bottom() - 8),
              card_.description,
              std::clamp((height() - words.bottom() - 8) / painter.fontMetrics().lineSpacing(), 1, 3));
}

void Gallery::setCards(const std::vector<ExampleButton*>& cards) {
    for (ExampleButton* card : cards_) card->deleteLater();
    cards_ = cards;
    for (ExampleButton* card : cards_) card->show();
    arrange();
}

void Gallery::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (event->size().width() != event->oldSize().width()) arrange();
}

void Gallery::arrange() {
    constexpr int gap = 16, least = 216, high = 232;
    columns_ = std::clamp((width() + gap) / (least + gap), 1, 4);
    const int wide = (width() - gap * (columns_ - 1)) / columns_;
    for (std::size_t i = 0; i < cards_.size(); ++i) {
        const int at = static_cast<int>(i);
        cards_[i]->setGeometry(at % columns_ * (wide + gap), at / columns_ * (high + gap), wide, high);
    }
    const int rows = (static_cast<int>(cards_.size()) + columns_ - 1) / columns_;
    setFixedHeight(std::max(0, rows * (high + gap) - gap));
}

WelcomeLink::WelcomeLink(const QString& icon, const QString& title, const QString& detail, bool prominent,
                         QWidget* parent)
    : QAbstractButton(parent), icon_(icon), title_(title), detail_(detail), prominent_(prominent) {
    setAccessibleName(title);
    setAccessibleDescription(detail);
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&Theme::instance(), &Theme::changed, this, [this] { update(); });
}

void WelcomeLink::focusInEvent(QFocusEvent* event) {
    byKey_ = isByKey(event->reason());
    QAbstractButton::focusInEvent(event);
}

void WelcomeLink::enterEvent(QEnterEvent*) {
    update();
}

void WelcomeLink::leaveEvent(QEvent*) {
    update();
}

QSize WelcomeLink::sizeHint() const {
    return {240, detail_.isEmpty() ? 36 : 48};
}

void WelcomeLink::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF frame = QRectF(rect()).adjusted(1, 1, -1, -1);
    const bool lively = underMouse() || (hasFocus() && byKey_);
    QColor ink = isEnabled() ? colours.text : colours.mutedText;
    if (prominent_) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(underMouse() && !isDown() ? colours.accent.lighter(108) : colours.accent);
        painter.drawRoundedRect(frame, 6, 6);
        ink = colours.accentText;
    } else if (lively) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(colours.selection);
        painter.drawRoundedRect(frame, 6, 6);
    }
    if (hasFocus() && byKey_) {
        painter.setPen(QPen(prominent_ ? colours.text : colours.accent, 1.5));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(frame, 6, 6);
    }
    int left = 12;
    if (!icon_.isEmpty()) {
        QPixmap pixmap = theme.icon(icon_).pixmap(QSize(16, 16), devicePixelRatioF());
        if (prominent_) {
            QPainter tint(&pixmap);
            tint.setCompositionMode(QPainter::CompositionMode_SourceIn);
            tint.fillRect(pixmap.rect(), ink);
        }
        painter.drawPixmap(left, (height() - 16) / 2, 16, 16, pixmap);
        left += 26;
    }
    const int room = width() - left - 10;
    QFont font = theme.font(FontRole::Body);
    if (prominent_) font.setWeight(QFont::DemiBold);
    painter.setFont(font);
    painter.setPen(ink);
    const QRect first(left, detail_.isEmpty() ? 0 : 6, room, detail_.isEmpty() ? height() : 18);
    painter.drawText(first, Qt::AlignVCenter, painter.fontMetrics().elidedText(title_, Qt::ElideRight, room));
    if (detail_.isEmpty()) return;
    painter.setFont(theme.font(FontRole::Small));
    painter.setPen(prominent_ ? ink : colours.mutedText);
    painter.drawText(QRect(left, 25, room, 17), Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(detail_, Qt::ElideMiddle, room));
}

}  // namespace orrery::ui
