#pragma once

#include "widgets/canvas/snap.h"
#include "widgets/canvas/tools/tool.h"

#include <utility>
#include <vector>

namespace orrery::ui {

/// Drags one of eight handles; never smaller than the contents need.
class ResizeTool : public CanvasTool {
public:
    ResizeTool(ToolContext& context, int node, Side side, const ToolEvent& start);
    void move(const ToolEvent& event) override;
    void modifiersChanged(const ToolEvent& event) override { move(event); }
    void release(const ToolEvent& event) override;
    void paint(QPainter& painter) const override;
    QRectF extent() const override;
    bool cancel() override;
    bool scrollsAtEdge() const override { return true; }
    QCursor cursor() const override;

private:
    int node_;
    Side side_;
    ToolEvent start_;
    QRectF before_, box_;  ///< scene
    QSizeF least_;
    SnapTargets targets_;
    std::vector<SnapGuide> guides_;
};

/// Handles of a box, corners first; in the coordinates of the box.
std::vector<std::pair<Side, QPointF>> resizeHandles(const QRectF& box);
QCursor resizeCursor(Side side);
/// The smallest size that a node can be given: what its contents need.
QSizeF leastSize(const Scene& scene, int node);

}  // namespace orrery::ui
