#pragma once

// Which schedule to try next. What is believed of each before any was tried (a model of other operators, or an estimate
// of a kernel method) is the mean of a Gaussian process over the schedules' features; each trial moves the beliefs of
// those alike (Srinivas, Krause, Kakade and Seeger, "Gaussian process optimization in the bandit setting", ICML 2010;
// Ansor's search measures what its model ranks highest likewise).

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace orrery {

struct SearchCandidates {
    std::size_t columns = 0;
    std::vector<double> features;  ///< candidates × columns, in any units: each is brought to its spread
    std::vector<double> believed;  ///< share of the best, 0 to 1, higher is better; one each
};

struct GuidedSearch {
    double curiosity = 0.3;   ///< deviations that are added to a belief
    double unsure = 0.25;     ///< deviation of beliefs before any trial
    std::size_t trials = 64;  ///< at most
    std::stop_token stop = {};
};

/// Tries candidates one by one; `seconds` answers with what one took, 0 where it failed. What is learned are shares of
/// the best time so far. Gives the candidates in the order of their trials. O(candidates² + candidates · trials²).
std::vector<std::size_t> searchGuided(const SearchCandidates& candidates,
                                      const std::function<double(std::size_t)>& seconds, const GuidedSearch& options);

/// Trials that a search without any model needs until it has one of `good` among `all`, expected: (all + 1) ÷ (good +
/// 1).
double trialsByChance(std::size_t all, std::size_t good);

}  // namespace orrery
