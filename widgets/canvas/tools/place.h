#pragma once

#include "widgets/canvas/snap.h"
#include "widgets/canvas/tools/tool.h"

namespace orrery::ui {

/// Puts new components (one from the palette, or the parts of a device) where one clicks, into the innermost one there
/// that may hold them; where something stands, beside it. Enter places them into the selected component instead, where
/// the layout finds room. Shift keeps the tool for more.
class PlaceTool : public CanvasTool {
public:
    PlaceTool(ToolContext& context, std::vector<Component> parts);
    void press(const ToolEvent& event) override;
    void move(const ToolEvent& event) override;
    void release(const ToolEvent& event) override;
    bool key(QKeyEvent* event) override;
    void designChanged() override { aimed_ = pressed_ = false; }
    void paint(QPainter& painter) const override;
    QRectF extent() const override;
    bool cancel() override;
    bool scrollsAtEdge() const override { return aimed_; }
    QCursor cursor() const override { return Qt::CrossCursor; }
    QString hint() const override;

    int target() const { return aimed_ ? target_ : -1; }  ///< node that would hold them; -1: none may
    QPointF corner() const { return ghost_.topLeft(); }   ///< scene: where the first would stand
    void refuse() const;                                  ///< says why there is no target

private:
    void placeInto(int holder, const QPointF* topLeft, bool again);
    QString what() const;
    QString note() const;

    std::vector<Component> parts_;
    std::vector<ComponentKind> kinds_;
    std::vector<QRectF> boxes_;  ///< of the parts, from the ghost's top left
    QSizeF size_;
    bool aimed_ = false, pressed_ = false;
    int target_ = -1, under_ = -1;
    QRectF ghost_;  ///< scene
    std::vector<SnapGuide> guides_;
};

}  // namespace orrery::ui
