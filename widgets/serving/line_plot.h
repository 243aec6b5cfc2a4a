#pragma once

// Lines over one axis: distributions, load curves. Names stand at the lines' ends, promises as marks; hovering reads
// the values under the cursor.

#include "widgets/evidence/plot_frame.h"

#include <QWidget>

#include <vector>

namespace orrery::ui {

struct PlotLine {
    QString name;
    int colour = 0;                 ///< of Theme::methodColour
    std::vector<double> x, y;       ///< x never falls
    std::vector<double> low, high;  ///< a band around y; empty: none
    bool dots = false;              ///< marks the points: few, and each was computed
};
struct PlotMark {
    QString name;
    double x = 0;
};
struct LinePlotData {
    QString title, xName, yName;
    TickText xTicks = TickText::Number, yTicks = TickText::Percent;
    std::vector<PlotLine> lines;
    std::vector<PlotMark> marks;
    bool logX = true;            ///< where the range is wide
    double yLow = 0, yHigh = 0;  ///< both 0: as the data have it
};

class LinePlot : public QWidget {
    Q_OBJECT
public:
    LinePlot(const QString& objectName, const QString& name, const QString& tip, QWidget* parent = nullptr);
    void setEmptySentence(const QString& sentence) {
        emptySentence_ = sentence;
        update();
    }
    void setData(LinePlotData data);
    const LinePlotData& data() const { return data_; }
    /// Values of every line where the cursor is: `vLLM V1 0.93`; empty outside.
    QString textAt(const QPointF& place) const;
    /// Where the name of each line that has points begins, above the plot where there is room beside the title: curves
    /// often lie along its upper edge.
    std::vector<QPointF> namePlaces() const;
    QSize sizeHint() const override { return {420, 240}; }
    QSize minimumSizeHint() const override { return {200, 130}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    void axes(PlotAxis& x, PlotAxis& y) const;
    void paintReading(QPainter& painter, const PlotAxis& x, const PlotAxis& y) const;

    LinePlotData data_;
    QString emptySentence_;
    double cursor_ = -1;
};

}  // namespace orrery::ui
