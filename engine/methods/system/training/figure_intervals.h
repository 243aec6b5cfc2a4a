#pragma once

// Intervals of a step's figures besides its time.

#include "methods/estimate.h"

#include <array>
#include <vector>

namespace orrery {

/// A step run with kernels and exchanges all at one side of their intervals: seconds, and what one stage on the mean
/// computes and waits for exchanges of it.
struct StepSide {
    double seconds = 0, busy = 0, exposed = 0;
};
using StepSides = std::array<StepSide, 3>;  ///< low, likely, high

/// Throughput and model FLOP utilisation go against the time: from its high end to its low one. `time`: of the step
/// whose figures these are.
void setRateIntervals(std::vector<Figure>& figures, double seconds, const Interval& time);

/// Computing share, exposed communication, waiting for other stages and energy: from the least to the most of the three
/// runs, the figure itself among them. `joulesPerSecond`: of all devices while they compute; `sent`: J of the network.
void setSideIntervals(std::vector<Figure>& figures, const StepSides& sides, double joulesPerSecond, double sent);

}  // namespace orrery
