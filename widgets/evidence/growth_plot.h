#pragma once

// How a method's error grows from single kernels to sums of them: measured, between the limits √N (errors that have
// nothing in common) and N (all alike), and right of these what was measured whole. Both axes logarithmic.

#include <QWidget>

#include <vector>

namespace orrery::ui {

struct GrowthMark {
    double kernels = 1;                                ///< in the sum
    double measured = 0, independent = 0, common = 0;  ///< error of the sum ÷ its measured time
    double inside = 0;                                 ///< share of sums inside their 90 % interval
};

/// What was measured whole: passes, training steps, serving runs.
struct GrowthLevel {
    QString name;  ///< `training step`
    qint64 rows = 0;
    double measured = 0, median = 0;  ///< root mean square of the errors; median of their sizes
    double inside = 0;                ///< share inside their 90 % intervals
};

class GrowthPlot : public QWidget {
    Q_OBJECT
public:
    explicit GrowthPlot(QWidget* parent = nullptr);
    /// `correlation`: 0 where the measured growth follows √N, 1 where it follows N. Fewer than two marks: no picture.
    void setMarks(std::vector<GrowthMark> marks, double correlation, std::vector<GrowthLevel> levels = {});
    const std::vector<GrowthLevel>& levels() const { return levels_; }
    const std::vector<GrowthMark>& marks() const { return marks_; }
    QSize sizeHint() const override { return {420, 260}; }
    QSize minimumSizeHint() const override { return {220, 140}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;  ///< tooltip: the nearest mark

private:
    std::vector<GrowthMark> marks_;
    double correlation_ = 0;
    std::vector<GrowthLevel> levels_;
    std::vector<QPointF> places_;  ///< of the marks, then of the levels
};

}  // namespace orrery::ui
