#pragma once

#include "widgets/canvas/tools/tool.h"

#include <optional>
#include <vector>

namespace orrery::ui {

/// How one component is reached from another: names of the components passed, and of the links taken.
struct Hops {
    std::vector<int> nodes;  ///< from first to last, both included
    std::vector<int> links;  ///< indices into Scene::links()
};
/// Fewest links from one node to another. A part is as well connected as what it stands in, up to what holds both.
std::optional<Hops> fewestHops(const Scene& scene, int from, int to);

/// Distance in scene units between two points, and the hops between what stands there.
class MeasureTool : public CanvasTool {
public:
    using CanvasTool::CanvasTool;
    void press(const ToolEvent& event) override;
    void move(const ToolEvent& event) override;
    void release(const ToolEvent& event) override;
    void designChanged() override { state_ = State::Idle; }
    void paint(QPainter& painter) const override;
    QRectF extent() const override;
    bool cancel() override;
    bool scrollsAtEdge() const override { return state_ == State::Measuring; }
    QCursor cursor() const override { return Qt::CrossCursor; }
    QString hint() const override;
    QString text() const { return text_; }

private:
    enum class State { Idle, Measuring, Shown };
    void update(const ToolEvent& event);

    State state_ = State::Idle;
    ToolEvent from_, to_;
    int fromNode_ = -1, toNode_ = -1;
    std::vector<int> links_;
    QString text_;
};

}  // namespace orrery::ui
