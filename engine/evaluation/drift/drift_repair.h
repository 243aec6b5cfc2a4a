#pragma once

// What few new rows teach about all others. ln(measured ÷ believed) of a kernel is a constant, plus something smooth
// over one or all of its inputs, plus noise: a Gaussian process. How large each part is, and over which inputs it runs,
// is not known, so all choices of a fixed list answer, each weighed by how well it foretells the new rows (Bayesian
// model averaging; Rasmussen and Williams 2006, chapter 5; MacKay 1992). "Nothing has moved" and "one factor" are in
// the list: with few rows they lead, and more rows bring the others forward.

#include "evaluation/drift/later_rows.h"

#include <cstddef>
#include <span>
#include <vector>

namespace orrery {

struct RepairedRow {
    double seconds = 0;        ///< the mixture's mean, of the logarithm, or what is simpler
    double low = 0, high = 0;  ///< 90 % of measured values
};

/// Of which kinds the weight is; they sum to 1.
struct RepairShares {
    double nothing = 0, factor = 0, smooth = 0;
};

struct DriftRepair {
    std::vector<RepairedRow> rows;  ///< parallel to what was asked
    RepairShares shares;
};

/// Said is the simplest of "nothing has moved", the median ratio and the mixture that comes within one standard error
/// of the best where each known row is foretold by the others, with the mixture's intervals around it. `known`: indices
/// of rows whose later time may be looked at; `asked`: of those to answer, whose later time is not read. At most
/// `mostRepairRows` known ones are used, spread evenly. Same arguments, same bits. O(models × (known³ + asked ×
/// known²)).
inline constexpr std::size_t mostRepairRows = 128;
DriftRepair repair(const LaterRows& rows, const LaterInputs& inputs, std::span<const std::size_t> known,
                   std::span<const std::size_t> asked);

/// The median ratio of the known rows: what one factor would be.
double medianFactor(const LaterRows& rows, std::span<const std::size_t> known);

}  // namespace orrery
