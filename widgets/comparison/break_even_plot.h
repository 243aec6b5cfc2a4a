#pragma once

// One number of a question over one of its attributes, with its interval, against the number that it is to reach.

#include "widgets/evidence/plot_frame.h"

#include <QWidget>

#include <optional>
#include <vector>

namespace orrery::ui {

struct BreakEvenCurve {
    QString title, xName, yName;
    TickText xTicks = TickText::Number, yTicks = TickText::Number;
    std::vector<double> x, value, low, high;  ///< rising by x; above 0
    double goal = 0, goalLow = 0, goalHigh = 0;
    QString goalName, curveName;  ///< `A`, `now`
    std::vector<double> crossings;
    std::optional<double> drawn;  ///< where the attribute stands
};

class BreakEvenPlot : public QWidget {
    Q_OBJECT
public:
    explicit BreakEvenPlot(QWidget* parent = nullptr);
    void setEmptySentence(const QString& sentence) { emptySentence_ = sentence; }
    void setCurve(BreakEvenCurve curve);
    const BreakEvenCurve& curve() const { return curve_; }
    QSize sizeHint() const override { return {420, 260}; }
    QSize minimumSizeHint() const override { return {240, 140}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    BreakEvenCurve curve_;
    QString emptySentence_;
};

}  // namespace orrery::ui
