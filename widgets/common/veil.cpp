#include "widgets/common/veil.h"

#include "widgets/common/theme.h"

#include <QEvent>
#include <QPainter>
#include <QSplitter>

namespace orrery::ui {

namespace {

constexpr int patience = 400;       ///< ms: a pause that is felt
constexpr double thickness = 0.62;  ///< of the cover over the old result

// A splitter would lay it out as one more of its parts.
QWidget* hostOf(QWidget* over) {
    while (qobject_cast<QSplitter*>(over) && over->parentWidget()) over = over->parentWidget();
    return over;
}

}  // namespace

Veil::Veil(QWidget* over) : QWidget(hostOf(over)), over_(over) {
    setObjectName(over->objectName() + QStringLiteral("-veil"));
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setFocusPolicy(Qt::NoFocus);
    over->installEventFilter(this);
    soon_.setSingleShot(true);
    soon_.setInterval(patience);
    connect(&soon_, &QTimer::timeout, this, [this] { drop(soonWhy_); });
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
    hide();
}

void Veil::drop(const QString& why) {
    soon_.stop();
    why_ = why;
    setAccessibleName(why);
    cover();
    raise();
    show();
    update();
}

void Veil::cover() {
    setGeometry(QRect(over_->mapTo(parentWidget(), QPoint()), over_->size()));
}

void Veil::dropSoon(const QString& why) {
    soonWhy_ = why;
    if (isDown()) return drop(why);
    if (!soon_.isActive()) soon_.start();
}

void Veil::lift() {
    soon_.stop();
    why_.clear();
    hide();
}

QString Veil::lateIn(const QWidget& shown) {
    for (const Veil* veil : shown.findChildren<Veil*>())
        if (!veil->said().isEmpty()) return veil->said();
    for (const QWidget* around = shown.parentWidget(); around; around = around->parentWidget()) {
        for (const Veil* veil : around->findChildren<Veil*>(Qt::FindDirectChildrenOnly)) {
            const bool covers = veil->over_ == &shown || veil->over_->isAncestorOf(&shown);
            if (covers && !veil->said().isEmpty()) return veil->said();
        }
    }
    return {};
}

bool Veil::eventFilter(QObject* watched, QEvent* event) {
    if (watched == over_) {
        if (event->type() == QEvent::Resize || event->type() == QEvent::Move) cover();
        // A view made later, such as a tab's, would lie above.
        if (event->type() == QEvent::ChildAdded && isDown()) raise();
    }
    return QWidget::eventFilter(watched, event);
}

void Veil::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QColor cover = colours.surface;
    cover.setAlphaF(float(thickness));
    painter.fillRect(rect(), cover);
    const int unit = theme.unit();
    painter.setFont(theme.font(FontRole::Body));
    const int widest = width() - 6 * unit;
    if (why_.isEmpty() || widest < 4 * unit) return;
    const int flags = int(Qt::AlignCenter) | int(Qt::TextWordWrap);
    const QRect text = painter.fontMetrics()
                           .boundingRect(QRect(0, 0, widest, height()), flags, why_)
                           .adjusted(-unit, -unit / 2, unit, unit / 2);
    QRect box(QPoint((width() - text.width()) / 2, std::max(unit, (height() - text.height()) / 6)), text.size());
    painter.setPen(colours.warning);
    painter.setBrush(colours.surface);
    painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), unit / 2.0, unit / 2.0);
    painter.setPen(colours.text);
    painter.drawText(box.adjusted(unit, unit / 2, -unit, -unit / 2), flags, why_);
}

}  // namespace orrery::ui
