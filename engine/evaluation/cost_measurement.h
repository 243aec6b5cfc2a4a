#pragma once

// From answers and the CPU time that they took to the rates that cards state (methods/cost_model.h).

#include "methods/cost_model.h"
#include "methods/method.h"

#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

/// One question, asked until it was timed well.
struct CostSample {
    std::string question;  ///< Scenario::name()
    CostCounts counts;
    double seconds = 0;  ///< CPU time of one answer on one thread
    double stated = 0;   ///< as the card's rates have it
};

struct MeasuredCost {
    std::string method;
    std::vector<CostSample> samples;  ///< of the questions that it answers
    CostModel fitted;                 ///< the rates that the card has, with the least squares of ln(measured ÷ fitted)
    /// Median and worst of max(measured ÷ stated, stated ÷ measured); 1 or more, 0 without samples.
    double medianFactor = 0, worstFactor = 0;
};

/// Questions of several sizes on a GPU, a TPU and a small array: passes of models with few and many kernels, folded and
/// unfolded, a training step, a serving run. Fails as the catalogues do.
Expected<std::vector<Scenario>> costQuestions();

/// Asks on the calling thread alone, and leaves out what the method does not answer. What every answer shares
/// (calibrations, DRAM timings) is made before. Answers of less than 1 ms are the least of several tries; longer ones
/// count as they took at the first time, before a search could find what it keeps. Fails with `study.cancelled`.
Expected<MeasuredCost> measureCost(const Method& method, std::span<const Scenario> questions,
                                   std::stop_token stop = {});

/// Rates for samples; those that are 0 in `shape` stay 0. Needs one sample at least.
CostModel fitCost(std::span<const CostSample> samples, const CostModel& shape);

}  // namespace orrery
