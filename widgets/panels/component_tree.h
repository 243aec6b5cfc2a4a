#pragma once

#include "methods/method.h"

#include <QAbstractItemModel>
#include <QTreeView>

#include <memory>

class QLineEdit;

namespace orrery::ui {

/// The tree of a design. A new snapshot of the same shape changes data only, so that expansion and selection survive.
class ComponentTreeModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { Name, Numbers, ColumnCount };
    enum Role { PathTextRole = Qt::UserRole, KindRole, CountRole };

    explicit ComponentTreeModel(QObject* parent = nullptr);
    ~ComponentTreeModel() override;
    void setHardware(HardwarePtr hardware);
    const HardwarePtr& hardware() const { return hardware_; }
    ComponentPath path(const QModelIndex& index) const;
    QModelIndex index(const ComponentPath& path) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Node;
    const Component* component(const QModelIndex& index) const;

    HardwarePtr hardware_;
    std::unique_ptr<Node> root_;
};

/// `80 GB · 3.35 TB/s`: the numbers by which a component is known, at most three.
QString keyNumbers(const Component& component);

/// Tree with a filter line above and a context menu.
class ComponentTreeView : public QWidget {
    Q_OBJECT
public:
    explicit ComponentTreeView(QWidget* parent = nullptr);
    void setHardware(HardwarePtr hardware);
    void setCurrent(const ComponentPath& path);  ///< emits nothing
    ComponentPath current() const;
    QTreeView* tree() const { return tree_; }
    ComponentTreeModel* model() const { return model_; }

signals:
    void componentSelected(const orrery::ComponentPath& path);
    void componentActivated(const orrery::ComponentPath& path);
    void duplicateRequested(const orrery::ComponentPath& path);
    void deleteRequested(const orrery::ComponentPath& path);
    void renameRequested(const orrery::ComponentPath& path);
    void copyRequested(const orrery::ComponentPath& path);
    void pasteRequested(const orrery::ComponentPath& parent);
    void addRequested(const orrery::ComponentPath& parent, orrery::ComponentKind kind);

private:
    void showMenu(const QPoint& at);

    ComponentTreeModel* model_;
    class TreeFilter* filter_;
    QLineEdit* search_;
    QTreeView* tree_;
    bool quiet_ = false;
};

}  // namespace orrery::ui
