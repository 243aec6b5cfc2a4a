#include "widgets/common/icon_button.h"

#include "widgets/common/theme.h"

#include <QPainter>

namespace orrery::ui {

IconButton::IconButton(const QString& icon, const QString& name, const QString& objectName, QWidget* parent)
    : QToolButton(parent), icon_(icon) {
    setObjectName(objectName);
    setAccessibleName(name);
    setToolTip(name);
    setFixedSize(22, 22);
    setFocusPolicy(Qt::TabFocus);
    connect(&Theme::instance(), &Theme::changed, this, [this] { update(); });
}

void IconButton::paintEvent(QPaintEvent*) {
    const Palette& colours = Theme::instance().colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (isDown() || underMouse() || hasFocus()) {
        painter.setPen(hasFocus() ? QPen(colours.accent, 1) : QPen(Qt::NoPen));
        painter.setBrush(isDown() || underMouse() ? colours.selection : QColor(Qt::transparent));
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    }
    if (icon_ == QStringLiteral("×")) {  // themes draw this one in red, as if closing a hint were dangerous
        painter.setPen(QPen(underMouse() ? colours.text : colours.mutedText, 1.4, Qt::SolidLine, Qt::RoundCap));
        const QPointF middle = QRectF(rect()).center();
        painter.drawLine(middle + QPointF(-3.5, -3.5), middle + QPointF(3.5, 3.5));
        painter.drawLine(middle + QPointF(-3.5, 3.5), middle + QPointF(3.5, -3.5));
        return;
    }
    Theme::instance().icon(icon_).paint(&painter, QRect((width() - 16) / 2, (height() - 16) / 2, 16, 16),
                                        Qt::AlignCenter, isEnabled() ? QIcon::Normal : QIcon::Disabled);
}

}  // namespace orrery::ui
