#pragma once

// A mapper that proves its optimum (in the manner of the Turbo-Charged Mapper and of LOMA's exact searches, but over
// the counts of NestEvaluator): skeletons by their bounds, then level by level from the outside, with what the inner
// levels cost at least known from dynamic programming. No space of its own: the best of all points of the mapspace.

#include "mapping/mappers/mapper.h"

namespace orrery::optimal {

/// The best point found so far, by the priorities of the options.
class Incumbent {
public:
    Incumbent(const Mapspace& space, const MapperOptions& options, SearchContext& context, MapperResult& result);

    bool found() const { return found_; }
    const MapPoint& point() const { return best_; }
    /// Bounds from here on cannot lead to anything better: the first objective, less one part in 10^9.
    double threshold() const { return threshold_; }
    double value() const { return value_[0]; }
    /// Costs a point and keeps it if it is better.
    void consider(const MapPoint& point);
    /// Counts one step of the search; true where it has to end (stopped, or its budget is spent).
    bool ends(std::uint64_t steps = 1);
    bool ended() const { return ended_; }
    void post(double lowerBound);

private:
    const Mapspace& space_;
    const MapperOptions& options_;
    SearchContext& context_;
    MapperResult& result_;
    NestEvaluator evaluator_;
    NestMapping mapping_;
    NestCounts counts_;
    bool found_ = false, ended_ = false;
    MapPoint best_{};
    std::array<double, 4> value_{};
    double threshold_;
    std::uint64_t steps_ = 0, budget_, polled_ = 0;
    std::vector<MapperPoint> added_;
    double begun_, posted_ = 0, bound_ = 0;
};

/// Searches until nothing better is possible, or the context, options.seconds or options.steps end it. Sets examined,
/// valid, refusals, curve, proven, complete, cancelled and lowerBound.
void search(const Mapspace& space, const MapperOptions& options, SearchContext& context, Incumbent& best,
            MapperResult& result);

/// Whether bounds hold on partial mappings of a space: dense, perfect factors, no dimension in two ranks of a tensor.
bool bounded(const Mapspace& space, const SearchContext& context);

}  // namespace orrery::optimal
