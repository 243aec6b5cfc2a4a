#pragma once

// Two half batches that take turns on a device and on units beside it: while one half is in the memory's units, the
// other multiplies on the device (sub-batch interleaving; Heo et al., NeuPIMs, ASPLOS 2024). Weights are read twice, so
// that it pays for large batches only.

#include "methods/model/compose.h"

#include <optional>
#include <span>

namespace orrery {

/// A kernel of one half, or several in a row.
struct TurnStretch {
    bool beside = false;  ///< on the units beside the device
    double seconds = 0;
};

/// Until two halves are through `times` equal blocks. A half keeps its place for as long as it needs it; each place
/// works for one half at a time, the first half first. O(stretches × blocks until the two keep pace).
double secondsOfTurns(std::span<const TurnStretch> block, int times);

/// The kernel with half of its sequences, rounded up; vector kernels of one row stay whole. Nothing for products and
/// attention of one sequence, and for kernels that decoding does not run. As many experts are taken to be chosen as by
/// the whole batch.
std::optional<Kernel> halfOfBatch(const Kernel& kernel);

/// Seconds of a pass that taking turns saves; 0 where nothing runs beside the device, where a kernel cannot be halved,
/// and where two halves take longer than the whole. The host is left aside: for passes that one graph holds. What the
/// second reading of the weights adds to bytes and energy is not counted.
double savedByTurns(const Composition& composition);

}  // namespace orrery
