#pragma once

// What a person cannot read or reach in a window as it stands: words cut without a tooltip, numbers cut at all,
// controls out of the window or squeezed to nothing, text that hardly stands out from what it stands on.

#include "widgets/common/label.h"
#include "widgets/common/theme.h"

#include <QtWidgets>

#include <map>
#include <set>

namespace orrery::ui::fixture {

inline QString whereIs(const QWidget& widget) {
    QStringList names;
    for (const QWidget* at = &widget; at && names.size() < 4; at = at->parentWidget())
        names.prepend(at->objectName().isEmpty() ? QString::fromLatin1(at->metaObject()->className()).section("::", -1)
                                                 : at->objectName());
    return names.join(QStringLiteral(" › "));
}

/// What is in the way: the widgets of the widest (or tallest) way down.
inline QString culprits(const QWidget& top, bool wide) {
    QStringList way;
    for (const QWidget* at = &top; at;) {
        const QSize least = at->minimumSizeHint().expandedTo(at->minimumSize());
        way << QStringLiteral("%1 (%2) %3x%4")
                   .arg(at->objectName(), QLatin1String(at->metaObject()->className()))
                   .arg(least.width())
                   .arg(least.height());
        const QWidget* most = nullptr;
        int length = 0;
        for (const QObject* child : at->children()) {
            const auto* widget = qobject_cast<const QWidget*>(child);
            // Pages of a stack that are behind ask for room, too.
            const bool counts = widget && (widget->isVisibleTo(&top) || qobject_cast<const QStackedWidget*>(at));
            if (!counts || widget->isWindow()) continue;
            const QSize its = widget->minimumSizeHint().expandedTo(widget->minimumSize());
            if ((wide ? its.width() : its.height()) <= length) continue;
            length = wide ? its.width() : its.height();
            most = widget;
        }
        at = most;
    }
    return way.join(QStringLiteral("\n    "));
}

/// A page or form in front that is wider than the room it has, and what in it asks for that; empty: none.
inline QString scrollsSideways(const QMainWindow& window) {
    for (const auto* area : window.findChildren<QScrollArea*>())
        if (area->isVisible() && area->widget() && area->horizontalScrollBar()->isVisible())
            return QStringLiteral("%1 scrolls sideways in %2 pixels\n    %3")
                .arg(whereIs(*area))
                .arg(area->viewport()->width())
                .arg(culprits(*area->widget(), true));
    return {};
}

/// `3.2 ms`, `≥ 1638 GB/s`, `2–4 ms`, `2 chosen`: half of it is another number.
inline bool isNumber(const QString& text) {
    static const QRegularExpression number(QStringLiteral(
        "^[≥≤~±×−+-]? ?[0-9][0-9.,   –-]*( ?[A-Za-zµ%/×²$]{0,10})( ?[–-] ?[0-9.,]+( ?[A-Za-zµ%/]{0,8}))?$"));
    return number.match(text.trimmed()).hasMatch();
}

class WindowWalk {
public:
    /// Of each widget the first fault.
    std::map<QString, QString> faults;
    int labels = 0, controls = 0, cells = 0, inks = 0;  ///< looked at, so that a walk past nothing is seen

    void look(QMainWindow& window, const QString& state) {
        state_ = state;
        picture_ = {};
        const QRect all(QPoint(), window.size());
        for (QWidget* widget : window.findChildren<QWidget*>()) {
            if (!widget->isVisible() || widget->window() != &window || isBehindATab(window, *widget)) continue;
            const QRect there(widget->mapTo(&window, QPoint()), widget->size());
            // What scrolls may be out of sight; what is in sight is whole.
            const bool inScroll = scrolls(*widget);
            if (isControl(*widget) && !inScroll) {
                ++controls;
                if (!all.contains(there)) blame(*widget, QStringLiteral("lies outside of the window"));
                if (widget->width() < 8 || widget->height() < 8)
                    blame(*widget, QStringLiteral("is squeezed to nothing"));
            }
            // Small type is 11 pixels; in Teach all type grows.
            const int pixels = QFontInfo(widget->font()).pixelSize();
            if (isControl(*widget) && pixels < qFloor(11 * Theme::instance().scale()))
                blame(*widget, QStringLiteral("has type of %1 pixels").arg(pixels));
            if (widget->visibleRegion().isEmpty()) continue;
            lookAtText(*widget);
            if (const auto* view = qobject_cast<const QAbstractItemView*>(widget)) lookAtCells(*view);
            lookAtInk(window, *widget);
        }
    }

private:
    void blame(const QWidget& widget, const QString& what, const QString& part = {}) {
        faults.try_emplace(whereIs(widget) + part, what + QStringLiteral(" (%1)").arg(state_));
    }

    /// Qt parks the docks behind the one in front above and left of the window, and calls them visible.
    static bool isBehindATab(const QMainWindow& window, const QWidget& widget) {
        for (const QWidget* at = &widget; at; at = at->parentWidget()) {
            auto* dock = qobject_cast<const QDockWidget*>(at);
            if (dock && dock->geometry().right() < 0 && dock->geometry().bottom() < 0 &&
                !window.tabifiedDockWidgets(const_cast<QDockWidget*>(dock)).isEmpty())
                return true;
        }
        return false;
    }
    static bool scrolls(const QWidget& widget) {
        for (const QWidget* at = widget.parentWidget(); at; at = at->parentWidget())
            if (qobject_cast<const QAbstractScrollArea*>(at)) return true;
        return false;
    }
    static bool isControl(const QWidget& widget) {
        if (widget.objectName().startsWith(QLatin1String("qt_"))) return false;
        const QWidget* parent = widget.parentWidget();
        if (qobject_cast<const QLineEdit*>(parent) || qobject_cast<const QTabBar*>(parent) ||
            qobject_cast<const QDockWidget*>(parent) || qobject_cast<const QComboBox*>(parent) ||
            qobject_cast<const QAbstractSpinBox*>(parent))
            return false;
        return qobject_cast<const QAbstractButton*>(&widget) || qobject_cast<const QLineEdit*>(&widget) ||
               qobject_cast<const QComboBox*>(&widget) || qobject_cast<const QAbstractSpinBox*>(&widget) ||
               qobject_cast<const QAbstractSlider*>(&widget);
    }

    /// `missing` pixels of a text have no room.
    void judge(const QWidget& widget, const QString& text, int missing, const QString& tip, const QString& part = {}) {
        if (missing <= 1 || text.isEmpty()) return;
        if (isNumber(text))
            blame(widget, QStringLiteral("cuts the number '%1' by %2 pixels").arg(text).arg(missing), part);
        else if (tip.isEmpty())
            blame(widget, QStringLiteral("cuts '%1' by %2 pixels and says it nowhere").arg(text).arg(missing), part);
    }

    void lookAtText(const QWidget& widget) {
        const QFontMetrics metrics = widget.fontMetrics();
        if (const auto* label = qobject_cast<const QLabel*>(&widget)) {
            if (label->text().isEmpty()) return;
            ++labels;
            const bool rich = label->textFormat() == Qt::RichText ||
                              (label->textFormat() == Qt::AutoText && Qt::mightBeRichText(label->text()));
            if (label->wordWrap()) {
                const int needs = label->heightForWidth(label->width());
                return judge(*label, label->text(), needs - label->height() - 2, label->toolTip());
            }
            int needs = rich ? label->sizeHint().width() : 0;
            if (!rich)
                for (const QString& line : label->text().split(QLatin1Char('\n')))
                    needs = std::max(needs, metrics.horizontalAdvance(line));
            judge(*label, label->text(), needs - label->contentsRect().width(), label->toolTip());
        } else if (const auto* tool = qobject_cast<const QToolButton*>(&widget)) {
            if (tool->toolButtonStyle() == Qt::ToolButtonIconOnly && !tool->icon().isNull()) return;
            const int icon = tool->icon().isNull() ? 0 : tool->iconSize().width() + 4;
            judge(*tool, plain(tool->text()), metrics.horizontalAdvance(plain(tool->text())) + icon - tool->width(),
                  tool->toolTip());
        } else if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) {
            int taken = button->icon().isNull() ? 4 : button->iconSize().width() + 8;
            if (qobject_cast<const QCheckBox*>(button) || qobject_cast<const QRadioButton*>(button))
                taken = button->style()->pixelMetric(QStyle::PM_IndicatorWidth) + 4;
            judge(*button, plain(button->text()),
                  metrics.horizontalAdvance(plain(button->text())) + taken - button->width(), button->toolTip());
        } else if (const auto* box = qobject_cast<const QComboBox*>(&widget)) {
            QStyleOptionComboBox option;
            option.initFrom(box);
            option.frame = true;
            const QRect field =
                box->style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, box);
            judge(*box, box->currentText(), metrics.horizontalAdvance(box->currentText()) - field.width(),
                  box->toolTip());
        } else if (const auto* line = qobject_cast<const QLineEdit*>(&widget)) {
            // Words in a field scroll as one types; a number is read at a glance.
            const QString shown = line->text().isEmpty() ? line->placeholderText() : line->text();
            if (line->text().isEmpty() || isNumber(shown))
                judge(*line, shown, metrics.horizontalAdvance(shown) + 4 - line->width(), tipAround(*line));
        } else if (const auto* bar = qobject_cast<const QTabBar*>(&widget)) {
            for (int tab = 0; tab < bar->count(); ++tab)
                if (bar->isTabVisible(tab))
                    judge(*bar, bar->tabText(tab),
                          metrics.horizontalAdvance(plain(bar->tabText(tab))) - bar->tabRect(tab).width(),
                          bar->tabToolTip(tab), QStringLiteral(" tab %1").arg(tab));
        }
    }
    static QString plain(QString text) { return text.remove(QLatin1Char('&')); }
    static QString tipAround(const QLineEdit& line) {
        const QWidget* parent = line.parentWidget();
        return line.toolTip().isEmpty() && parent && qobject_cast<const QAbstractSpinBox*>(parent) ? parent->toolTip()
                                                                                                   : line.toolTip();
    }

    void lookAtCells(const QAbstractItemView& view) {
        const QAbstractItemModel* model = view.model();
        if (!model || view.isHidden()) return;
        const auto* tree = qobject_cast<const QTreeView*>(&view);
        const auto* table = qobject_cast<const QTableView*>(&view);
        if (!tree && !table) return;
        const int columns = model->columnCount(view.rootIndex());
        const int margin = view.style()->pixelMetric(QStyle::PM_FocusFrameHMargin, nullptr, &view) + 1;
        for (int y = 2; y < view.viewport()->height(); y += 12) {
            const QModelIndex first = view.indexAt(QPoint(2, y));
            for (int column = 0; first.isValid() && column < columns; ++column) {
                const QModelIndex cell = first.siblingAtColumn(column);
                if (tree ? tree->isColumnHidden(column) : table->isColumnHidden(column)) continue;
                const QVariant ink = cell.data(Qt::FontRole);
                const QFontMetrics metrics(ink.isValid() ? ink.value<QFont>() : view.font());
                const QString text = cell.data().toString();
                const QVariant picture = cell.data(Qt::DecorationRole);
                const int icon = picture.isValid() ? view.iconSize().width() + margin : 0;
                ++cells;
                judge(view, text, metrics.horizontalAdvance(text) + 2 * margin + icon - view.visualRect(cell).width(),
                      cell.data(Qt::ToolTipRole).toString(), QStringLiteral(" column %1").arg(column));
            }
        }
        const QHeaderView* header = tree ? tree->header() : table->horizontalHeader();
        for (int column = 0; header->isVisible() && column < columns; ++column) {
            if (header->isSectionHidden(column)) continue;
            const QString text = model->headerData(column, Qt::Horizontal).toString();
            judge(view, text, header->fontMetrics().horizontalAdvance(text) - header->sectionSize(column),
                  model->headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString(),
                  QStringLiteral(" header %1").arg(column));
        }
    }

    /// Of what was painted: the commonest colour is the ground, what stands out most from it the ink. WCAG 2.1 asks 4.5
    /// of text, and nothing of what is disabled.
    void lookAtInk(QWidget& window, const QWidget& widget) {
        QString text;
        if (const auto* label = qobject_cast<const QLabel*>(&widget)) text = label->text();
        if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) {
            const auto* tool = qobject_cast<const QToolButton*>(button);
            text = tool && tool->toolButtonStyle() == Qt::ToolButtonIconOnly && !tool->icon().isNull() ? QString()
                                                                                                       : button->text();
        }
        if (const auto* line = qobject_cast<const QLineEdit*>(&widget)) text = line->text();
        if (const auto* box = qobject_cast<const QComboBox*>(&widget)) text = box->currentText();
        if (text.trimmed().isEmpty() || !widget.isEnabled()) return;
        if (!seen_.insert({&widget, text}).second) return;
        if (picture_.isNull()) picture_ = window.grab().toImage().convertToFormat(QImage::Format_RGB32);
        const QImage& picture = picture_;
        const QRect seen = widget.visibleRegion().boundingRect().translated(widget.mapTo(&window, QPoint()));
        const double ratio = picture.devicePixelRatio();
        const QRect inside = QRect(qRound(seen.x() * ratio), qRound(seen.y() * ratio), qRound(seen.width() * ratio),
                                   qRound(seen.height() * ratio))
                                 .intersected(picture.rect());
        if (seen.height() < widget.fontMetrics().height() || seen.width() < 12) return;  // scrolled to its edge
        std::map<QRgb, int> colours;
        for (int y = inside.top(); y <= inside.bottom(); ++y) {
            const auto* row = reinterpret_cast<const QRgb*>(picture.constScanLine(y));
            for (int x = inside.left(); x <= inside.right(); ++x) ++colours[row[x]];
        }
        if (colours.size() < 2) return;
        const QRgb ground = std::ranges::max_element(colours, {}, [](const auto& each) { return each.second; })->first;
        double most = 1;
        for (const auto& [colour, count] : colours)
            most = std::max(most, contrastRatio(QColor(colour), QColor(ground)));
        ++inks;
        if (most < 4.5)
            blame(widget, QStringLiteral("writes '%1' in a contrast of %2").arg(text.left(40)).arg(most, 0, 'f', 1),
                  QStringLiteral(" ink"));
    }

    QString state_;
    QImage picture_;  ///< of this state, once something in it is new
    std::set<std::pair<const QWidget*, QString>> seen_;
};

}  // namespace orrery::ui::fixture
