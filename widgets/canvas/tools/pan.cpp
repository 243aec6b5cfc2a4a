#include "widgets/canvas/tools/pan.h"

#include "widgets/canvas/canvas_view.h"

namespace orrery::ui {

void PanTool::press(const ToolEvent& event) {
    pressed_ = true;
    grabbed_ = event.scene;
    centre_ = context_.view.toScene(QRectF(context_.view.rect()).center());
}

void PanTool::move(const ToolEvent& event) {
    if (!pressed_) return;
    const QPointF now = context_.view.toScene(event.view);
    context_.view.centreOn(context_.view.toScene(QRectF(context_.view.rect()).center()) + grabbed_ - now);
}

void PanTool::release(const ToolEvent&) {
    pressed_ = false;
    context_.end();
}

bool PanTool::cancel() {
    if (pressed_) context_.view.centreOn(centre_);
    return std::exchange(pressed_, false);
}

}  // namespace orrery::ui
