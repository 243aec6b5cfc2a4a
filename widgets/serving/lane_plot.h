#pragma once

// Quantities over the time of a run, one lane each under a common axis: waiting, running, KV cache, tokens per second.
// A cursor stands at the moment that is replayed; dragging it moves there.

#include "widgets/serving/serving_run.h"

#include <QWidget>

namespace orrery::ui {

/// Quantities per interval of equal length, made from a run's log.
struct RunSeries {
    double interval = 1;  ///< s
    std::vector<double> waiting, running, kvShare, tokensPerSecond;  ///< means over the interval
    /// Highest of the run: requests at one instant (whole numbers), and the share of the blocks of the fullest replica,
    /// as ServingMetrics::peakKvUse has it.
    double peakWaiting = 0, peakRunning = 0, peakKvShare = 0;
};
/// At most `intervals` of them over the whole run. Linear in iterations and requests.
RunSeries seriesOf(const ServingRun& run, std::size_t intervals = 600);

class LanePlot : public QWidget {
    Q_OBJECT
public:
    explicit LanePlot(QWidget* parent = nullptr);
    void setRuns(const ServingRuns& runs);
    void setTime(SimTime time);
    SimTime timeAt(double x) const;
    QStringList peaks() const;  ///< of waiting, running, KV cache, tokens per second, as they are written
    QSize sizeHint() const override { return {560, 220}; }
    QSize minimumSizeHint() const override;

signals:
    void timeChosen(orrery::SimTime time);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    QRectF lanes() const;

    std::vector<RunSeries> series_;
    std::vector<int> colours_;
    QStringList names_;
    SimTime end_ = 0, time_ = 0;
};

}  // namespace orrery::ui
