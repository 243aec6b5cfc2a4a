#pragma once

// How much a point that nobody has answered is expected to add. All numbers are to be made small.

#include "learning/matern_process.h"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

/// E[max(0, best − y)] of y as it is expected (Jones, Schonlau, Welch 1998).
double expectedImprovement(const Normal& expected, double best);
/// P(y < limit).
double probabilityBelow(const Normal& expected, double limit);

/// What is expected of a cost: the cost itself, its ln, or of what is to be made large minus the ln.
enum class CostUnit : std::uint8_t { Plain, Logarithm, NegativeLogarithm };
double costOf(double expected, CostUnit unit);
/// As expectedImprovement() of the cost itself, of which the expectation is in this unit, as `best` is: in closed form
/// over the lognormal distribution.
double expectedImprovement(const Normal& expected, double best, CostUnit unit);

/// Volume that a point is expected to add to what a front covers up to a reference: in one number its expected
/// improvement, in two exact, strip by strip (Emmerich, Yang, Deutz 2016), in more the mean of the probability to reach
/// each of 2,048 seeded draws that the front does not cover.
class ExpectedHypervolume {
public:
    /// `front`: rows of as many numbers as the reference has; dominated ones do no harm. `units`: in which each number
    /// is expected; the volume is that of the costs. None: all are costs.
    ExpectedHypervolume(std::vector<std::vector<double>> front, std::vector<double> reference, std::uint64_t seed = 0,
                        std::vector<CostUnit> units = {});
    double of(std::span<const Normal> expected) const;
    void add(std::vector<double> row);

private:
    void prepare();
    std::vector<std::vector<double>> front_;
    std::vector<double> reference_;
    std::vector<CostUnit> units_;
    std::uint64_t seed_;
    std::vector<double> draws_;  // of three numbers and more, those that the front leaves open
    double each_ = 0;            // volume of a draw
};

}  // namespace orrery
