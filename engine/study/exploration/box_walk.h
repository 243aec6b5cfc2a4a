#pragma once

// A walk through a box of numbers, 0 to 1 each, by an algorithm of pagmo (Biscani and Izzo 2020). pagmo stands in the
// plugin `orrery-agents.so` (app/agents): its library copies tables of test problems into every program that is linked
// with it, which took a quarter of the studio's start and most of the command line's. Standard headers alone, for both
// sides.

#include <cstddef>
#include <functional>
#include <vector>

namespace orrery {

using BoxNumbers = std::vector<double>;

enum class BoxAlgorithm {
    Moead,       ///< of several objectives
    CmaEs,       ///< of one
    Annealing,   ///< of one
    Ants,        ///< of one
    AntsOfMany,  ///< of several
};

struct BoxWalk {
    BoxAlgorithm algorithm = BoxAlgorithm::CmaEs;
    std::size_t knobs = 0, objectives = 1;
    BoxNumbers places;  ///< of those that it begins with: [member × knobs + k]
    BoxNumbers costs;   ///< theirs: [member × objectives + k]
    unsigned seed = 0;
    /// Costs of places that stand one behind the other. What it throws ends the walk and reaches the caller.
    const std::function<BoxNumbers(const BoxNumbers&)>* ask = nullptr;
};

/// Runs one until it is done. The plugin gives it by this name.
using WalkBox = void (*)(const BoxWalk& walk);
inline constexpr const char* walkBoxName = "orrery_walk_box";

}  // namespace orrery
