#pragma once

// What each feature adds to what trees say of a row: Shapley values (Lundberg and Lee, NeurIPS 2017), exact for trees
// against rows to compare with (Lundberg et al., "From local explanations to global understanding with explainable AI
// for trees", Nature Machine Intelligence 2, 2020, interventional form).

#include "learning/trees.h"

#include <span>
#include <stop_token>
#include <vector>

namespace orrery {

/// Shapley values of one row of inputs() features: what a feature adds where it takes this row's value instead of that
/// of another row, in the mean over all orders of features and over `others` (rows × inputs(), not empty). They add up
/// to what the trees say of the row less their mean over the others; a feature that is alike in all gets 0. In the unit
/// of the prediction. O(others × nodes that a row may reach). All 0 where it was stopped.
std::vector<double> contributionsOf(const Trees& trees, std::span<const double> row, std::span<const double> others,
                                    const std::stop_token& stop = {});

}  // namespace orrery
