#include "widgets/tree/component_tree_model.h"

#include "hardware/check/validate.h"
#include "hardware/files/hardware_yaml.h"
#include "hardware/walk.h"
#include "widgets/common/component_text.h"
#include "widgets/common/glyphs.h"
#include "widgets/common/text.h"
#include "widgets/library/component_palette_model.h"
#include "widgets/messages/identity_checks.h"
#include "widgets/tree/component_tree.h"

#include <QDataStream>
#include <QMimeData>

#include <algorithm>

namespace orrery::ui {

/// Shape only: indices must stay valid while snapshots are replaced.
struct ComponentTreeModel::Node {
    Node* parent = nullptr;
    int row = 0;
    std::vector<std::unique_ptr<Node>> rows;

    static std::unique_ptr<Node> of(const Component& component, Node* parent, int row) {
        auto node = std::make_unique<Node>();
        node->parent = parent;
        node->row = row;
        for (const Component& part : partsIn(component))
            node->rows.push_back(of(part, node.get(), static_cast<int>(node->rows.size())));
        return node;
    }
    bool fits(const Component& component) const {
        return std::ranges::equal(
            rows, partsIn(component),
            [](const std::unique_ptr<Node>& node, const Component& part) { return node->fits(part); });
    }
};

ComponentTreeModel::ComponentTreeModel(QObject* parent) : QAbstractItemModel(parent) {}
ComponentTreeModel::~ComponentTreeModel() = default;

void ComponentTreeModel::setHardware(HardwarePtr hardware) {
    if (hardware == hardware_) return;
    if (hardware && hardware_ && root_->fits(hardware->root)) {
        hardware_ = std::move(hardware);
        announce({});
        return;
    }
    beginResetModel();
    hardware_ = std::move(hardware);
    root_ = hardware_ ? Node::of(hardware_->root, nullptr, 0) : nullptr;
    endResetModel();
}

/// Rows change little at a time, but finding which costs as much as repainting what is visible.
void ComponentTreeModel::announce(const QModelIndex& above, const QList<int>& roles) {
    const int rows = rowCount(above);
    if (rows == 0) return;
    emit dataChanged(index(0, 0, above), index(rows - 1, ColumnCount - 1, above), roles);
    for (int row = 0; row < rows; ++row) announce(index(row, 0, above), roles);
}

void ComponentTreeModel::setProblems(const Diagnostics& problems) {
    if (problems == problems_) return;
    problems_ = problems;
    marks_.clear();
    for (const Diagnostic& problem : problems_) {
        std::string at = problem.place.path;
        const auto slash = at.rfind('/');
        if (const auto dot = at.find('.', slash == std::string::npos ? 0 : slash); dot != std::string::npos)
            at.resize(dot);
        if (at.empty()) continue;
        const int severity = static_cast<int>(problem.severity);
        Marks& own = marks_[at];
        own.own = std::max(own.own, severity);
        own.messages << windowText(problem.message);
        for (auto up = at.rfind('/'); up != std::string::npos && up > 0; up = at.rfind('/', up - 1)) {
            Marks& above = marks_[at.substr(0, up)];
            above.inside = std::max(above.inside, severity);
        }
    }
    if (hardware_) announce({}, {ProblemRole, InsideRole, Qt::ToolTipRole});
}

const ComponentTreeModel::Marks* ComponentTreeModel::marks(const QModelIndex& index) const {
    if (marks_.empty() || !hardware_) return nullptr;
    const auto found = marks_.find(pathText(hardware_->root, path(index)));
    return found == marks_.end() ? nullptr : &found->second;
}

std::optional<Diagnostic> ComponentTreeModel::nameRefusal(const ComponentPath& path, const QString& name) const {
    const std::string wanted = name.trimmed().toStdString();
    const auto refuse = [](std::string message, std::string hint) {
        return Diagnostic{Severity::Error, "hardware.name", std::move(message), {}, std::move(hint), {}};
    };
    if (wanted.empty())
        return refuse(tr("A component needs a name").toStdString(), tr("Esc keeps the one it has").toStdString());
    if (auto refused = checkName(name)) return refused;
    if (path.empty() || !hardware_) return std::nullopt;
    const ComponentPath above(path.begin(), path.end() - 1);
    const Component* parent = componentAt(hardware_->root, above);
    const auto siblings = parent ? partsIn(*parent) : std::span<const Component>();
    for (std::size_t i = 0; i < siblings.size(); ++i)
        if (static_cast<int>(i) != path.back() && siblings[i].name == wanted)
            return refuse(tr("A sibling is already called %1").arg(qs(wanted)).toStdString(),
                          tr("%1 is free").arg(qs(freeChildName(*parent, wanted))).toStdString());
    return std::nullopt;
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
        if (step < 0 || static_cast<std::size_t>(step) >= node->rows.size()) return {};
        node = node->rows[static_cast<std::size_t>(step)].get();
    }
    return createIndex(node->row, 0, node);
}

QModelIndex ComponentTreeModel::index(int row, int column, const QModelIndex& parent) const {
    if (!hasIndex(row, column, parent)) return {};
    if (!parent.isValid()) return createIndex(row, column, root_.get());
    const auto* node = static_cast<const Node*>(parent.internalPointer());
    return createIndex(row, column, node->rows[static_cast<std::size_t>(row)].get());
}

QModelIndex ComponentTreeModel::parent(const QModelIndex& child) const {
    if (!child.isValid()) return {};
    Node* above = static_cast<const Node*>(child.internalPointer())->parent;
    return above ? createIndex(above->row, 0, above) : QModelIndex();
}

int ComponentTreeModel::rowCount(const QModelIndex& parent) const {
    if (!root_ || parent.column() > 0) return 0;
    if (!parent.isValid()) return 1;
    return static_cast<int>(static_cast<const Node*>(parent.internalPointer())->rows.size());
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
        case Qt::EditRole:
            return index.column() == Name ? QVariant(qs(shown->name)) : QVariant();
        case Qt::AccessibleTextRole:
            if (index.column() != Name) return {};
            if (const Marks* marked = marks(index); marked && marked->own >= 0)
                return tr("%1, %2, has problems").arg(qs(nameOf(*shown)), qs(label(shown->kind)));
            return tr("%1, %2").arg(qs(nameOf(*shown)), qs(label(shown->kind)));
        case Qt::ToolTipRole: {
            QStringList lines{qs(label(shown->kind)), qs(pathText(hardware_->root, path(index)))};
            if (const QString numbers = keyNumbers(*shown); !numbers.isEmpty()) lines << numbers;
            if (const Marks* marked = marks(index)) {
                lines << marked->messages.mid(0, 6);
                if (marked->own < 0) lines << tr("Something inside has a problem");
            }
            return lines.join(QLatin1Char('\n'));
        }
        case ProblemRole:
        case InsideRole: {
            const Marks* marked = marks(index);
            return !marked ? -1 : role == ProblemRole ? marked->own : marked->inside;
        }
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

bool ComponentTreeModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    const Component* shown = component(index);
    if (role != Qt::EditRole || !shown || index.column() != Name) return false;
    const QString name = value.toString().trimmed();
    if (name.toStdString() == shown->name) return true;
    if (nameRefusal(path(index), name)) return false;
    emit nameEntered(path(index), name);
    return true;
}

Qt::ItemFlags ComponentTreeModel::flags(const QModelIndex& index) const {
    const Component* shown = component(index);
    if (!shown) return Qt::NoItemFlags;
    Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable;
    if (index.column() == Name) flags |= Qt::ItemIsEditable;
    if (index.parent().isValid()) flags |= Qt::ItemIsDragEnabled;
    for (int kind = 0; kind < componentKindCount; ++kind)
        if (mayContain(shown->kind, static_cast<ComponentKind>(kind))) return flags | Qt::ItemIsDropEnabled;
    return flags;
}

QStringList ComponentTreeModel::mimeTypes() const {
    return {QLatin1String(componentPathsMimeType), QLatin1String(componentMimeType),
            QStringLiteral("application/x-orrery-hardware")};
}

QMimeData* ComponentTreeModel::mimeData(const QModelIndexList& indexes) const {
    QList<QList<int>> paths;
    const Component* only = nullptr;
    for (const QModelIndex& index : indexes) {
        if (index.column() != Name || !index.parent().isValid()) continue;
        const ComponentPath path = this->path(index);
        paths << QList<int>(path.begin(), path.end());
        only = component(index);
    }
    if (paths.isEmpty()) return nullptr;
    auto* data = new QMimeData;
    QByteArray packed;
    QDataStream(&packed, QIODevice::WriteOnly) << reinterpret_cast<quintptr>(this) << paths;
    data->setData(QLatin1String(componentPathsMimeType), packed);
    if (paths.size() == 1) {
        const QByteArray yaml = QByteArray::fromStdString(writeComponent(*only));
        data->setData(QLatin1String(componentMimeType), yaml);
        data->setText(QString::fromUtf8(yaml));
    }
    return data;
}

namespace {

/// The paths of a drag that began in this very tree; empty for others.
ComponentPaths pathsOf(const QMimeData* data, const QObject* tree) {
    if (!data->hasFormat(QLatin1String(componentPathsMimeType))) return {};
    quintptr source = 0;
    QList<QList<int>> packed;
    QDataStream(data->data(QLatin1String(componentPathsMimeType))) >> source >> packed;
    if (source != reinterpret_cast<quintptr>(tree)) return {};
    ComponentPaths paths;
    for (const QList<int>& path : packed) paths.emplace_back(path.begin(), path.end());
    return paths;
}

bool isInside(const ComponentPath& path, const ComponentPath& container) {
    return path.size() >= container.size() && std::equal(container.begin(), container.end(), path.begin());
}

}  // namespace

bool ComponentTreeModel::canDropMimeData(const QMimeData* data, Qt::DropAction action, int, int,
                                         const QModelIndex& parent) const {
    const Component* into = component(parent);
    if (!into || !data) return false;
    const ComponentPath target = path(parent);
    if (const ComponentPaths paths = pathsOf(data, this); !paths.empty() && action != Qt::CopyAction)
        return std::all_of(paths.begin(), paths.end(), [&](const ComponentPath& moved) {
            const Component* one = componentAt(hardware_->root, moved);
            return one && mayContain(into->kind, one->kind) && !isInside(target, moved);
        });
    if (data->hasFormat(QLatin1String(componentMimeType))) {
        const auto read = readComponent(data->data(QLatin1String(componentMimeType)).toStdString());
        return read && mayContain(into->kind, read->kind);
    }
    return data->hasFormat(QStringLiteral("application/x-orrery-hardware")) &&
           (mayContain(into->kind, ComponentKind::Package) || mayContain(into->kind, ComponentKind::Die));
}

/// The owner answers after the drag is over: its new snapshot may reset this model, which a running drag still reads.
bool ComponentTreeModel::dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                                      const QModelIndex& parent) {
    if (!canDropMimeData(data, action, row, column, parent)) return false;
    const ComponentPath target = path(parent);
    const auto later = [this](auto tell) { QMetaObject::invokeMethod(this, tell, Qt::QueuedConnection); };
    if (const ComponentPaths paths = pathsOf(data, this); !paths.empty() && action != Qt::CopyAction) {
        later([=, this] { emit moveDropped(paths, target, row); });
    } else if (data->hasFormat(QLatin1String(componentMimeType))) {
        auto read = readComponent(data->data(QLatin1String(componentMimeType)).toStdString());
        later([=, this] { emit componentDropped(*read, target, row); });
    } else {
        const QString id = QString::fromUtf8(data->data(QStringLiteral("application/x-orrery-hardware")));
        later([=, this] { emit deviceDropped(id, target, row); });
    }
    return true;
}

QVariant ComponentTreeModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    return section == Name ? tr("Component") : tr("Numbers");
}

}  // namespace orrery::ui
