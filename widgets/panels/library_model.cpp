#include "widgets/panels/library_model.h"

#include "widgets/common/theme.h"

#include <QMimeData>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

namespace orrery::ui {
namespace {
/// Heights follow the type, which a projector's layout enlarges.
int lineOf(FontRole role) {
    return QFontMetrics(Theme::instance().font(role)).height();
}
int rowHeight() {
    return lineOf(FontRole::Body) + lineOf(FontRole::Small) + 12;
}
int groupHeight() {
    return lineOf(FontRole::Small) + 12;
}
}  // namespace

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

void LibraryFilter::set(LibraryItem::Kind kind, const QString& words) {
    kind_ = kind;
    words_ = words.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

bool LibraryFilter::filterAcceptsRow(int row, const QModelIndex&) const {
    const LibraryItem& item = static_cast<const LibraryModel*>(sourceModel())->at(row);
    if (item.kind != kind_) return false;
    const QString hay = item.title + QLatin1Char('\n') + item.group + QLatin1Char('\n') + item.detail +
                        QLatin1Char('\n') + item.id + QLatin1Char('\n') + item.words;
    return std::all_of(words_.begin(), words_.end(),
                       [&hay](const QString& word) { return hay.contains(word, Qt::CaseInsensitive); });
}

QVariant LibraryFilter::data(const QModelIndex& index, int role) const {
    if (role != LibraryModel::FirstRole) return QSortFilterProxyModel::data(index, role);
    return index.row() == 0 ||
           index.data(LibraryModel::GroupRole) != index.siblingAtRow(index.row() - 1).data(LibraryModel::GroupRole);
}

QSize LibraryDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const {
    return {120, rowHeight() + (index.data(LibraryModel::FirstRole).toBool() ? groupHeight() : 0)};
}

QRect LibraryDelegate::checkBox(const QRect& row, const QModelIndex& index) const {
    if (index.data(Qt::CheckStateRole).isNull()) return {};
    const int top = row.bottom() - rowHeight() + 1;
    return {row.left() + 10, top + (rowHeight() - 16) / 2, 16, 16};
}

void LibraryDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    QRect row = option.rect;
    if (index.data(LibraryModel::FirstRole).toBool()) {
        QFont font = theme.font(FontRole::Small);
        font.setWeight(QFont::DemiBold);
        painter->setFont(font);
        painter->setPen(colours.mutedText);
        painter->drawText(row.adjusted(12, 8, -8, 0), Qt::AlignTop | Qt::AlignLeft,
                          index.data(LibraryModel::GroupRole).toString());
        row.setTop(row.top() + groupHeight());
    }
    if (option.state & (QStyle::State_Selected | QStyle::State_MouseOver)) {
        QColor fill = colours.selection;
        if (!(option.state & QStyle::State_Selected)) fill.setAlpha(fill.alpha() / 2);
        painter->setPen(Qt::NoPen);
        painter->setBrush(fill);
        painter->drawRoundedRect(row.adjusted(4, 1, -4, -1), 4, 4);
    }
    int left = row.left() + 12;
    if (const QRect box = checkBox(option.rect, index); box.isValid()) {
        const bool on = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
        painter->setPen(QPen(on ? colours.accent : colours.mutedText, 1.2));
        painter->setBrush(on ? colours.accent : QColor(Qt::transparent));
        painter->drawRoundedRect(QRectF(box).adjusted(1, 1, -1, -1), 3, 3);
        if (on) {
            painter->setPen(QPen(colours.accentText, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
            const QPointF at = box.topLeft();
            painter->drawPolyline(QPolygonF({at + QPointF(4.5, 8.5), at + QPointF(7, 11), at + QPointF(11.5, 5.5)}));
        }
        left = box.right() + 10;
    }
    const int width = row.right() - left - 8;
    painter->setFont(theme.font(FontRole::Body));
    painter->setPen(colours.text);
    painter->drawText(QRect(left, row.top() + 5, width, lineOf(FontRole::Body)), Qt::AlignVCenter | Qt::TextSingleLine,
                      painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, width));
    painter->setFont(theme.font(FontRole::Small));
    painter->setPen(colours.mutedText);
    painter->drawText(
        QRect(left, row.top() + 5 + lineOf(FontRole::Body), width, lineOf(FontRole::Small)),
        Qt::AlignVCenter | Qt::TextSingleLine,
        painter->fontMetrics().elidedText(index.data(LibraryModel::DetailRole).toString(), Qt::ElideRight, width));
    painter->restore();
}

bool LibraryDelegate::editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                                  const QModelIndex& index) {
    if (event->type() != QEvent::MouseButtonRelease) return false;
    const auto* mouse = static_cast<QMouseEvent*>(event);
    const QRect box = checkBox(option.rect, index);
    if (!box.isValid() || !box.adjusted(-6, -6, 6, 6).contains(mouse->position().toPoint())) return false;
    const bool on = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
    return model->setData(index, on ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
}

}  // namespace orrery::ui
