#pragma once

// A training step, stage by stage over one axis of time: what each computes and exchanges, with its bubbles as gaps,
// and below it how much its devices keep. Ctrl and the wheel zoom, the wheel scrolls stages, a drag moves, a double
// click shows all.

#include "mapping/plan.h"
#include "methods/estimate.h"
#include "widgets/plots/timeline_model.h"

#include <QWidget>

#include <memory>
#include <vector>

namespace orrery::ui {

/// Activations that a stage keeps: one more chunk of a micro-batch when its forward pass ends, one less when its
/// backward pass has ended.
struct KeptCurve {
    std::vector<std::pair<std::int64_t, std::int32_t>> steps;  ///< ps, chunks from then on; rising in time
    std::int32_t most = 0;
};
/// Of each stage of a step's timeline, whose rows are named `stage 3 forward`, `stage 3 backward`, … Turns are matched
/// with those of the plan's schedule, which says what each frees; where their numbers differ every backward pass does.
std::vector<KeptCurve> keptCurves(const Timeline& timeline, const Plan& plan, std::int64_t microbatches);
/// The stage that a row's name speaks of; −1: none.
int stageOfRow(const std::string& row);

struct StepTimelineData {
    std::shared_ptr<const Estimate> estimate;  ///< whose timeline is drawn; null: nothing yet
    QString source;                            ///< who says so
    Plan plan;                                 ///< that it ran
    std::int64_t microbatches = 1;
    std::vector<double> held;   ///< B by stage that stay all the time: weights and their states; empty: not known
    std::vector<double> chunk;  ///< B by stage that one chunk of a micro-batch keeps; empty: chunks are counted
    double capacity = 0;        ///< B of a device; 0: not known
};

class StepTimeline : public QWidget {
    Q_OBJECT
public:
    explicit StepTimeline(QWidget* parent = nullptr);
    void setData(StepTimelineData data);
    const StepTimelineData& data() const { return data_; }
    int stages() const { return static_cast<int>(lanes_.size()); }
    const std::vector<KeptCurve>& kept() const { return kept_; }
    QRectF laneOf(int stage) const;  ///< without its name
    QRectF memoryArea() const;
    const TimeMap& map() const { return map_; }
    void fit();
    /// What is drawn there, with its time; empty: nothing.
    QString textAt(const QPointF& place) const;
    QSize sizeHint() const override { return {560, 360}; }
    QSize minimumSizeHint() const override { return {260, 180}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Lane {
        std::vector<std::size_t> rows;  ///< of the timeline
    };
    void layOut();
    QRectF lanesArea() const;
    double laneHeight() const;
    double amount(int stage, std::int32_t chunks) const;  ///< B, or chunks
    double top() const;                                   ///< of the memory axis
    bool inBytes() const { return !data_.chunk.empty(); }
    void paintLanes(QPainter& painter) const;
    void paintMemory(QPainter& painter) const;
    void paintStages(QPainter& painter, double x, double y) const;
    void paintAxis(QPainter& painter) const;
    void paintLegend(QPainter& painter) const;
    std::int32_t keptAt(int stage, double time) const;

    StepTimelineData data_;
    TimelineModel model_;
    std::vector<Lane> lanes_;
    std::vector<KeptCurve> kept_;
    TimeMap map_;
    bool whole_ = true;
    double scroll_ = 0;  ///< pixels
    double cursor_ = -1;
    bool panning_ = false;
    QPointF pressed_;
    TimeMap pressedMap_;
    double pressedScroll_ = 0;
};

}  // namespace orrery::ui
