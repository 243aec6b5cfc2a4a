#include "widgets/library/library_model.h"

#include "widgets/common/theme.h"

#include <QMimeData>
#include <QMouseEvent>
#include <QPainter>

namespace orrery::ui {

void LibraryModel::replace(LibraryItem::Kind kind, std::vector<LibraryItem> items) {
    beginResetModel();
    std::erase_if(items_, [kind](const LibraryItem& item) { return item.kind == kind; });
    items_.insert(items_.end(), std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
    endResetModel();
}

void LibraryModel::setDetail(const QString& id, const QString& detail) {
    for (std::size_t row = 0; row < items_.size(); ++row) {
        LibraryItem& item = items_[row];
        if (item.kind != LibraryItem::Device || item.id != id || item.detail == detail) continue;
        item.detail = detail;
        const QModelIndex at = index(static_cast<int>(row));
        emit dataChanged(at, at, {DetailRole, Qt::AccessibleTextRole});
    }
}

void LibraryModel::setChecked(const QStringList& methods) {
    if (methods == checked_) return;
    checked_ = methods;
    if (!items_.empty()) emit dataChanged(index(0), index(rowCount() - 1), {Qt::CheckStateRole});
}

int LibraryModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(items_.size());
}

QVariant LibraryModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const LibraryItem& item = at(index.row());
    switch (role) {
        case Qt::DisplayRole:
            return item.title;
        case Qt::AccessibleTextRole:
            return item.title + QStringLiteral(", ") + item.detail;
        case Qt::ToolTipRole:
            return item.kind == LibraryItem::Method ? QVariant() : item.tip;  // methods have their card
        case Qt::CheckStateRole:
            if (item.kind == LibraryItem::Method) return checked_.contains(item.id) ? Qt::Checked : Qt::Unchecked;
            return {};
        case IdRole:
            return item.id;
        case GroupRole:
            return item.group;
        case DetailRole:
            return item.detail;
        case KindRole:
            return item.kind;
        case WordsRole:
            return QStringList{item.title, item.group, item.detail, item.id, item.words}.join(QLatin1Char('\n'));
        default:
            return {};
    }
}

bool LibraryModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::CheckStateRole || !index.isValid() || at(index.row()).kind != LibraryItem::Method) return false;
    const bool on = value.toInt() == Qt::Checked;
    const QString id = at(index.row()).id;
    if (on == checked_.contains(id)) return true;
    if (on)
        checked_ << id;
    else
        checked_.removeAll(id);
    emit dataChanged(index, index, {Qt::CheckStateRole});
    emit toggled(id, on);
    return true;
}

Qt::ItemFlags LibraryModel::flags(const QModelIndex& index) const {
    if (!index.isValid()) return Qt::NoItemFlags;
    const Qt::ItemFlags basic = Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemNeverHasChildren;
    return at(index.row()).kind == LibraryItem::Method ? basic | Qt::ItemIsUserCheckable
                                                       : basic | Qt::ItemIsDragEnabled;
}

QStringList LibraryModel::mimeTypes() const {
    return {QStringLiteral("application/x-orrery-hardware"), QStringLiteral("application/x-orrery-workload")};
}

QMimeData* LibraryModel::mimeData(const QModelIndexList& indexes) const {
    if (indexes.isEmpty()) return nullptr;
    const LibraryItem& item = at(indexes.front().row());
    auto* data = new QMimeData;
    data->setData(item.kind == LibraryItem::Device ? mimeTypes().front() : mimeTypes().back(), item.id.toUtf8());
    data->setText(item.title);
    return data;
}

QRect LibraryDelegate::checkBox(const QRect& row, const QModelIndex& index) {
    if (index.data(Qt::CheckStateRole).isNull()) return {};
    return {row.left() + 10, row.top() + (row.height() - 16) / 2, 16, 16};
}

int LibraryDelegate::paintMark(QPainter* painter, const QRect& row, const QModelIndex& index) const {
    const QRect box = checkBox(row, index);
    if (!box.isValid()) return CardDelegate::paintMark(painter, row, index);
    const Palette& colours = Theme::instance().colours();
    const bool on = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
    painter->setPen(QPen(on ? colours.accent : colours.mutedText, 1.2));
    painter->setBrush(on ? colours.accent : QColor(Qt::transparent));
    painter->drawRoundedRect(QRectF(box).adjusted(1, 1, -1, -1), 3, 3);
    if (on) {
        painter->setPen(QPen(colours.accentText, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        const QPointF at = box.topLeft();
        painter->drawPolyline(QPolygonF({at + QPointF(4.5, 8.5), at + QPointF(7, 11), at + QPointF(11.5, 5.5)}));
    }
    return box.right() + 10;
}

bool LibraryDelegate::editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                                  const QModelIndex& index) {
    if (event->type() != QEvent::MouseButtonRelease) return false;
    const auto* mouse = static_cast<QMouseEvent*>(event);
    const QRect box = checkBox(rowOf(option.rect), index);
    if (!box.isValid() || !box.adjusted(-6, -6, 6, 6).contains(mouse->position().toPoint())) return false;
    const bool on = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
    return model->setData(index, on ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
}

}  // namespace orrery::ui
