#pragma once

#include "widgets/canvas/snap.h"
#include "widgets/canvas/tools/tool.h"

namespace orrery::ui {

/// Puts a new component where one clicks, into the innermost one there that may hold it. Enter places it into the
/// selected component instead, where the layout finds room. Shift keeps the tool for more.
class PlaceTool : public CanvasTool {
public:
    PlaceTool(ToolContext& context, Component prototype) : CanvasTool(context), prototype_(std::move(prototype)) {}
    void press(const ToolEvent& event) override;
    void move(const ToolEvent& event) override;
    void release(const ToolEvent& event) override;
    bool key(QKeyEvent* event) override;
    void designChanged() override { aimed_ = pressed_ = false; }
    void paint(QPainter& painter) const override;
    QRectF extent() const override;
    bool cancel() override;
    QCursor cursor() const override { return Qt::CrossCursor; }
    QString hint() const override;

private:
    void placeInto(int holder, const QPointF* topLeft, bool again);
    QString note() const;

    Component prototype_;
    bool aimed_ = false, pressed_ = false;
    int target_ = -1, under_ = -1;
    QRectF ghost_;  ///< scene
    std::vector<SnapGuide> guides_;
};

}  // namespace orrery::ui
