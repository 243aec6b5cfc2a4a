#pragma once

// A machine's level over the order in which its networks were measured. A clock that is set, a driver that is changed
// or another program make all later networks slower or faster by one factor until the next such step. Steps are found
// in what a model leaves of its samples (binary segmentation: Scott and Knott 1974; Fryzlewicz, "Wild binary
// segmentation", Annals of Statistics 2014), against the scatter of neighbours, which no step is in.

#include "learning/edge/device_prior.h"

#include <cstddef>
#include <span>
#include <vector>

namespace orrery {

class LevelSteps {
public:
    static constexpr std::size_t leastSamples = 20;

    /// `order[i]`: when sample i was measured, in any unit and sequence; `off[i]`: ln(measured ÷ predicted). Without
    /// `leastSamples`, or where no step is larger than the scatter and surely there: one level.
    static LevelSteps find(std::span<const double> order, std::span<const double> off);

    struct Level {
        double mean = 0, low = 0, high = 0;  ///< ln of what is measured then ÷ what the last state measures
    };
    /// Between the last sample of a state and the first of the next both are possible. Before and after all samples
    /// steps go on as often, and as large, as they were seen: low and high hold nine in ten of them.
    Level at(double order) const;
    std::size_t states() const { return states_.size(); }  ///< 1 or more
    std::vector<double> begins() const;                    ///< when each state but the first was first measured

private:
    struct State {
        double first, last, level;  ///< when its samples were measured; ln ÷ the last one's
    };
    std::vector<State> states_{{0, 0, 0}};
    double stepsPerOrder_ = 0;
    std::vector<double> sizes_;  ///< of steps, sorted
};

/// A device conditioned on samples as if all had been measured in its last state.
struct OrderedModel {
    DeviceModel model;
    LevelSteps levels;
    /// Of a network that is measured then.
    Predicted at(const Predicted& told, double order) const;
};

/// As DevicePrior::condition, with `order` as in LevelSteps::find.
Expected<OrderedModel> conditionInOrder(const DevicePrior& prior, const FeatureRows& networks,
                                        std::span<const double> latencies, std::span<const double> order);

}  // namespace orrery
