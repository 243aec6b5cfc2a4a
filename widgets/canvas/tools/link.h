#pragma once

#include "widgets/canvas/tools/tool.h"

#include <string>

namespace orrery::ui {

/// Draws a link from one component to another: press and drag, or click both, or with the keyboard walk to each and
/// press Enter. Ports show as dots and pull the end to them: a wire that begins or ends at one keeps it, one that
/// begins or ends in the box takes any. What cannot be linked says why. With two components selected, Enter links them.
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
    bool scrollsAtEdge() const override { return dragging_ && from_.node >= 0; }
    QCursor cursor() const override { return Qt::CrossCursor; }
    QString hint() const override;

private:
    struct End {
        int node = -1;
        std::string port;  ///< empty: any
        QPointF at;        ///< scene: the port, or where the cursor is
    };
    End pickEnd(const ToolEvent& event) const;  ///< a box, by its port if one is near
    bool isTaken(int node, const std::string& port) const;
    void aim(const End& end);
    void connect();
    void paintEnds(QPainter& painter, const End& end, bool bad) const;
    QPointF begin() const;
    QString note() const;

    End from_, to_;
    QPointF end_;  ///< scene: where the free end is
    QPointF pressedAt_;
    bool dragging_ = false;
    QString why_;  ///< why from_ and to_ cannot be linked; empty if they can
};

}  // namespace orrery::ui
