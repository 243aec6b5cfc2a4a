#pragma once

// Arranges what stands in one component of a canvas by Graphviz, in its helper process; the result is one undo entry.
// Where the helper is not installed, the layered layout of the workload graph does it.

#include "widgets/canvas/canvas_view.h"
#include "widgets/graph/graphviz_layout.h"

#include <QObject>
#include <QPointer>

namespace orrery::app {

class AutoArrange : public QObject {
    Q_OBJECT
public:
    explicit AutoArrange(QObject* parent = nullptr);

    /// Boxes of the children of `parent` as nodes, links between them (and from each network to what it joins) as
    /// edges. `editor` must outlive the work or cancel() be called.
    void start(ui::CanvasView* view, ui::CanvasEditor* editor, const ComponentPath& parent);
    void cancel();
    bool isRunning() const { return layout_.isRunning(); }

signals:
    void stageChanged(const QString& what);  ///< empty: nothing is under way
    void arranged(int components);
    void failed(const orrery::Diagnostic& why);

private:
    void apply(const ui::LayoutResult& result);

    ui::GraphvizLayout layout_;
    QPointer<ui::CanvasView> view_;
    ui::CanvasEditor* editor_ = nullptr;
    HardwarePtr design_;  ///< an edit meanwhile makes the result stale
    ComponentPath parent_;
    std::vector<int> nodes_;  ///< of the scene
};

}  // namespace orrery::app
