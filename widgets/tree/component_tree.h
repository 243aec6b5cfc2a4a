#pragma once

#include "hardware/edit/tree_edit.h"
#include "widgets/canvas/component_selection.h"
#include "widgets/tree/component_tree_model.h"

#include <QPointer>
#include <QTreeView>

#include <set>

class QLineEdit;
class QMenu;

namespace orrery::ui {

/// The tree of a design with a filter line above. It asks for edits and makes none: rename in place (F2, slow click),
/// drag to move, drops of parts and devices, and a context menu with what the canvas can do.
class ComponentTreeView : public QWidget {
    Q_OBJECT
public:
    /// What is asked of the selected components, by menu or key.
    enum class Action { Cut, Copy, Paste, Duplicate, Ungroup, Link, ReplaceByParts, MoveUp, MoveDown, Delete };
    Q_ENUM(Action)

    explicit ComponentTreeView(QWidget* parent = nullptr);
    void setHardware(HardwarePtr hardware);
    void setProblems(const Diagnostics& problems);
    /// Binds the selected rows to it, both ways; it must outlive the view or be set to null.
    void setSelection(ComponentSelection* selection);
    void setCurrent(const ComponentPath& path);  ///< emits nothing
    ComponentPath current() const;
    ComponentPaths selectedPaths() const;  ///< the current one last
    void editName(const ComponentPath& path);
    QTreeView* tree() const { return tree_; }
    ComponentTreeModel* model() const { return model_; }

signals:
    void componentSelected(const orrery::ComponentPath& path);
    void componentActivated(const orrery::ComponentPath& path);
    /// The menu of one component is about to be shown: more may be added to it.
    void menuFilling(QMenu* menu, const orrery::ComponentPath& path);
    /// A name typed in place, which no sibling has.
    void nameEntered(const orrery::ComponentPath& path, const QString& name);
    void addRequested(const orrery::ComponentPath& parent, orrery::ComponentKind kind);
    /// Of MoveUp and MoveDown, siblings in tree order; of Link, two; of Paste, the one to paste into.
    void actionRequested(orrery::ui::ComponentTreeView::Action action, const orrery::ComponentPaths& paths);
    void groupRequested(const orrery::ComponentPaths& paths, orrery::ComponentKind kind);
    /// Dropped on or between rows; `index` among the children of `parent` as before the move, -1: the end.
    void moveRequested(const orrery::ComponentPaths& paths, const orrery::ComponentPath& parent, int index);
    void componentDropped(const orrery::Component& component, const orrery::ComponentPath& parent, int index);
    void deviceDropped(const QString& id, const orrery::ComponentPath& parent, int index);
    void refused(const orrery::Diagnostic& why);  ///< a name; it is also said where it was typed

    // Of one component, beside actionRequested(): connect these or that one
    void duplicateRequested(const orrery::ComponentPath& path);
    void deleteRequested(const orrery::ComponentPath& path);
    void copyRequested(const orrery::ComponentPath& path);
    void pasteRequested(const orrery::ComponentPath& parent);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void build();
    void wire();
    void showMenu(const QPoint& at);
    void addContainers(QMenu* menu, const ComponentPaths& paths);
    void request(Action action, const ComponentPaths& paths);
    bool canDo(Action action, const ComponentPaths& paths) const;
    bool pressed(class QKeyEvent* key, bool act);
    void expandKept();
    void readSelection();
    void writeSelection();
    QModelIndex viewIndex(const ComponentPath& path) const;

    ComponentTreeModel* model_;
    class TreeFilter* filter_;
    QLineEdit* search_;
    QTreeView* tree_;
    QPointer<ComponentSelection> selection_;
    std::set<QString> collapsed_;  ///< by path text: kept while the design's shape changes
    bool quiet_ = false;
};

}  // namespace orrery::ui
