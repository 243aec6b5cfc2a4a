#pragma once

// How far measurements of one kernel lie from each other: the floor below which no method's error says anything, since
// a perfect one would have it too.

#include "evaluation/reference_table.h"

#include <span>
#include <vector>

namespace orrery {

/// Per row of a table, the mean |measured ÷ true − 1| that its measurement alone explains; below 0: not known.
/// Of a kernel that the table holds several times on one device (a transfer that reduces nothing is the same whatever
/// type its bytes are counted in): how far its rows lie from their geometric mean, n of them widened by √(n ÷ (n − 1))
/// because their own mean is nearer to them than the truth. Of a row with a noise: its mean deviation if normal, 0.8 σ.
/// Where both are known the larger one counts. Rows of one kernel that differ by more than `mostRepeatsDiffer` in the
/// median are no repeats: something that the table's description does not read tells them apart.
inline constexpr double mostRepeatsDiffer = 0.1;
std::vector<float> floorsOf(const ReferenceTable& table);

/// The same of a whole table.
struct Repeatability {
    std::size_t rows = 0;      ///< of which something is known; 0: nothing
    std::size_t repeated = 0;  ///< of them, those of kernels that were measured several times
    double mean = 0, median = 0, p90 = 0, worst = 0;
    double apart = 0;  ///< median of rows that look repeated and are not; 0: none do
};
Repeatability repeatabilityOf(const ReferenceTable& table);

}  // namespace orrery
