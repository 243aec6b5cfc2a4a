#pragma once

// What a score is worth that puts things in order.

#include <span>

namespace orrery {

/// LambdaRank (Burges, "From RankNet to LambdaRank to LambdaMART", Microsoft Research MSR-TR-2010-82, sections 2 to 4):
/// for each pair that `worth` (higher is better) orders, the logistic loss of the difference of their scores ÷
/// `temperature`, times how much the discounted gain of the list would change if both changed places. Adds d(loss) ÷
/// d(score) · `weight` to `slopes`, and returns the loss · `weight`. Places are those of the scores; pairs are weighed
/// so that their weights sum to one.
double addRankSlopes(std::span<const float> scores, std::span<const double> worth, double temperature, double weight,
                     std::span<float> slopes);

}  // namespace orrery
