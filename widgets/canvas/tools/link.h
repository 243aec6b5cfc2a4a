#pragma once

#include "widgets/canvas/tools/tool.h"

namespace orrery::ui {

/// Draws a link from one component to another: press and drag, or click both, or with the keyboard walk to each and
/// press Enter. Ports show as dots, the end jumps to the nearest; what cannot be linked says why. With two components
/// selected, Enter links them.
class LinkTool : public CanvasTool {
public:
    explicit LinkTool(ToolContext& context);
    void press(const ToolEvent& event) override;
    void move(const ToolEvent& event) override;
    void release(const ToolEvent& event) override;
    bool key(QKeyEvent* event) override;
    void designChanged() override;
    void paint(QPainter& painter) const override;
    QRectF extent() const override;
    bool cancel() override;
    QCursor cursor() const override { return Qt::CrossCursor; }
    QString hint() const override;

private:
    int pickEnd(const ToolEvent& event) const;  ///< a box, by its port if one is near
    void aim(int node);
    void connect();

    int from_ = -1, to_ = -1;
    QPointF end_;  ///< scene: where the free end is
    QPointF pressedAt_;
    bool dragging_ = false;
    QString why_;  ///< why from_ and to_ cannot be linked; empty if they can
};

/// The middles of a box's sides, where links may begin.
std::vector<QPointF> portsOf(const QRectF& box);

}  // namespace orrery::ui
