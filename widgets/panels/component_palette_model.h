#pragma once

#include "widgets/panels/component_palette_items.h"

#include <QAbstractListModel>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>

namespace orrery::ui {

inline constexpr auto componentMimeType = "application/x-orrery-component";

/// What the palette lists; drags are the component as YAML, for the canvas, the tree and any text editor.
class ComponentPaletteModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role { IdRole = Qt::UserRole, GroupRole, MeaningRole, KindRole, ShapeRole, FirstRole };
    explicit ComponentPaletteModel(QObject* parent = nullptr);
    const PaletteItem& at(int row) const { return items_[static_cast<std::size_t>(row)]; }

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QStringList mimeTypes() const override;
    QMimeData* mimeData(const QModelIndexList& indexes) const override;
    Qt::DropActions supportedDragActions() const override { return Qt::CopyAction; }

private:
    std::vector<PaletteItem> items_;
};

/// All words of the filter line.
class ComponentPaletteFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void setWords(const QString& words);
    QVariant data(const QModelIndex& index, int role) const override;  ///< FirstRole: first of its group as filtered

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QStringList words_;
};

/// Glyph, name and meaning; the group's name above its first row.
class ComponentPaletteDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace orrery::ui
