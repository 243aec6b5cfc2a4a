#pragma once

// Shows and edits what is selected. It owns no document: it takes immutable snapshots and says what the person wants
// changed; the owner changes its document and shows the new snapshot, which updates the rows in place.

#include "hardware/edit/tree_edit.h"
#include "hardware/views/device_view.h"
#include "methods/method.h"
#include "widgets/common/edit_phase.h"

#include <QWidget>

#include <memory>

class QStackedWidget;

namespace orrery::ui {

using DeviceViewPtr = std::shared_ptr<const DeviceView>;

class ComponentForm;
class WorkloadForm;
class OperatorCard;

class Inspector : public QWidget {
    Q_OBJECT
public:
    explicit Inspector(QWidget* parent = nullptr);

    /// The component at `path`. With the same path as before only values change: focus, what is being typed and a drag
    /// in progress survive.
    void showComponent(HardwarePtr hardware, const ComponentPath& path, DeviceViewPtr device = nullptr);
    /// Many at once: rows that all have, different values shown as mixed, edits for all of them. The last is the
    /// current one. Paths that lead nowhere are left out.
    void showComponents(HardwarePtr hardware, ComponentPaths paths, DeviceViewPtr device = nullptr);
    /// `info` says which options the workload understands (null for an imported graph: batch, bindings and dtypes);
    /// `workload` may be null while it is loading or if it failed.
    /// `device`, where there is one, says which of its types a unit lacks.
    void showWorkload(const WorkloadRecipe& recipe, const WorkloadInfo* info, WorkloadPtr workload,
                      DeviceViewPtr device = nullptr);
    void showOperator(WorkloadPtr workload, int op, const Estimate* estimate);
    void clear();

    /// What `reset` goes back to, a design of the same shape; null: reset removes the attribute, and so its default
    /// applies.
    void setPreset(HardwarePtr preset);
    /// All that is wrong in the design; those of the component shown are listed below its rows.
    void setProblems(const Diagnostics& problems);
    void editAttribute(const QString& id);  ///< of the component shown: the focus goes to its field
    ComponentPath componentPath() const;    ///< the current one
    const ComponentPaths& componentPaths() const;

signals:
    /// Of one or many; connect this one or the next, not both. `text` may be empty while a drag over different values
    /// is put back: the attribute is to be removed. All of one drag (Begin … Commit) is one undo entry.
    void attributesEdited(const orrery::ComponentPaths& paths, const QString& attribute, const QString& text,
                          orrery::ui::EditPhase phase);
    void attributesRemoved(const orrery::ComponentPaths& paths, const QString& attribute);
    // Of a topology's stack: dimensions are its children
    void addRequested(const orrery::ComponentPath& parent, const std::vector<orrery::Component>& parts);
    void removeRequested(const orrery::ComponentPaths& paths);
    void moveRequested(const orrery::ComponentPath& path, const orrery::ComponentPath& parent, int index);
    void selectRequested(const orrery::ComponentPath& path);
    /// A search is to turn this number: `bandwidth`, `macs.bf16`, `count`.
    void turnRequested(const orrery::ComponentPath& path, const QString& attribute);
    /// What the workload does in a type that the device lacks is to be done in another.
    void typeRequested(orrery::DType from, orrery::DType to);
    void knobRequested(const QString& path);  ///< the same of an option of the workload: `batch`
    /// Changes of a graph that was read, which put all of it into `type`.
    void whatIfsEdited(const std::vector<orrery::WhatIf>& all, const QString& type);

    // Of one component, beside the signals above
    /// `attribute` is `bandwidth`, `macs.bf16`, `name`, `count` or `mesh`; `text` what setAttribute takes.
    void attributeEdited(const orrery::ComponentPath& path, const QString& attribute, const QString& text,
                         orrery::ui::EditPhase phase);
    /// The attribute is to be removed, so that its default applies.
    void attributeRemoved(const orrery::ComponentPath& path, const QString& attribute);
    void workloadEdited(const orrery::WorkloadOptions& options, orrery::ui::EditPhase phase);

private:
    QStackedWidget* pages_;
    QWidget* empty_;
    ComponentForm* component_;
    WorkloadForm* workload_;
    OperatorCard* operator_;
};

}  // namespace orrery::ui
