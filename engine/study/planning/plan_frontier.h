#pragma once

// What a search keeps: the best by its objective, the front of time, devices, energy and cost, and a few more for a
// picture.

#include "study/planning/plan_search.h"

#include <map>
#include <tuple>
#include <vector>

namespace orrery {

class PlanFrontier {
public:
    PlanFrontier() = default;
    PlanFrontier(PlanObjective objective, std::size_t top)
        : objective_(objective), top_(std::max<std::size_t>(1, top)) {}

    void add(PlannedPoint point);
    void merge(const PlanFrontier& other);
    /// Whether no plan with these figures at least would be kept, neither among the best nor on the front.
    bool beats(const StepFigures& least) const;
    /// Best first; with ranks, and marks of the front.
    std::vector<PlannedPoint> points() const;

private:
    using Costs = std::array<double, 4>;
    static Costs costsOf(const StepFigures& figures);
    std::pair<double, double> keyOf(const StepFigures& figures) const;
    bool before(const PlannedPoint& a, const PlannedPoint& b) const;
    bool same(const PlannedPoint& a, const PlannedPoint& b) const { return a.plan == b.plan; }
    void addBest(const PlannedPoint& point);
    void addFront(const PlannedPoint& point);
    void addOther(PlannedPoint&& point);

    using Cell = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::string>;

    PlanObjective objective_ = PlanObjective::Time;
    std::size_t top_ = 1;
    std::vector<PlannedPoint> best_, front_;
    std::map<Cell, PlannedPoint> others_;  ///< the best of its tp, pp, dp, cp and kind of device
};

/// Dollars of a step; where no price is known the seconds of all its devices.
double costOf(const StepFigures& figures);
/// What is small where a plan is good.
double valueOf(const StepFigures& figures, PlanObjective objective);

}  // namespace orrery
