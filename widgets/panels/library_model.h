#pragma once

#include "hardware/catalogue.h"
#include "methods/method.h"

#include <QAbstractListModel>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>

#include <span>
#include <vector>

namespace orrery::ui {

struct LibraryItem {
    enum Kind { Device, Model, Method } kind = Device;
    QString id, title, group, detail, tip;
    QString words = {};  ///< more to find it by
};

/// Everything that the library lists. Methods are checkable.
class LibraryModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role { IdRole = Qt::UserRole, GroupRole, DetailRole, KindRole, FirstRole };
    using QAbstractListModel::QAbstractListModel;
    void replace(LibraryItem::Kind kind, std::vector<LibraryItem> items);
    void setDetail(const QString& id, const QString& detail);  ///< of a device
    void setChecked(const QStringList& methods);
    const LibraryItem& at(int row) const { return items_[static_cast<std::size_t>(row)]; }

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QStringList mimeTypes() const override;
    QMimeData* mimeData(const QModelIndexList& indexes) const override;
    Qt::DropActions supportedDragActions() const override { return Qt::CopyAction; }

signals:
    void toggled(const QString& id, bool on);

private:
    std::vector<LibraryItem> items_;
    QStringList checked_;
};

/// One kind at a time, all words of the search.
class LibraryFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void set(LibraryItem::Kind kind, const QString& words);
    QVariant data(const QModelIndex& index, int role) const override;  ///< FirstRole: first of its group as filtered

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    LibraryItem::Kind kind_ = LibraryItem::Device;
    QStringList words_;
};

/// Two lines: title and key numbers; the group's name above its first row; a box before methods.
class LibraryDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                     const QModelIndex& index) override;
    QRect checkBox(const QRect& row, const QModelIndex& index) const;
};

}  // namespace orrery::ui
