#pragma once

// Numbers per operator, painted on the graph: which there are, what a folded group has of them, and their scale.

#include "widgets/common/snapshot.h"
#include "workload/hierarchy.h"

#include <QColor>
#include <QString>

#include <memory>
#include <vector>

namespace orrery::ui {

/// One number per operator.
struct HeatMetric {
    QString id, title;  ///< `time/roofline`, `Time · Roofline`
    Dimension dimension = Dimension::Number;
    std::vector<double> values;  ///< one per operator; NaN: none
    bool logarithmic = false;
    bool diverging = false;       ///< about 0, or about 1 if logarithmic: differences, errors, ratios
    bool additive = false;        ///< a folded group shows the sum, else the mean by `weights`
    std::vector<double> weights;  ///< of operators in a group's mean; empty: all the same
    /// Not a number but a choice (what bounds it): values are indices into these, a group shows its heaviest.
    std::vector<QString> choices;
    std::vector<Bound> bounds;  ///< of each choice, for its colour
    QString note;               ///< one sentence: what it is and where it comes from
};

/// Answers of a run of before, painted beside those of now.
struct StoredAnswers {
    QString run;    ///< for ids: no two lists have the same
    QString title;  ///< `run 3`
    std::vector<Answer> answers;
};

/// Every metric that can be computed: work, bytes and parameters of the workload itself; per answer time, share of
/// time, bytes, intensity, energy where predicted, and what bounds; per pair of answers difference and ratio of times;
/// per answer the error against measured times where some are given (`measured`: seconds of all repeats of each
/// operator, NaN where not; empty: none). Of `stored` answers the same, with difference and ratio to the answer of now
/// by the same method. No stated interval is listed: methods state it for the whole answer only.
std::vector<HeatMetric> heatMetrics(const Snapshot& snapshot, const std::vector<double>& measured = {},
                                    const std::vector<StoredAnswers>& stored = {});

/// One value per node of the drawing; NaN where no operator of the node has one. O(operators).
std::vector<double> nodeValues(const HeatMetric& metric, const VisibleGraph& visible);

/// How values become colours: cividis, or blue–grey–vermilion about the middle for diverging metrics.
struct HeatScale {
    double low = 0, high = 1;
    bool logarithmic = false, diverging = false;
    bool clipped = false;  ///< some values lie beyond both ends

    double position(double value) const;  ///< 0…1, clamped; NaN for NaN
    double valueAt(double position) const;
    double weight(double value) const;  ///< for thresholds: position, or twice the distance from the middle
    QColor colour(double value) const;  ///< from the theme
    std::vector<double> ticks(int about = 5) const;  ///< round values within the range, ascending
};
/// The range of the values shown: from 0 for linear metrics, symmetric for diverging ones (clipped to the reach of
/// nineteen of twenty values where the rest lie more than three times as far out), at most four decades (from the top)
/// for logarithmic ones.
HeatScale heatScale(const HeatMetric& metric, const std::vector<double>& shown);
/// `1.2 ms`, `+12 %`, `×1.35`, `compute`; `–` for NaN.
QString heatText(const HeatMetric& metric, double value);

}  // namespace orrery::ui
