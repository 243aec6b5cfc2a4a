#pragma once

// Operations of an out-of-order core, one a row, over the cycles: in the front end, waiting for sources and a port,
// executing, waiting to retire; below, what each port does. A cycle is marked and can be stepped. The wheel follows the
// operations down their diagonal, with Ctrl it zooms; a drag moves; a double click shows all.

#include "simulation/cpu/core/pipeline.h"
#include "widgets/plots/figure_view.h"

#include <cstdint>
#include <vector>

namespace orrery::ui {

struct PipelineRow {
    QString text;  ///< `load v5 [0x40000040] 32 B`
    pipeline::Passage passage;
    int occupancy = 1;  ///< cycles that it holds its port
};

struct PipelinePicture {
    std::uint64_t first = 0;  ///< number of the first row's operation in the run
    std::vector<QString> portNames;
    std::vector<PipelineRow> rows;  ///< in program order
};

/// What an operation is doing in a cycle.
enum class PipelineStage { Before, FrontEnd, Waits, Executes, Done, Retired };
PipelineStage stageAt(const pipeline::Passage& passage, std::uint64_t cycle);

class PipelineView : public FigureView {
    Q_OBJECT
public:
    explicit PipelineView(QWidget* parent = nullptr);
    void setPicture(PipelinePicture picture);
    const PipelinePicture& picture() const { return picture_; }

    std::uint64_t firstCycle() const { return firstCycle_; }
    std::uint64_t lastCycle() const { return lastCycle_; }
    std::uint64_t cycle() const { return cycle_; }
    void setCycle(std::uint64_t cycle);  ///< held to the picture; scrolls to where it is seen
    QString cycleText() const;           ///< what happens in it, in a line
    void fit();
    void zoomBy(double factor);  ///< around the middle
    double cycleWidth() const { return cycleWidth_; }
    double rowHeight() const { return rowHeight_; }
    /// Where an operation executes or, if it needs no port, completes.
    QRectF boxOf(int row) const;
    QRectF portCell(int port, std::uint64_t cycle) const;

    bool isEmpty() const override { return picture_.rows.empty(); }
    QString textAt(const QPointF& place) const override;
    QByteArray csv() const override;
    QSize sizeHint() const override { return {720, 460}; }
    QSize minimumSizeHint() const override { return {320, 200}; }

signals:
    void cycleChanged(quint64 cycle);

protected:
    void paintFigure(QPainter& painter) const override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QRectF rowsArea() const;
    QRectF portsArea() const;
    double x(double cycle) const { return rowsArea().left() + (cycle - from_) * cycleWidth_; }
    double cycleAt(double pixel) const { return from_ + (pixel - rowsArea().left()) / cycleWidth_; }
    double y(double row) const { return rowsArea().top() + (row - top_) * rowHeight_; }
    double diagonal(double row) const;  ///< cycle at which the operation of a row is fetched
    void zoomAt(double factor, const QPointF& place);
    void keepInside();
    void placeCycle(double pixel);
    void paintRows(QPainter& painter) const;
    void paintPorts(QPainter& painter) const;
    void paintAxis(QPainter& painter) const;
    void paintLegend(QPainter& painter) const;

    PipelinePicture picture_;
    std::uint64_t firstCycle_ = 0, lastCycle_ = 0, cycle_ = 0;
    double from_ = 0, top_ = 0;               ///< cycle at the left edge, row at the top
    double cycleWidth_ = 8, rowHeight_ = 16;  ///< pixels
    bool whole_ = false, dragged_ = false, held_ = false;
    QPointF pressed_;
    double pressedFrom_ = 0, pressedTop_ = 0;
};

}  // namespace orrery::ui
