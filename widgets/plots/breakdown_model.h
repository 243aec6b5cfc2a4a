#pragma once

// Where the time of each method goes, by category, free of pixels.

#include "widgets/common/snapshot.h"

#include <QColor>
#include <QString>

#include <vector>

namespace orrery::ui {

enum class BreakdownBy { Kind, Block, Bound, Part };

struct BreakdownCategory {
    QString label;
    QColor colour;
    std::vector<int> ops;         ///< of the primary answer, rising; none of a part of the time
    std::vector<double> seconds;  ///< one per bar; 0 where the method has none
};

struct BreakdownBar {
    QString title;
    double total = 0;          ///< latency, s; 0 if there is no estimate
    double low = 0, high = 0;  ///< its interval
    bool primary = false;
    QString figures;       ///< other numbers of the method: `Throughput 1.2 ktoken/s`
    bool divided = false;  ///< the method gives times of operators
    QString state;         ///< why there is no estimate; empty if there is one
    bool failed = false;
};

struct BreakdownModel {
    std::vector<BreakdownBar> bars;
    std::vector<BreakdownCategory>
        categories;      ///< kinds and blocks by falling time, bounds in the order of the hierarchy
    double longest = 0;  ///< s; the common scale of all bars
};

/// Whether some answer says what worked in its time (methods/answer/time_parts.h), so that it divides by part.
bool dividesByPart(const Snapshot& snapshot);
BreakdownModel breakdownModel(const Snapshot& snapshot, BreakdownBy by);
/// Between two models: bars of the same number and categories of the same labels glide.
BreakdownModel between(const BreakdownModel& a, const BreakdownModel& b, double t);

}  // namespace orrery::ui
