#pragma once

// What accuracy costs: every method's error on the references against the time that one of its answers takes, both
// axes logarithmic. Colour is its methodology, shape its level, fill whether the truth was measured; a halo marks
// intervals that hold too rarely. The bar goes from the median to the ninetieth percentile of the absolute error, the
// whisker over the mean errors of resampled rows, the bar across over what half of the answers take. A line joins the
// methods that no other one of equal terms beats in both; where there are several groups of equals, each line ends in
// the letter of its group.

#include "methods/method.h"
#include "widgets/common/plot_axis.h"
#include "widgets/common/plot_zoom.h"

#include <QPixmap>
#include <QPointF>
#include <QRectF>
#include <QWidget>

#include <vector>

namespace orrery::ui {

struct AccuracyPoint {
    QString method, title;
    int colour = 0;              ///< index for Theme::methodColour: its methodology
    double mape = 0;             ///< mean absolute relative error
    double median = 0, p90 = 0;  ///< of the absolute relative error
    double seconds = 0;          ///< wall time of one answer; 0: not known, it then stands in a column beyond the axis
    bool simulated = false;      ///< the truth is: drawn hollow
    qint64 rows = 0;
    MethodLevel level = MethodLevel::Kernel;
    double low = 0, high = 0;  ///< of the mean error, by resampled rows; 0: not known
    double coverage = -1;      ///< share of the rows inside their 90 % interval; below 0: it states none
    QString methodology = {};  ///< as the legend names the colour; empty: not in it
    QString family = {};       ///< points of one family are settings of one method, joined by a line; empty: of none
    double samples = 0;        ///< measured rows that it was fitted to; below 0: not known
    double secondsLow = 0, secondsHigh = 0;  ///< what half of its answers take; 0: not known
    bool apart = false;                      ///< on rows of its own, not compared: pale, with a star, in no front
    int group = 0;                           ///< of methods with equal terms, counted from 0: fronts are among equals
    double fitting = 0;                      ///< seconds that fitting to its samples takes; 0: nothing, or not known
};
/// What others published of their tools: a grey cross, joined to nothing.
struct PublishedPoint {
    QString title, tip;
    double error = 0;
    double seconds = 0;  ///< 0: not published; it then stands at the right edge
};
/// What an answer costs: its time, or what had to be measured before the first one.
enum class CostAxis { Answer, SetUp };

/// By group: points that no other one of it beats in error and cost, cheapest first; none that stands apart, or whose
/// cost is not known.
std::vector<std::vector<int>> paretoFronts(const std::vector<AccuracyPoint>& points, CostAxis cost = CostAxis::Answer);

inline constexpr double leastCoverage = 0.85;  ///< below it a 90 % interval gets a halo

class AccuracyPlot : public QWidget {
    Q_OBJECT
public:
    explicit AccuracyPlot(QWidget* parent = nullptr);
    void setPoints(std::vector<AccuracyPoint> points);
    const std::vector<AccuracyPoint>& points() const { return points_; }
    void setPublished(std::vector<PublishedPoint> published);
    void setCost(CostAxis cost);
    /// Whether points are of the same rows: else there is no front, and the plot says so.
    void setSameRows(bool same);
    bool sameRows() const { return sameRows_; }
    /// Where those stand whose cost is not known; empty where it is known of all.
    QRectF unknownColumn() const { return unknown_; }
    CostAxis cost() const { return cost_; }
    void setCurrent(int point);  ///< -1: none
    int current() const { return current_; }
    /// The point under a place, -1 for none.
    int pointAt(const QPointF& place) const;
    /// The cross under a place, -1 for none.
    int publishedAt(const QPointF& place) const;
    QPointF placeOfPublished(int cross) const { return crosses_[static_cast<std::size_t>(cross)]; }
    QPointF placeOf(int point) const { return places_[static_cast<std::size_t>(point)]; }
    /// PNG, SVG or PDF, without focus or choice. Returns an error text.
    QString exportTo(const QString& file);
    QSize sizeHint() const override { return {420, 300}; }
    QSize minimumSizeHint() const override;

signals:
    void chosen(int point);
    void publishedChosen(int cross);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    void choose(int point);
    void changed();
    void paint(QPainter& painter, const QRect& all);
    QString textOf(const AccuracyPoint& point) const;
    void paintPoint(QPainter& painter, std::size_t at, const PlotAxis& x, const PlotAxis& y) const;
    void paintFronts(QPainter& painter) const;
    void paintFamilies(QPainter& painter) const;
    void paintPublished(QPainter& painter) const;
    double costOf(const AccuracyPoint& point) const;  ///< 0: not known
    std::vector<std::vector<int>> fronts() const;
    void paintNames(QPainter& painter, const QRectF& area) const;
    /// Returns its lines; `measuring`: paints nothing.
    int paintLegend(QPainter& painter, const QRectF& row, bool measuring) const;

    std::vector<AccuracyPoint> points_;
    std::vector<PublishedPoint> published_;
    std::vector<QPointF> places_, crosses_;
    CostAxis cost_ = CostAxis::Answer;
    int current_ = -1;
    bool sameRows_ = true;
    QRectF unknown_;
    PlotZoom zoom_;
    QPixmap picture_;  ///< of what is shown, unless
    bool stale_ = true;
};

}  // namespace orrery::ui
