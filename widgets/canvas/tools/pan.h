#pragma once

#include "widgets/canvas/tools/tool.h"

namespace orrery::ui {

/// Moves the view: a tool of its own, and the gesture of the middle button or of a drag with Space held.
class PanTool : public CanvasTool {
public:
    using CanvasTool::CanvasTool;
    void press(const ToolEvent& event) override;
    void move(const ToolEvent& event) override;
    void release(const ToolEvent& event) override;
    bool cancel() override;
    QCursor cursor() const override { return pressed_ ? Qt::ClosedHandCursor : Qt::OpenHandCursor; }

private:
    bool pressed_ = false;
    QPointF grabbed_;  ///< scene point under the cursor when pressed
    QPointF centre_;   ///< scene point in the middle of the view then
};

}  // namespace orrery::ui
