#include "widgets/library/component_palette_model.h"

#include "hardware/files/hardware_yaml.h"
#include "widgets/common/glyphs.h"
#include "widgets/library/shape_glyphs.h"

#include <QMimeData>
#include <QPainter>

namespace orrery::ui {

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
            return tr("%1\n%2\nClick or press Enter to place it; or drag it to its place").arg(item.name, item.meaning);
        case IdRole:
            return item.id;
        case GroupRole:
            return item.group;
        case DetailRole:
            return item.meaning;
        case WordsRole:
            return QStringList{item.name, item.group, item.meaning, item.words}.join(QLatin1Char('\n'));
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

int ComponentPaletteDelegate::paintMark(QPainter* painter, const QRect& row, const QModelIndex& index) const {
    const Theme& theme = Theme::instance();
    const double side = 20 * theme.scale();
    const QRectF square(row.left() + 14, row.center().y() - side / 2 + 0.5, side, side);
    if (const QString shape = index.data(CardRoles::ShapeRole).toString(); !shape.isEmpty())
        paintShapeGlyph(*painter, shape, square, theme.colours().text);
    else
        paintGlyph(*painter, static_cast<ComponentKind>(index.data(CardRoles::KindRole).toInt()), square,
                   theme.colours().text);
    return static_cast<int>(square.right()) + 12;
}

}  // namespace orrery::ui
