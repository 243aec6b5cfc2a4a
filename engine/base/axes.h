#pragma once

// Grids of values: what a study or a sweep changes, and the combinations. Plain values, and down here since the
// question that a person keeps (serving/serving_study.h) stands below the folders that walk its grid.

#include "base/diagnostic.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// One thing that is changed, and what it is set to.
struct SweepAxis {
    std::string key;                  ///< `batch`, the path of an attribute, a key of sweepKeys()
    std::vector<std::string> values;  ///< as written
    std::vector<Place> places = {};   ///< of the values in their file, where somebody needs them
    bool operator==(const SweepAxis&) const = default;
};

/// One combination: the index of a value for each axis.
using SweepPoint = std::vector<std::size_t>;

/// How many combinations there are; 1 without axes, 0 if an axis has no values; nothing if there are more than `most`.
std::optional<std::size_t> countPoints(std::span<const SweepAxis> axes, std::size_t most);
/// Combination `index` of them: the last axis varies fastest.
SweepPoint pointAt(std::span<const SweepAxis> axes, std::size_t index);
/// Its values, as written.
std::vector<std::string> valuesAt(std::span<const SweepAxis> axes, const SweepPoint& point);
/// ` (batch 8, hbm.bandwidth 2 TB/s)`; empty without axes.
std::string pointLabel(std::span<const SweepAxis> axes, const SweepPoint& point);

}  // namespace orrery
