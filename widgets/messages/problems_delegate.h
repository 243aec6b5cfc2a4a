#pragma once

#include <QStyledItemDelegate>

namespace orrery::ui {

/// Severity, message and hint, the place on the right or below, and a light bulb where there is a quick fix.
class ProblemsDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    /// Where the light bulb stands in a row; invalid where there is no fix.
    static QRect bulb(const QRect& row, const QModelIndex& index);
};

}  // namespace orrery::ui
