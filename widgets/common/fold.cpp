#include "widgets/common/fold.h"

#include <QPainter>
#include <QVBoxLayout>

namespace orrery::ui {

FoldHead::FoldHead(const QString& objectName, const QString& title, const QString& tip, QWidget* parent)
    : QAbstractButton(parent) {
    setObjectName(objectName);
    setAccessibleName(title);
    setToolTip(tip);
    setText(title);
    setCheckable(true);
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_Hover);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void FoldHead::setSummary(const QString& summary, Tone tone) {
    summary_ = summary;
    tone_ = tone;
    setAccessibleDescription(summary);
    update();
}

QSize FoldHead::sizeHint() const {
    const QFontMetrics metrics(Theme::instance().font(FontRole::Small));
    return {metrics.horizontalAdvance(text()) + 120, metrics.height() + 12};
}

void FoldHead::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    if (underMouse() || hasFocus()) painter.fillRect(rect(), colours.raised);
    painter.setRenderHint(QPainter::Antialiasing);
    const double s = 3.5 * theme.scale();
    const double side = s * 2 + 8;
    painter.translate(s + 2, height() / 2.0);
    painter.rotate(isChecked() ? 0 : -90);
    painter.setPen(QPen(hasFocus() ? colours.accent : colours.mutedText, 1.4, Qt::SolidLine, Qt::RoundCap));
    painter.drawPolyline(QPolygonF({{-s, -s / 2}, {0, s / 2}, {s, -s / 2}}));
    painter.resetTransform();
    QFont font = theme.font(FontRole::Small);
    font.setWeight(QFont::DemiBold);
    painter.setFont(font);
    painter.setPen(colours.mutedText);
    const QFontMetrics heavy(font);
    painter.drawText(QRectF(side, 0, width() - side, height()), Qt::AlignVCenter | Qt::AlignLeft, text());
    const double from = side + heavy.horizontalAdvance(text()) + 8;
    const double middle = height() / 2.0;
    const QFontMetrics metrics(theme.font(FontRole::Small));
    const QString shown =
        isChecked() ? QString() : metrics.elidedText(summary_, Qt::ElideRight, static_cast<int>(width() - from - 4));
    const double to = width() - (shown.isEmpty() ? 0 : metrics.horizontalAdvance(shown) + 8);
    painter.setFont(theme.font(FontRole::Small));
    painter.setPen(toneColour(tone_));
    painter.drawText(QRectF(0, 0, width(), height()), Qt::AlignVCenter | Qt::AlignRight, shown);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(colours.faintLine);
    if (from < to) painter.drawLine(QPointF(from, middle), QPointF(to, middle));
}

Fold::Fold(const QString& objectName, const QString& title, const QString& tip, QWidget* parent)
    : QWidget(parent), head_(new FoldHead(objectName, title, tip, this)), body_(new QWidget(this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(Theme::instance().unit() / 2);
    column->addWidget(head_);
    column->addWidget(body_);
    body_->hide();
    connect(head_, &QAbstractButton::toggled, body_, &QWidget::setVisible);
}

}  // namespace orrery::ui
