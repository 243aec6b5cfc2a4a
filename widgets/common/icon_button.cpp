#include "widgets/common/icon_button.h"

#include "widgets/common/theme.h"

#include <QPainter>

namespace orrery::ui {

IconButton::IconButton(const QString& icon, const QString& name, const QString& objectName, QWidget* parent)
    : QToolButton(parent), icon_(icon) {
    setObjectName(objectName);
    setAccessibleName(name);
    setToolTip(name);
    setFocusPolicy(Qt::TabFocus);
    const auto fit = [this] {
        const int side = qRound(22 * Theme::instance().scale());
        setFixedSize(side, side);
        update();
    };
    fit();
    connect(&Theme::instance(), &Theme::changed, this, fit);
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
        const double scale = Theme::instance().scale(), arm = 3.5 * scale;
        painter.setPen(QPen(underMouse() ? colours.text : colours.mutedText, 1.4 * scale, Qt::SolidLine, Qt::RoundCap));
        const QPointF middle = QRectF(rect()).center();
        painter.drawLine(middle + QPointF(-arm, -arm), middle + QPointF(arm, arm));
        painter.drawLine(middle + QPointF(-arm, arm), middle + QPointF(arm, -arm));
        return;
    }
    const int side = qRound(16 * Theme::instance().scale());
    Theme::instance().icon(icon_).paint(&painter, QRect((width() - side) / 2, (height() - side) / 2, side, side),
                                        Qt::AlignCenter, isEnabled() ? QIcon::Normal : QIcon::Disabled);
}

}  // namespace orrery::ui
