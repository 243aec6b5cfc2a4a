#include "widgets/training/value_strip.h"

#include "widgets/common/theme.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <bit>
#include <cmath>

namespace orrery::ui {

ValueStrip::ValueStrip(const QString& objectName, const QString& name, const QString& tip, QWidget* parent)
    : QWidget(parent) {
    setObjectName(objectName);
    setAccessibleName(name);
    setToolTip(tip);
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

QSize ValueStrip::sizeHint() const {
    return {static_cast<int>(220 * Theme::instance().scale()), static_cast<int>(24 * Theme::instance().scale())};
}

QSize ValueStrip::minimumSizeHint() const {
    return {static_cast<int>(120 * Theme::instance().scale()), sizeHint().height()};
}

void ValueStrip::setValues(std::vector<StripValue> values, qint64 value) {
    if (dragging_ || (values == values_ && value == value_)) return;
    values_ = std::move(values);
    value_ = value;
    setAccessibleDescription(QString::number(value_));
    update();
}

// The present value, then powers of two, then the rest, then the smallest that cannot be.
std::vector<std::size_t> ValueStrip::shown() const {
    double wide = 0;
    const QFontMetricsF metrics(Theme::instance().font(FontRole::Small));
    for (const StripValue& each : values_) wide = std::max(wide, metrics.horizontalAdvance(each.text));
    const auto room = static_cast<std::size_t>(std::max(2.0, width() / (wide + 9)));
    std::vector<std::size_t> order(values_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto rank = [&](std::size_t i) {
        const StripValue& each = values_[i];
        if (each.value == value_) return 0;
        const bool power = each.value > 0 && std::has_single_bit(static_cast<quint64>(each.value));
        if (each.refused.isEmpty()) return power ? 1 : 2;
        return power ? 3 : 4;
    };
    std::ranges::stable_sort(order, {}, rank);
    if (order.size() > room) order.resize(room);
    std::ranges::sort(order);
    return order;
}

QRectF ValueStrip::cellOf(qint64 value) const {
    const std::vector<std::size_t> drawn = shown();
    for (std::size_t at = 0; at < drawn.size(); ++at) {
        if (values_[drawn[at]].value != value) continue;
        const double wide = static_cast<double>(width()) / static_cast<double>(drawn.size());
        return {wide * static_cast<double>(at), 0, wide, static_cast<double>(height())};
    }
    return {};
}

int ValueStrip::indexAt(double x) const {
    const std::vector<std::size_t> drawn = shown();
    if (drawn.empty() || width() <= 0) return -1;
    const auto at = static_cast<std::ptrdiff_t>(std::floor(x / width() * static_cast<double>(drawn.size())));
    return static_cast<int>(drawn[static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(at, 0, static_cast<std::ptrdiff_t>(drawn.size()) - 1))]);
}

void ValueStrip::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(theme.font(FontRole::Small));
    const QRectF frame = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.setPen(hasFocus() ? colours.accent : colours.line);
    painter.setBrush(colours.surface);
    painter.drawRoundedRect(frame, 4, 4);
    for (const std::size_t i : shown()) {
        const StripValue& each = values_[i];
        const QRectF cell = cellOf(each.value);
        const bool chosen = each.value == value_, possible = each.refused.isEmpty();
        if (chosen) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(possible ? colours.accent : colours.bad);
            painter.drawRoundedRect(cell.adjusted(2, 2, -2, -2), 3, 3);
        } else if (static_cast<int>(i) == hovered_ && isEnabled() && possible) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(colours.raised);
            painter.drawRoundedRect(cell.adjusted(2, 2, -2, -2), 3, 3);
        }
        QColor ink = chosen ? colours.accentText : colours.text;
        if (!possible && !chosen) {
            ink = colours.mutedText;
            ink.setAlphaF(0.5F);
        }
        painter.setPen(ink);
        painter.drawText(cell, Qt::AlignCenter, each.text);
        if (!possible && !chosen) {
            const double wide = painter.fontMetrics().horizontalAdvance(each.text) / 2.0 + 2;
            painter.drawLine(QPointF(cell.center().x() - wide, cell.center().y()),
                             QPointF(cell.center().x() + wide, cell.center().y()));
        }
    }
}

void ValueStrip::dragTo(double x) {
    const int at = indexAt(x);
    if (at < 0) return;
    const StripValue& under = values_[static_cast<std::size_t>(at)];
    if (!under.refused.isEmpty() || under.value == value_) return;
    value_ = under.value;
    emit edited(value_, EditPhase::Drag);
    update();
}

void ValueStrip::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return event->ignore();
    dragging_ = true;
    before_ = value_;
    emit edited(before_, EditPhase::Begin);
    dragTo(event->position().x());
}

void ValueStrip::mouseMoveEvent(QMouseEvent* event) {
    if (dragging_) return dragTo(event->position().x());
    const int at = indexAt(event->position().x());
    if (at == hovered_) return;
    hovered_ = at;
    update();
}

void ValueStrip::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && dragging_) endDrag(true);
}

void ValueStrip::endDrag(bool keep) {
    if (!keep && value_ != before_) {
        value_ = before_;
        emit edited(value_, EditPhase::Drag);
    }
    dragging_ = false;
    emit edited(value_, EditPhase::Commit);
    update();
}

void ValueStrip::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && dragging_) return endDrag(false);
    std::vector<qint64> possible;
    for (const StripValue& each : values_)
        if (each.refused.isEmpty()) possible.push_back(each.value);
    if (dragging_ || possible.empty()) return event->ignore();
    qint64 next = value_;
    const auto above = std::ranges::upper_bound(possible, value_);
    const auto below = std::ranges::lower_bound(possible, value_);
    switch (event->key()) {
        case Qt::Key_Right:
        case Qt::Key_Up:
            if (above != possible.end()) next = *above;
            break;
        case Qt::Key_Left:
        case Qt::Key_Down:
            if (below != possible.begin()) next = *(below - 1);
            break;
        case Qt::Key_Home:
            next = possible.front();
            break;
        case Qt::Key_End:
            next = possible.back();
            break;
        default:
            return event->ignore();
    }
    if (next == value_) return;
    value_ = next;
    emit edited(value_, EditPhase::Commit);
    update();
}

void ValueStrip::focusOutEvent(QFocusEvent* event) {
    if (dragging_ && event->reason() != Qt::PopupFocusReason) endDrag(true);
    QWidget::focusOutEvent(event);
    update();
}

bool ValueStrip::event(QEvent* event) {
    if (event->type() == QEvent::Leave && hovered_ >= 0) {
        hovered_ = -1;
        update();
    }
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int at = indexAt(help->pos().x());
    if (at < 0) return QWidget::event(event);
    const StripValue& under = values_[static_cast<std::size_t>(at)];
    const QString why = under.refused.isEmpty() ? under.tip : under.refused;
    QToolTip::showText(help->globalPos(), why.isEmpty() ? toolTip() : QStringLiteral("%1: %2").arg(under.text, why),
                       this);
    return true;
}

}  // namespace orrery::ui
