#pragma once

#include "hardware/files/catalogue.h"
#include "methods/method.h"
#include "widgets/library/card_list.h"

#include <QAbstractListModel>

#include <span>
#include <vector>

namespace orrery::ui {

struct LibraryItem {
    enum Kind { Device, Model, Method } kind = Device;
    QString id, title, group, detail, tip;
    QString words = {};  ///< more to find it by
};

/// Everything that the library lists. Methods are checkable.
class LibraryModel : public QAbstractListModel, public CardRoles {
    Q_OBJECT
public:
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

/// A box before methods.
class LibraryDelegate : public CardDelegate {
    Q_OBJECT
public:
    using CardDelegate::CardDelegate;
    bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                     const QModelIndex& index) override;

protected:
    int paintMark(QPainter* painter, const QRect& row, const QModelIndex& index) const override;

private:
    /// Of a row without its group's name; invalid where there is none.
    static QRect checkBox(const QRect& row, const QModelIndex& index);
};

}  // namespace orrery::ui
