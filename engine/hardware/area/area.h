#pragma once

// Silicon area and its price, summed over a drawing from the parts that are drawn (silicon.yaml says from what). An
// estimate: spare cores, control, display and video of a chip are not drawn, so dies come out too small; where a die
// says its area, the difference stands for them.

#include "hardware/component.h"

#include <optional>
#include <string>
#include <vector>

namespace orrery {

/// Published area over the sum of drawn parts, on nine dies from which nothing was taken (tst_area): least and most.
inline constexpr double leastAreaRatio = 0.79, mostAreaRatio = 1.3;

struct PartArea {
    std::string path;  ///< `system/h100/sm/tensor`
    double each = 0;   ///< m², without what stands inside
    double count = 1;  ///< copies in the whole design
    std::string die;   ///< path of the die (or package, or the system) that it counts for
    std::string what;  ///< `2048 bf16 multiply-adds`, `HBM3 interface of 4.1 stacks`
};

struct DieArea {
    std::string path;
    double count = 1;
    double modelled = 0;           ///< m² of one, summed over its parts
    std::optional<double> stated;  ///< its `area`
    double ofParts = 0;            ///< m² of area() that follow from parts: all of it, or since it was stated
    double dollars = 0;            ///< of one good die of its area, stated or else modelled
    double yield = 0;
    double waferPrice = 0, defects = 0;  ///< of its process; 0: not known
    double area() const { return stated ? *stated : modelled; }
};

struct AreaReport {
    std::vector<PartArea> parts;
    std::vector<DieArea> dies;
    double memoryDollars = 0;
    Diagnostics notes;  ///< what has no area: a process or a memory standard that nobody knows

    double modelled() const;  ///< m², of all dies
    double area() const;
    double areaAt(double ratio) const;  ///< where parts take that much of what they are summed to
    double dollarsAt(double ratio) const;
    double dollars() const;  ///< dies and memories
};

/// Fails with `area.process` where no die says a process that the table knows.
Expected<AreaReport> areaOf(const Hardware& hardware);

/// A design that a drawn one has been changed into: dies that stated their area keep what their parts do not explain,
/// and grow or shrink as their parts do.
AreaReport changedArea(const AreaReport& drawn, AreaReport changed);

/// Dies on a wafer of 300 mm times their yield, by a negative binomial of three clusters (Stapper 1989). Infinite where
/// no die fits.
double diePrice(double area, double waferPrice, double defectsPerArea, double& yield);

}  // namespace orrery
