#include "widgets/common/theme_style.h"

#include "widgets/common/theme.h"

#include <QPainter>
#include <QPainterPath>
#include <QStyleOption>
#include <QTabBar>

#include <algorithm>

namespace orrery::ui {
namespace {

const Palette& palette() {
    return Theme::instance().colours();
}

// Degrees clockwise from pointing down.
void drawChevron(QPainter* painter, const QRectF& rect, double turn, const QColor& colour) {
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->translate(rect.center());
    painter->rotate(turn);
    const double s = std::min({rect.width(), rect.height(), 16.0}) / 4;
    painter->setPen(QPen(colour, 1.4, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter->drawPolyline(QPolygonF({{-s, -s / 2}, {0, s / 2}, {s, -s / 2}}));
    painter->restore();
}

void drawField(QPainter* painter, const QRect& rect, QStyle::State state) {
    const Palette& c = palette();
    const bool enabled = state & QStyle::State_Enabled;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    QColor border = c.line;
    if (enabled && (state & QStyle::State_HasFocus))
        border = c.accent;
    else if (enabled && (state & QStyle::State_MouseOver))
        border = c.mutedText;
    painter->setPen(QPen(border, 1));
    painter->setBrush(enabled ? c.surface : c.window);
    painter->drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    painter->restore();
}

void drawCheck(QPainter* painter, const QStyleOption* option, bool round) {
    const Palette& c = palette();
    const bool enabled = option->state & QStyle::State_Enabled;
    const bool on = option->state & QStyle::State_On;
    const bool partly = option->state & QStyle::State_NoChange;
    const double side = std::min(option->rect.width(), option->rect.height()) - 1;
    QRectF box(0, 0, side, side);
    box.moveCenter(QRectF(option->rect).center());
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const bool lit = option->state & (QStyle::State_MouseOver | QStyle::State_HasFocus);
    const QColor fill = enabled ? c.accent : c.mutedText;
    painter->setPen(QPen(on || partly || (lit && enabled) ? fill : c.mutedText, 1));
    painter->setBrush(on || partly ? fill : c.surface);
    if (round)
        painter->drawEllipse(box);
    else
        painter->drawRoundedRect(box, 3, 3);
    painter->setPen(QPen(c.accentText, 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const QPointF at = box.center();
    const double s = side / 4;
    if (round && on) {
        painter->setPen(Qt::NoPen);
        painter->setBrush(c.accentText);
        painter->drawEllipse(at, s * 0.9, s * 0.9);
    } else if (partly) {
        painter->drawLine(at - QPointF(s, 0), at + QPointF(s, 0));
    } else if (on) {
        painter->drawPolyline(
            QPolygonF({at + QPointF(-s, 0), at + QPointF(-s * 0.2, s * 0.8), at + QPointF(s * 1.1, -s * 0.8)}));
    }
    painter->restore();
}

// Lines on a 16-pixel square, in the muted ink: dock titles stay quiet.
QIcon titleButton(const QList<QPolygonF>& lines) {
    constexpr int density = 2;
    QPixmap pixmap(16 * density, 16 * density);
    pixmap.setDevicePixelRatio(density);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(palette().mutedText, 1.2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    for (const QPolygonF& line : lines) painter.drawPolyline(line);
    painter.end();
    return pixmap;
}

}  // namespace

ThemeStyle::ThemeStyle() : QProxyStyle(QStringLiteral("Fusion")) {}

void ThemeStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                               const QWidget* widget) const {
    const Palette& c = palette();
    const QColor ink = option->state & State_Enabled ? c.mutedText : c.line;
    switch (element) {
        case PE_IndicatorCheckBox:
        case PE_IndicatorItemViewItemCheck:
            return drawCheck(painter, option, false);
        case PE_IndicatorRadioButton:
            return drawCheck(painter, option, true);
        case PE_IndicatorArrowDown:
            return drawChevron(painter, option->rect, 0, ink);
        case PE_IndicatorArrowLeft:
            return drawChevron(painter, option->rect, 90, ink);
        case PE_IndicatorArrowUp:
            return drawChevron(painter, option->rect, 180, ink);
        case PE_IndicatorArrowRight:
            return drawChevron(painter, option->rect, 270, ink);
        case PE_IndicatorHeaderArrow: {
            const auto* header = qstyleoption_cast<const QStyleOptionHeader*>(option);
            const bool up = header && header->sortIndicator == QStyleOptionHeader::SortUp;
            return drawChevron(painter, option->rect, up ? 180 : 0, c.accent);
        }
        case PE_IndicatorBranch:
            if (option->state & State_Children)
                drawChevron(painter, option->rect, option->state & State_Open ? 0 : 270, c.mutedText);
            return;
        case PE_IndicatorToolBarSeparator: {
            const QRect r = option->rect;
            const bool upright = option->state & State_Horizontal;
            painter->fillRect(upright ? QRect(r.center().x(), r.top() + 4, 1, r.height() - 8)
                                      : QRect(r.left() + 4, r.center().y(), r.width() - 8, 1),
                              c.line);
            return;
        }
        case PE_FrameFocusRect: {
            if (qobject_cast<const QTabBar*>(widget)) return;  // the sheet colours a focused tab
            painter->save();
            painter->setRenderHint(QPainter::Antialiasing);
            painter->setPen(QPen(c.accent, 1));
            painter->setBrush(Qt::NoBrush);
            painter->drawRoundedRect(QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
            painter->restore();
            return;
        }
        default:
            QProxyStyle::drawPrimitive(element, option, painter, widget);
    }
}

void ThemeStyle::drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                             const QWidget* widget) const {
    const auto* combo = element == CE_ComboBoxLabel ? qstyleoption_cast<const QStyleOptionComboBox*>(option) : nullptr;
    if (!combo || combo->editable || combo->currentText.isEmpty())
        return QProxyStyle::drawControl(element, option, painter, widget);
    // As Fusion lays it: a pixel at each side, and the picture with its gap before the text.
    int room = subControlRect(CC_ComboBox, combo, SC_ComboBoxEditField, widget).width() - 2;
    if (!combo->currentIcon.isNull()) room -= combo->iconSize.width() + 4;
    QStyleOptionComboBox shown = *combo;
    shown.currentText = combo->fontMetrics.elidedText(combo->currentText, Qt::ElideRight, std::max(room, 0));
    QProxyStyle::drawControl(element, &shown, painter, widget);
}

void ThemeStyle::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                                    const QWidget* widget) const {
    const Palette& c = palette();
    const QColor ink = option->state & State_Enabled ? c.mutedText : c.line;
    if (const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option); control == CC_ComboBox && combo) {
        if (combo->frame) drawField(painter, option->rect, option->state);
        const QRect arrow = subControlRect(control, option, SC_ComboBoxArrow, widget);
        drawChevron(painter, arrow, 0, ink);
        return;
    }
    if (const auto* spin = qstyleoption_cast<const QStyleOptionSpinBox*>(option); control == CC_SpinBox && spin) {
        if (spin->frame) drawField(painter, option->rect, option->state);
        if (spin->buttonSymbols == QAbstractSpinBox::NoButtons) return;
        const bool up = spin->stepEnabled & QAbstractSpinBox::StepUpEnabled;
        const bool down = spin->stepEnabled & QAbstractSpinBox::StepDownEnabled;
        drawChevron(painter, QRectF(subControlRect(control, option, SC_SpinBoxUp, widget)).adjusted(1, 0, -1, 2), 180,
                    up ? ink : c.line);
        drawChevron(painter, QRectF(subControlRect(control, option, SC_SpinBoxDown, widget)).adjusted(1, -2, -1, 0), 0,
                    down ? ink : c.line);
        return;
    }
    QProxyStyle::drawComplexControl(control, option, painter, widget);
}

int ThemeStyle::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const {
    const double scale = Theme::instance().scale();
    switch (metric) {
        case PM_IndicatorWidth:
        case PM_IndicatorHeight:
        case PM_ExclusiveIndicatorWidth:
        case PM_ExclusiveIndicatorHeight:
            return qRound(15 * scale);
        case PM_SmallIconSize:
        case PM_ButtonIconSize:
        case PM_TabBarIconSize:
        case PM_ListViewIconSize:
            return qRound(16 * scale);
        case PM_ToolBarIconSize:
            return qRound(scale > 1 ? scale * 44 / 3 : 16);  // 22 px at half as large again
        case PM_HeaderDefaultSectionSizeVertical:
            return qRound(24 * scale);
        case PM_ToolBarSeparatorExtent:
            return 9;
        case PM_TreeViewIndentation:
            return qRound(16 * scale);
        case PM_ToolTipLabelFrameWidth:
            return 1;
        case PM_LayoutHorizontalSpacing:
        case PM_LayoutVerticalSpacing:
            return 8;
        case PM_LayoutLeftMargin:
        case PM_LayoutTopMargin:
        case PM_LayoutRightMargin:
        case PM_LayoutBottomMargin:
            return 8;
        default:
            return QProxyStyle::pixelMetric(metric, option, widget);
    }
}

int ThemeStyle::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                          QStyleHintReturn* data) const {
    switch (hint) {
        case SH_EtchDisabledText:
        case SH_DitherDisabledText:
            return 0;
        case SH_ToolTip_WakeUpDelay:
            return 400;
        case SH_ToolTipLabel_Opacity:
            return 255;
        case SH_Slider_AbsoluteSetButtons:
            return Qt::LeftButton;  // a click moves the handle there
        default:
            return QProxyStyle::styleHint(hint, option, widget, data);
    }
}

QIcon ThemeStyle::standardIcon(StandardPixmap which, const QStyleOption* option, const QWidget* widget) const {
    switch (which) {
        case SP_TitleBarCloseButton:
        case SP_DockWidgetCloseButton:
            return titleButton({QPolygonF({{4.5, 4.5}, {11.5, 11.5}}), QPolygonF({{4.5, 11.5}, {11.5, 4.5}})});
        case SP_TitleBarNormalButton:
            return titleButton({QPolygonF({{4.5, 7.5}, {4.5, 11.5}, {8.5, 11.5}}),
                                QPolygonF({{6.5, 4.5}, {11.5, 4.5}, {11.5, 9.5}}),
                                QPolygonF({{11.5, 4.5}, {7.5, 8.5}})});
        case SP_LineEditClearButton:
            return Theme::instance().icon(QStringLiteral("edit-clear"));
        default:
            return QProxyStyle::standardIcon(which, option, widget);
    }
}

}  // namespace orrery::ui
