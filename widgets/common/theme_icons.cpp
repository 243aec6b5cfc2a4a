#include "widgets/common/theme.h"

#include <QPainter>
#include <QPixmap>

namespace orrery::ui {

QIcon Theme::icon(const QString& name) const {
    const QIcon themed = QIcon::fromTheme(name);
    if (!themed.isNull()) return themed;
    QIcon drawn;
    for (const int size : {16, 22, 32, 48}) {
        QPixmap pixmap(size, size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(colours().text, 1));
        painter.drawRoundedRect(QRectF(1.5, 1.5, size - 3, size - 3), 3, 3);
        QFont letter = font(FontRole::Body);
        letter.setPixelSize(size * 9 / 16);
        painter.setFont(letter);
        painter.drawText(QRect(0, 0, size, size), Qt::AlignCenter, name.left(1).toUpper());
        painter.end();
        drawn.addPixmap(pixmap);
    }
    return drawn;
}

}  // namespace orrery::ui
