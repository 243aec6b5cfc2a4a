#pragma once

// How busy the drawn links are in the shown answer, over time: one moment for the canvas and the training page.

#include "methods/estimate.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/common/snapshot.h"

#include <QObject>

namespace orrery::app {

/// The span of time that is looked at; −1: the mean of all.
class LinkMoment : public QObject {
    Q_OBJECT
public:
    int span() const { return span_; }
    void set(int span);

signals:
    void changed();

private:
    int span_ = -1;
};

/// That of the primary answer; else of the first that followed its messages; null: none did.
const Estimate* followedEstimate(const ui::Snapshot& snapshot);
/// Spans of time in which link use is known; 0: only on average, or not at all.
int linkSpans(const Estimate* estimate);
/// Of a row of link use in a span, or on average (−1).
double busyIn(const NetworkUse::Row& row, int span);
/// What full colour stands for: the busiest moment of all rows, rounded up to 10, 25, 50 or 100 %.
double linkScale(const NetworkUse& use);
/// `mean of the step`, `1.2 s – 1.3 s`.
QString linkMomentText(const NetworkUse& use, int span);
/// One for every drawn component that has a row.
std::vector<ui::ComponentHeat> linkHeat(const Component& root, const NetworkUse& use, int span);

}  // namespace orrery::app
