#include "widgets/common/text.h"
#include "widgets/panels/component_tree.h"
#include "widgets/panels/glyphs.h"

#include <array>

namespace orrery::ui {

/// Shape only: indices must stay valid while snapshots are replaced.
struct ComponentTreeModel::Node {
    Node* parent = nullptr;
    int row = 0;
    std::vector<std::unique_ptr<Node>> children;

    static std::unique_ptr<Node> of(const Component& component, Node* parent, int row) {
        auto node = std::make_unique<Node>();
        node->parent = parent;
        node->row = row;
        for (std::size_t i = 0; i < component.children.size(); ++i)
            node->children.push_back(of(component.children[i], node.get(), static_cast<int>(i)));
        return node;
    }
    bool fits(const Component& component) const {
        if (component.children.size() != children.size()) return false;
        for (std::size_t i = 0; i < children.size(); ++i)
            if (!children[i]->fits(component.children[i])) return false;
        return true;
    }
};

ComponentTreeModel::ComponentTreeModel(QObject* parent) : QAbstractItemModel(parent) {}
ComponentTreeModel::~ComponentTreeModel() = default;

void ComponentTreeModel::setHardware(HardwarePtr hardware) {
    if (hardware == hardware_) return;
    if (hardware && hardware_ && root_->fits(hardware->root)) {
        hardware_ = std::move(hardware);
        // Rows change little at a time, but finding which costs as much as repainting what is visible.
        const std::function<void(const QModelIndex&)> announce = [&](const QModelIndex& above) {
            const int rows = rowCount(above);
            if (rows == 0) return;
            emit dataChanged(index(0, 0, above), index(rows - 1, ColumnCount - 1, above));
            for (int row = 0; row < rows; ++row) announce(index(row, 0, above));
        };
        announce({});
        return;
    }
    beginResetModel();
    hardware_ = std::move(hardware);
    root_ = hardware_ ? Node::of(hardware_->root, nullptr, 0) : nullptr;
    endResetModel();
}

ComponentPath ComponentTreeModel::path(const QModelIndex& index) const {
    ComponentPath path;
    for (const auto* node = static_cast<const Node*>(index.internalPointer()); node && node->parent;
         node = node->parent)
        path.insert(path.begin(), node->row);
    return path;
}

QModelIndex ComponentTreeModel::index(const ComponentPath& path) const {
    Node* node = root_.get();
    if (!node) return {};
    for (const int step : path) {
        if (step < 0 || static_cast<std::size_t>(step) >= node->children.size()) return {};
        node = node->children[static_cast<std::size_t>(step)].get();
    }
    return createIndex(node->row, 0, node);
}

QModelIndex ComponentTreeModel::index(int row, int column, const QModelIndex& parent) const {
    if (!hasIndex(row, column, parent)) return {};
    if (!parent.isValid()) return createIndex(row, column, root_.get());
    const auto* node = static_cast<const Node*>(parent.internalPointer());
    return createIndex(row, column, node->children[static_cast<std::size_t>(row)].get());
}

QModelIndex ComponentTreeModel::parent(const QModelIndex& child) const {
    if (!child.isValid()) return {};
    Node* above = static_cast<const Node*>(child.internalPointer())->parent;
    return above ? createIndex(above->row, 0, above) : QModelIndex();
}

int ComponentTreeModel::rowCount(const QModelIndex& parent) const {
    if (!root_ || parent.column() > 0) return 0;
    if (!parent.isValid()) return 1;
    return static_cast<int>(static_cast<const Node*>(parent.internalPointer())->children.size());
}

int ComponentTreeModel::columnCount(const QModelIndex&) const {
    return ColumnCount;
}

const Component* ComponentTreeModel::component(const QModelIndex& index) const {
    return hardware_ && index.isValid() ? componentAt(hardware_->root, path(index)) : nullptr;
}

QVariant ComponentTreeModel::data(const QModelIndex& index, int role) const {
    const Component* shown = component(index);
    if (!shown) return {};
    switch (role) {
        case Qt::DisplayRole:
            return index.column() == Name ? qs(nameOf(*shown)) : keyNumbers(*shown);
        case Qt::DecorationRole:
            if (index.column() == Name) return glyph(shown->kind);
            return {};
        case Qt::ToolTipRole:
            return QStringLiteral("%1\n%2\n%3")
                .arg(qs(label(shown->kind)), qs(pathText(hardware_->root, path(index))), keyNumbers(*shown));
        case PathTextRole:
            return qs(pathText(hardware_->root, path(index)));
        case KindRole:
            return static_cast<int>(shown->kind);
        case CountRole:
            return static_cast<qlonglong>(shown->instances());
        default:
            return {};
    }
}

QVariant ComponentTreeModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    return section == Name ? tr("Component") : tr("Numbers");
}

QString keyNumbers(const Component& component) {
    QStringList parts;
    const auto add = [&](std::string_view name, Dimension dimension) {
        if (parts.size() >= 3) return;
        const Attribute* attribute = component.find(name);
        if (const auto* measure = attribute ? std::get_if<Measure>(&attribute->value) : nullptr)
            parts << measureText(*measure, dimension);
    };
    add("capacity", Dimension::Data);
    add("bandwidth", Dimension::DataRate);
    if (component.kind != ComponentKind::System && component.kind != ComponentKind::Node)
        add("clock", Dimension::Frequency);
    for (const Attribute& attribute : component.attributes) {
        const auto* rows = std::get_if<std::vector<TableRow>>(&attribute.value);
        if (!rows || rows->empty() || parts.size() >= 3) continue;
        parts << qs(rows->front().key) + QLatin1Char(' ') + qs(rows->front().value.spelling);
    }
    return parts.join(QStringLiteral(" · "));
}

}  // namespace orrery::ui
