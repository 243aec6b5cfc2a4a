#pragma once

#include "hardware/edit/tree_edit.h"
#include "methods/method.h"

#include <QAbstractItemModel>

#include <memory>
#include <unordered_map>

namespace orrery::ui {

inline constexpr auto componentPathsMimeType = "application/x-orrery-component-paths";

/// The tree of a design. A new snapshot of the same shape changes data only, so that expansion and selection survive.
/// It never changes the design: a new name and a drop become signals.
class ComponentTreeModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { Name, Numbers, ColumnCount };
    /// ProblemRole: severity of the component's worst problem, InsideRole: of the worst inside it; -1 for none.
    enum Role { PathTextRole = Qt::UserRole, KindRole, CountRole, ProblemRole, InsideRole };

    explicit ComponentTreeModel(QObject* parent = nullptr);
    ~ComponentTreeModel() override;
    void setHardware(HardwarePtr hardware);
    void setProblems(const Diagnostics& problems);
    const HardwarePtr& hardware() const { return hardware_; }
    ComponentPath path(const QModelIndex& index) const;
    QModelIndex index(const ComponentPath& path) const;
    /// Why the component cannot be called that; nothing if it can.
    std::optional<Diagnostic> nameRefusal(const ComponentPath& path, const QString& name) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;  ///< emits nameEntered
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::DropActions supportedDragActions() const override { return Qt::MoveAction | Qt::CopyAction; }
    Qt::DropActions supportedDropActions() const override { return Qt::MoveAction | Qt::CopyAction; }
    QStringList mimeTypes() const override;
    QMimeData* mimeData(const QModelIndexList& indexes) const override;
    bool canDropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                         const QModelIndex& parent) const override;
    bool dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                      const QModelIndex& parent) override;

signals:
    void nameEntered(const orrery::ComponentPath& path, const QString& name);
    void moveDropped(const orrery::ComponentPaths& paths, const orrery::ComponentPath& parent, int index);
    void componentDropped(const orrery::Component& component, const orrery::ComponentPath& parent, int index);
    void deviceDropped(const QString& id, const orrery::ComponentPath& parent, int index);

private:
    struct Node;
    struct Marks {
        int own = -1, inside = -1;
        QStringList messages;
    };
    const Component* component(const QModelIndex& index) const;
    const Marks* marks(const QModelIndex& index) const;
    void announce(const QModelIndex& above, const QList<int>& roles = {});

    HardwarePtr hardware_;
    std::unique_ptr<Node> root_;
    Diagnostics problems_;
    std::unordered_map<std::string, Marks> marks_;  ///< by path text
};

}  // namespace orrery::ui
