#pragma once

// How a fit goes: mean absolute error of what is fitted over the steps, on the rows that teach and on those held back.

#include "learning/training.h"

#include <QWidget>

#include <vector>

namespace orrery::ui {

class TrainingPlot : public QWidget {
    Q_OBJECT
public:
    explicit TrainingPlot(QWidget* parent = nullptr);
    /// `family` says what is fitted: `gemm bf16`.
    void setCurve(std::vector<TrainingPoint> curve, const QString& family);
    std::size_t pointCount() const { return curve_.size(); }
    QSize sizeHint() const override { return {420, 220}; }
    QSize minimumSizeHint() const override { return {220, 120}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<TrainingPoint> curve_;
    QString family_;
};

}  // namespace orrery::ui
