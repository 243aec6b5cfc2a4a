#pragma once

#include "widgets/welcome/command_palette.h"

#include <QAbstractListModel>
#include <QStyledItemDelegate>

namespace orrery::ui {

/// What matches, best first; at most 200 rows. Without a pattern: everything that is a command, in its order.
class PaletteModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role { GroupRole = Qt::UserRole, DetailRole, ShortcutRole, HitsRole };
    struct Item {
        PaletteEntry entry;
        QString shortcut;
        std::vector<int> hits;
        int score = 0;
    };
    using QAbstractListModel::QAbstractListModel;
    void setItems(std::vector<Item> items);
    void setPattern(const QString& pattern);
    const Item& at(int row) const { return items_[static_cast<std::size_t>(rows_[static_cast<std::size_t>(row)])]; }
    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    std::vector<Item> items_;
    std::vector<int> rows_;
};

/// Of a pattern every word of which begins a word of the title, the group or the detail; else 0.
int wordsScore(const QString& pattern, const PaletteEntry& entry);

class PaletteDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    static constexpr int height = 32;
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace orrery::ui
