#pragma once

// What a device of each stage of a pipeline holds, as stacked bars against the memory that a device has.

#include <QString>
#include <QWidget>

#include <array>
#include <vector>

namespace orrery::ui {

/// Bytes of one device of a stage. What a method does not tell apart is all in one part.
struct StageBytes {
    double parameters = 0, gradients = 0, optimizer = 0, activations = 0;
    double capacity = 0;  ///< of this stage's device, where devices differ; 0: as all
    double total() const { return parameters + gradients + optimizer + activations; }
    bool operator==(const StageBytes&) const = default;
};

struct StageMemoryData {
    QString source;  ///< who says so: `closed form`
    std::vector<StageBytes> stages;
    bool onlyFullest = false;      ///< `stages` is the one that needs most, whichever it is
    bool statesApart = true;       ///< else gradients and optimizer are counted among the parameters
    double capacity = 0;           ///< B; 0: not known
    std::vector<double> baseline;  ///< totals of the pinned plan; empty: none
    bool operator==(const StageMemoryData&) const = default;
};

class StageMemoryPlot : public QWidget {
    Q_OBJECT
public:
    explicit StageMemoryPlot(QWidget* parent = nullptr);
    void setData(StageMemoryData data);
    const StageMemoryData& data() const { return data_; }
    int stageAt(const QPointF& place) const;  ///< −1: none
    QRectF barOf(int stage) const;            ///< from the bottom to the total
    QString textOf(int stage) const;          ///< `stage 3: parameters 8.8 GB, …`
    QSize sizeHint() const override { return {460, 260}; }
    QSize minimumSizeHint() const override { return {220, 140}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRectF area() const;
    double top() const;  ///< B at the upper edge
    void paintLegend(QPainter& painter) const;
    void paintCapacities(QPainter& painter) const;

    StageMemoryData data_;
};

}  // namespace orrery::ui
