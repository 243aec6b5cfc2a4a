#pragma once

#include "widgets/canvas/snap.h"
#include "widgets/canvas/tools/tool.h"

#include <QPixmap>

namespace orrery::ui {

/// Drags boxes. Dropped where they stood they are arranged; dropped on another component that may hold them they move
/// into it (the innermost under the cursor, Ctrl keeps them in their parent); with Alt copies are made.
class MoveTool : public CanvasTool {
public:
    MoveTool(ToolContext& context, std::vector<int> nodes, const ToolEvent& start);
    void move(const ToolEvent& event) override;
    void modifiersChanged(const ToolEvent& event) override { move(event); }
    void release(const ToolEvent& event) override;
    void paint(QPainter& painter) const override;
    QRectF extent() const override;
    bool cancel() override;
    bool scrollsAtEdge() const override { return true; }
    QCursor cursor() const override;
    QString hint() const override;

private:
    void aim(const ToolEvent& event);       ///< finds target_ and why_
    QRectF lines(QPainter* painter) const;  ///< from the dragged boxes to where their links lead
    QRectF noteArea() const;

    std::vector<int> nodes_;
    std::vector<ComponentKind> kinds_;
    ToolEvent start_;
    QRectF bounds_;  ///< scene, of all dragged before the drag
    int parent_;     ///< of the first; dragged ones may have several parents
    bool oneParent_ = true;
    QPointF by_;
    int target_;   ///< node that will hold them; -1: none may
    QString why_;  ///< what the person should know about the target
    bool copies_ = false;
    bool moved_ = false;
    SnapTargets targets_;
    int targetsOf_ = -2;
    std::vector<SnapGuide> guides_;
    mutable QPixmap picture_;
    mutable QRectF pictureArea_;
    mutable double pictureZoom_ = 0;
};

}  // namespace orrery::ui
