#pragma once

// How well a profile repeats itself: LLMServingSim's profiler measures attention on a grid (attention.csv), and
// some of the same points again as ends of its skew sweep (skew.csv: t_mean_us at the mean length, t_max_us at
// the longest one). Ratios of the two, less their median (the sweep sums its iterations), are the noise of one
// measurement.

#include "base/diagnostic.h"

#include <cstddef>
#include <filesystem>

namespace orrery {

struct ProfileRepeats {
    double low = 1, high = 1;  ///< 90 % of repeated measurements lie between these shares of the first
    std::size_t points = 0;    ///< measured twice; 0: not known
    bool known() const { return points > 0; }
};
/// Of a folder with attention.csv and skew.csv, plain or .gz. Not known without a sweep, with the columns of an older
/// one, or with fewer than 30 points in both. Fails on what is no number.
Expected<ProfileRepeats> readProfileRepeats(const std::filesystem::path& folder);

}  // namespace orrery
