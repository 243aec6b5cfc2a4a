#pragma once

#include "widgets/library/card_list.h"
#include "widgets/library/component_palette_items.h"

#include <QAbstractListModel>

namespace orrery::ui {

inline constexpr auto componentMimeType = "application/x-orrery-component";

/// What the palette lists; drags are the component as YAML, for the canvas, the tree and any text editor.
class ComponentPaletteModel : public QAbstractListModel, public CardRoles {
    Q_OBJECT
public:
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

/// A glyph of the kind or the network's shape before name and meaning.
class ComponentPaletteDelegate : public CardDelegate {
    Q_OBJECT
public:
    using CardDelegate::CardDelegate;

protected:
    int paintMark(QPainter* painter, const QRect& row, const QModelIndex& index) const override;
};

}  // namespace orrery::ui
