#pragma once

#include <QStyledItemDelegate>

namespace orrery::ui {

/// Items whose text stands whole, in as many lines as the width of their list makes. (Qt 6.4 cuts the last line of a
/// paragraph that wraps, whatever elide mode the list has.)
class WrappedDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    /// Of its text in an item that is `width` pixels wide.
    static int heightFor(const QString& text, const QFont& font, int width);
};

}  // namespace orrery::ui
