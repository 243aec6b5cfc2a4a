#pragma once

// An estimate over the time spent on it: its interval as a band that narrows, and what each method said by itself.

#include <QString>
#include <QWidget>

#include <optional>
#include <vector>

namespace orrery::ui {

struct ConvergencePoint {
    double spent = 0;                       ///< seconds since the beginning
    double latency = 0, low = 0, high = 0;  ///< of all so far; 0: nothing yet
    QString what;                           ///< who was asked
    /// What the method said by itself, of a ladder.
    double own = 0, ownLow = 0, ownHigh = 0;
    bool bound = false;
};

class ConvergencePlot : public QWidget {
    Q_OBJECT
public:
    explicit ConvergencePlot(QWidget* parent = nullptr);
    void setEmptySentence(const QString& sentence);
    void setPoints(std::vector<ConvergencePoint> points);
    const std::vector<ConvergencePoint>& points() const { return points_; }
    QSize sizeHint() const override { return {420, 240}; }
    QSize minimumSizeHint() const override { return {220, 120}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;  ///< tooltip: the nearest step

private:
    std::vector<double> places() const;  ///< times to draw at, rising and above 0
    int nearest(double x) const;

    std::vector<ConvergencePoint> points_;
    std::vector<double> drawn_;  ///< pixels, by point
    QString emptySentence_;
};

}  // namespace orrery::ui
