#pragma once

// Lists of cards, each a name with a line under it and a mark before them, and its group's name above the first: what
// the palette and the library share. Roles, filter, painting, and the keys of the search line above the list.

#include <QListView>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>

#include <functional>

class QLineEdit;

namespace orrery::ui {

struct CardRoles {
    enum Role {
        IdRole = Qt::UserRole,
        GroupRole,
        DetailRole,  ///< the line under the name
        KindRole,
        ShapeRole,
        WordsRole,  ///< all that a search looks into
        FirstRole   ///< of the filter: the first of its group as shown
    };
};

/// All words of the search, and one kind if one is asked for. Names that hold the words stand first in their group.
class CardFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void setWords(const QString& words);
    void set(int kind, const QString& words);
    QVariant data(const QModelIndex& index, int role) const override;

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    bool isCalledSo(const QModelIndex& index) const;

    int kind_ = -1;  ///< KindRole; -1: all
    QStringList words_;
};

class CardDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

protected:
    /// Paints what stands before the text of a row (without its group's name); returns where the text begins.
    virtual int paintMark(QPainter* painter, const QRect& row, const QModelIndex& index) const;
    /// The row without its group's name.
    static QRect rowOf(const QRect& rect);
};

/// What is dragged out of it is its name above the pointer: a whole card would cover the place that it goes to.
class CardList : public QListView {
    Q_OBJECT
public:
    explicit CardList(QWidget* parent = nullptr);
    QPixmap dragged(const QModelIndex& index) const;

protected:
    void startDrag(Qt::DropActions actions) override;
};

/// ↓ goes from the search to the list, Enter chooses the current card, Esc clears the search.
void wireCardKeys(QLineEdit* search, QListView* list, std::function<void(const QModelIndex&)> choose);

}  // namespace orrery::ui
