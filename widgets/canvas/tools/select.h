#pragma once

#include "widgets/canvas/tools/tool.h"

namespace orrery::ui {

/// The resting state: hover, click, toggling with Shift or Ctrl, double click enters; a drag begins one of the gestures
/// move, resize or rubber band.
class SelectTool : public CanvasTool {
public:
    using CanvasTool::CanvasTool;
    void press(const ToolEvent& event) override;
    void move(const ToolEvent& event) override;
    void release(const ToolEvent& event) override;
    void doubleClick(const ToolEvent& event) override;
    void designChanged() override { pressed_ = false; }
    void paint(QPainter& painter) const override;
    QRectF extent() const override;
    QCursor cursor() const override;
    QString hint() const override;
    bool cancel() override;

private:
    int handleNode() const;  ///< the one selected box, if it is large enough for handles; -1
    Side handleAt(const QPointF& view) const;

    bool pressed_ = false;
    ToolEvent start_;
    int node_ = -1;               ///< pressed
    Side side_ = Side::None;      ///< of the handle pressed
    bool onlyOnRelease_ = false;  ///< a click, not a drag, on one of many selected leaves it alone selected
    Side hoveredSide_ = Side::None;
};

}  // namespace orrery::ui
