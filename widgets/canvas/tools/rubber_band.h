#pragma once

#include "widgets/canvas/tools/tool.h"

namespace orrery::ui {

/// Left to right selects what lies inside, right to left what is touched. Shift or Ctrl adds to the selection.
class RubberBandTool : public CanvasTool {
public:
    RubberBandTool(ToolContext& context, const ToolEvent& start);
    void move(const ToolEvent& event) override { now_ = event; }
    void release(const ToolEvent& event) override;
    void paint(QPainter& painter) const override;
    QRectF extent() const override { return viewRect().adjusted(-2, -2, 2, 2); }
    bool cancel() override;
    bool scrollsAtEdge() const override { return true; }
    QCursor cursor() const override { return Qt::CrossCursor; }
    QString hint() const override;

private:
    bool touching() const { return now_.scene.x() < start_.scene.x(); }
    QRectF viewRect() const;
    std::vector<ComponentPath> caught() const;

    ToolEvent start_, now_;
};

}  // namespace orrery::ui
