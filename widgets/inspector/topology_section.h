#pragma once

#include "hardware/edit/tree_edit.h"
#include "methods/method.h"

#include <QWidget>

class QListWidget;
class QToolButton;

namespace orrery::ui {

class FactList;
class Label;

/// Of a Topology component: what its parameters amount to (endpoints, switches, links, diameter, bisection), live, and
/// its stack of dimensions, innermost first. It asks for edits and makes none.
class TopologySection : public QWidget {
    Q_OBJECT
public:
    explicit TopologySection(QWidget* parent = nullptr);
    void show(HardwarePtr hardware, const ComponentPath& topology);
    FactList* facts() const { return facts_; }
    QListWidget* stack() const { return stack_; }

signals:
    /// New dimensions at the end of `parent`; of a topology that had one shape of its own, that shape as the first.
    void addRequested(const orrery::ComponentPath& parent, const std::vector<orrery::Component>& parts);
    void removeRequested(const orrery::ComponentPaths& paths);
    /// `index` among the children of `parent` as before the move; as many as there are: to the end.
    void moveRequested(const orrery::ComponentPath& path, const orrery::ComponentPath& parent, int index);
    void selectRequested(const orrery::ComponentPath& path);  ///< a dimension, to edit its numbers

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void showFacts();
    void showStack();
    void add(const QString& shape);
    void removeCurrent();
    void moveCurrent(int by);
    std::vector<int> dimensions() const;  ///< indices of the children that are dimensions

    HardwarePtr hardware_;
    ComponentPath path_;
    FactList* facts_;
    Label* refusal_;
    QListWidget* stack_;
    QToolButton* add_;
    QToolButton* remove_;
    QToolButton* up_;
    QToolButton* down_;
};

}  // namespace orrery::ui
