#pragma once

// One stack's numbers on one generation, by least squares with a prior (stack_fit.h).

#include "methods/system/training/training_stack.h"

#include <array>
#include <functional>
#include <span>
#include <vector>

namespace orrery {

/// What is fitted: ln of kernels, of attention over kernels, of experts over kernels, overlap, ln of exchanges, hidden
/// shares of tensor-parallel exchanges and of gatherings, ms of the host for a layer and for one with experts.
inline constexpr std::size_t stackNumberCount = 9;
using StackNumbers = std::array<double, stackNumberCount>;
struct StackPrior {
    StackNumbers mean{}, deviation{};
};
StackPrior firstPrior();

struct StackProblem {
    std::vector<double> measured, weights;  ///< s; by row
    bool eager = false;                     ///< the host issues every kernel: it may be what is waited for
    bool experts = false;                   ///< some rows are of models with experts
    /// The answer's seconds for a row; 0: it has none.
    std::function<double(const StackOnGeneration& row, std::size_t i)> answer;
};
struct StackSolution {
    StackOnGeneration row;  ///< rounded to thousandths
    StackNumbers numbers{};
    StackNumbers known{};                      ///< share of each that steps decide, not the prior: 0 to 1
    double decided = 0;                        ///< how many numbers the steps decide
    std::vector<double> residuals, leverages;  ///< ln(measured ÷ answer) of the rounded numbers; 0 to 0.9
};
/// `from`: numbers that are near; null: several ways down are tried.
StackSolution solveStack(const StackProblem& problem, const StackPrior& prior, const StackNumbers* from = nullptr);

/// Means over stacks, each weighed by how far its steps decide, beside one of the first prior.
StackPrior commonPrior(std::span<const StackSolution> stacks);

}  // namespace orrery
