#pragma once

// From the array that is drawn to the one that is simulated, and from operators to layers on it.

#include "hardware/views/spatial_array_view.h"
#include "simulation/systolic/array.h"
#include "workload/graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

struct SystolicMachine {
    systolic::Array array;  ///< one of them; bandwidths are those of all words per cycle over the arrays
    std::int64_t arrays = 1;
    std::int64_t macsPerElement = 1;  ///< of the reduction, side by side
    double hertz = 0;
    double bytesPerSecond = 0;  ///< of main memory
    std::vector<std::string> assumptions;
};

/// For elements of so many bytes. SRAMs are the outermost levels on the chip that keep an operand, shared evenly by
/// those that they keep; an operand that no level keeps gets room for two tiles of the array. Fails with
/// `method.not-applicable` for row-stationary arrays.
Expected<SystolicMachine> systolicMachine(const SpatialArrayView& view, double elementBytes);

/// A layer that one array runs `rounds` times, one after another, while the other arrays do likewise.
struct SystolicShare {
    systolic::Layer layer;
    std::int64_t rounds = 1;
    std::int64_t arraysBusy = 1;
};

/// Products that an operator amounts to, dealt to the arrays: whole products where there are enough, else parts of the
/// filters or of the output rows, whichever ends first. A convolution keeps its windows (images one below the other);
/// attention is two products; what has no product gives none.
std::vector<SystolicShare> systolicShares(const Operator& op, const Graph& graph, const SystolicMachine& machine);
/// [m×k]·[k×n], `batch` times.
SystolicShare systolicShare(double batch, double m, double n, double k, const SystolicMachine& machine);

}  // namespace orrery
