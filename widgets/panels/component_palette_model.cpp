#include "widgets/panels/component_palette_model.h"

#include "hardware/hardware_yaml.h"
#include "widgets/panels/glyphs.h"
#include "widgets/panels/shape_glyphs.h"

#include <QMimeData>
#include <QPainter>

#include <algorithm>

namespace orrery::ui {
namespace {

/// Heights follow the type, which a projector's layout enlarges.
int lineOf(FontRole role) {
    return QFontMetrics(Theme::instance().font(role)).height();
}
int rowHeight() {
    return lineOf(FontRole::Body) + lineOf(FontRole::Small) + 10;
}
int groupHeight() {
    return lineOf(FontRole::Small) + 14;
}

}  // namespace

ComponentPaletteModel::ComponentPaletteModel(QObject* parent)
    : QAbstractListModel(parent), items_(componentPaletteItems()) {}

int ComponentPaletteModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(items_.size());
}

QVariant ComponentPaletteModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const PaletteItem& item = at(index.row());
    switch (role) {
        case Qt::DisplayRole:
            return item.name;
        case Qt::AccessibleTextRole:
            return item.name + QStringLiteral(", ") + item.group + QStringLiteral(": ") + item.meaning;
        case Qt::ToolTipRole:
            return tr("%1\n%2\nClick or Enter places it; or drag it to where it belongs").arg(item.name, item.meaning);
        case IdRole:
            return item.id;
        case GroupRole:
            return item.group;
        case MeaningRole:
            return item.meaning;
        case KindRole:
            return static_cast<int>(item.component.kind);
        case ShapeRole:
            return item.shape;
        default:
            return {};
    }
}

Qt::ItemFlags ComponentPaletteModel::flags(const QModelIndex& index) const {
    if (!index.isValid()) return Qt::NoItemFlags;
    return Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemNeverHasChildren | Qt::ItemIsDragEnabled;
}

QStringList ComponentPaletteModel::mimeTypes() const {
    return {QLatin1String(componentMimeType), QStringLiteral("text/plain")};
}

QMimeData* ComponentPaletteModel::mimeData(const QModelIndexList& indexes) const {
    if (indexes.isEmpty()) return nullptr;
    const QByteArray yaml = QByteArray::fromStdString(writeComponent(at(indexes.front().row()).component));
    auto* data = new QMimeData;
    data->setData(QLatin1String(componentMimeType), yaml);
    data->setText(QString::fromUtf8(yaml));
    return data;
}

void ComponentPaletteFilter::setWords(const QString& words) {
    words_ = words.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

bool ComponentPaletteFilter::filterAcceptsRow(int row, const QModelIndex&) const {
    const PaletteItem& item = static_cast<const ComponentPaletteModel*>(sourceModel())->at(row);
    const QString hay = QStringList{item.name, item.group, item.meaning, item.words}.join(QLatin1Char('\n'));
    return std::all_of(words_.begin(), words_.end(),
                       [&hay](const QString& word) { return hay.contains(word, Qt::CaseInsensitive); });
}

QVariant ComponentPaletteFilter::data(const QModelIndex& index, int role) const {
    if (role != ComponentPaletteModel::FirstRole) return QSortFilterProxyModel::data(index, role);
    return index.row() == 0 || index.data(ComponentPaletteModel::GroupRole) !=
                                   index.siblingAtRow(index.row() - 1).data(ComponentPaletteModel::GroupRole);
}

QSize ComponentPaletteDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const {
    return {120, rowHeight() + (index.data(ComponentPaletteModel::FirstRole).toBool() ? groupHeight() : 0)};
}

void ComponentPaletteDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                                     const QModelIndex& index) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    QRect row = option.rect;
    if (index.data(ComponentPaletteModel::FirstRole).toBool()) {
        QFont font = theme.font(FontRole::Small);
        font.setWeight(QFont::DemiBold);
        painter->setFont(font);
        painter->setPen(colours.mutedText);
        painter->drawText(QRect(row.left() + 12, row.top() + 8, row.width() - 20, groupHeight() - 8),
                          Qt::AlignTop | Qt::AlignLeft, index.data(ComponentPaletteModel::GroupRole).toString());
        row.setTop(row.top() + groupHeight());
    }
    if (option.state & (QStyle::State_Selected | QStyle::State_MouseOver)) {
        QColor fill = colours.selection;
        if (!(option.state & QStyle::State_Selected)) fill.setAlpha(fill.alpha() / 2);
        painter->setPen(Qt::NoPen);
        painter->setBrush(fill);
        painter->drawRoundedRect(row.adjusted(4, 1, -4, -1), 4, 4);
    }
    const double side = 20 * theme.scale();
    const QRectF square(row.left() + 14, row.center().y() - side / 2 + 0.5, side, side);
    if (const QString shape = index.data(ComponentPaletteModel::ShapeRole).toString(); !shape.isEmpty())
        paintShapeGlyph(*painter, shape, square, colours.text);
    else
        paintGlyph(*painter, static_cast<ComponentKind>(index.data(ComponentPaletteModel::KindRole).toInt()), square,
                   colours.text);
    const int left = static_cast<int>(square.right()) + 12;
    const int width = row.right() - left - 8;
    const auto line = [&](FontRole role, const QColor& ink, int top, const QString& text) {
        painter->setFont(theme.font(role));
        painter->setPen(ink);
        painter->drawText(QRect(left, top, width, lineOf(role)), Qt::AlignVCenter | Qt::TextSingleLine,
                          painter->fontMetrics().elidedText(text, Qt::ElideRight, width));
    };
    line(FontRole::Body, colours.text, row.top() + 5, index.data().toString());
    line(FontRole::Small, colours.mutedText, row.top() + 5 + lineOf(FontRole::Body),
         index.data(ComponentPaletteModel::MeaningRole).toString());
    painter->restore();
}

}  // namespace orrery::ui
