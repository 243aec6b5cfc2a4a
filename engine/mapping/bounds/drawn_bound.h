#pragma once

// A curve with what is drawn on it: the levels of a design and one mapping.

#include "mapping/bounds/data_movement.h"

#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct DrawnBound {
    std::string name;
    NestProblem problem;
    NestHardware hardware;
    BoundCurve curve;
    std::optional<MappingPoint> mapping;
};

/// A level in front of the store, with the words that its instances hold together.
struct BoundMark {
    std::string level;
    double words = 0;
};
/// Innermost first; levels that hold everything are left out.
std::vector<BoundMark> boundMarks(const NestHardware& hardware);

/// `K2 C1 P7`: tiles of the dimensions longer than 1.
std::string boundTiles(const NestProblem& problem, const BoundPoint& point);
/// Dimensions that have a loop over tiles, outermost first.
std::vector<std::string> boundLoops(const NestProblem& problem, const BoundPoint& point);
/// Names of the tensors that the buffer keeps.
std::vector<std::string> boundKeeps(const NestProblem& problem, const BoundPoint& point);

/// One row per level, mapping and corner: `problem,kind,name,words,moved,tiles,loops,keeps`.
std::string boundCsv(const std::vector<DrawnBound>& all);

}  // namespace orrery
