#pragma once

// From references and a method to the quantiles that stated_errors.h keeps.

#include "evaluation/reference.h"
#include "methods/method.h"

#include <array>
#include <span>
#include <vector>

namespace orrery {

/// The set without the rows that main memory would bound but whose operands fit in the device's outermost cache: the
/// benchmarks repeat a kernel on the same operands, so they find them there, and a model does not.
ReferenceSet withoutWarmRows(const ReferenceSet& set, const DeviceView& device);

/// One set and what a method predicted for each of its rows.
struct Comparison {
    OperatorFamily family = OperatorFamily::MatrixProduct;
    std::vector<double> predicted, measured;  ///< seconds
};
/// Asks `method` about every row of `set` on `hardware`.
Expected<Comparison> compare(const Method& method, const ReferenceSet& set, const HardwarePtr& hardware,
                             Executor& executor);

/// Quantiles per class of predicted time. Classes with fewer than 20 rows have `rows` 0.
using ClassQuantiles = std::array<ErrorQuantiles, errorClassCount>;
ClassQuantiles measureQuantiles(const Comparison& comparison);
/// Over several devices: the lowest p5, the mean p50, the highest p95 of those that have the class, so that the
/// interval holds each device's middle 90 %, however many rows it has. A class that none has takes its neighbour's.
ClassQuantiles envelope(std::span<const ClassQuantiles> devices);

/// Share of rows that lie inside errorBounds(); `belowShare` of those shorter than the lower side.
struct Coverage {
    double inside = 0, below = 0;
    std::size_t rows = 0;
};
Coverage coverage(const StatedErrors& errors, std::span<const Comparison> comparisons);

/// Median shares of peak and bandwidth that the set's large rows reach, as efficiencies.cpp defines them; 0 if too few
/// rows.
struct AchievedShares {
    double compute = 0, memory = 0;
    std::size_t computeRows = 0, memoryRows = 0;
};
AchievedShares achievedShares(const ReferenceSet& set, const DeviceView& device);

}  // namespace orrery
