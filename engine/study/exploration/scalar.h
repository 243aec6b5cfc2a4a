#pragma once

// Answers as an agent weighs them: costs that are all to be made small, and one number of several by weights. For
// agents.

#include "base/random.h"
#include "study/exploration/search.h"

#include <limits>
#include <vector>

namespace orrery {

/// Levels of every knob, spread evenly: one in each of `count` strata, in an order of its own (McKay, Beckman, Conover
/// 1979).
std::vector<std::vector<std::uint32_t>> latinLevels(std::span<const Knob> knobs, std::size_t count,
                                                    RandomStream& random);
/// The points there; of rows the nearest ones.
std::vector<std::uint64_t> latinPoints(const Search& search, std::size_t count, RandomStream& random);

inline constexpr double worstCost = std::numeric_limits<double>::infinity();

/// A refused point is worse than any that breaks a constraint, however far.
struct Fitness {
    double violation = worstCost;
    std::vector<double> costs;
};
Fitness fitnessOf(const Search& search, std::uint64_t point);
/// Constrained domination (Deb, Pratap, Agarwal, Meyarivan 2002).
bool dominates(const Fitness& a, const Fitness& b);

/// Costs in ln over the range that feasible points had when it was made, so that units do not weigh: 0 to 1, and beyond
/// where later points are.
class CostScale {
public:
    explicit CostScale(const Search& search);
    double of(std::size_t objective, double cost, double weight = 1) const;
    /// Finite: of points that break a constraint all above 2, of refused ones 1000.
    std::vector<double> bounded(const Search& search, std::uint64_t point) const;

private:
    std::vector<double> least_, most_;
};

/// One number to descend: the worst of the weighted costs (Steuer and Choo 1983), so that hollows of the front are
/// reached, with weights drawn evenly.
class Descent {
public:
    Descent(const Search& search, RandomStream& random);
    /// Infinite where refused, above 1e6 where a constraint is broken.
    double of(std::uint64_t point) const;
    /// Those seen that are best by it, best first; equals as asked.
    std::vector<std::uint64_t> best(std::size_t most) const;

private:
    const Search& search_;
    std::vector<double> weights_;
    CostScale scale_;
};

}  // namespace orrery
