#pragma once

// What the closed form says of one plan: where a step's time goes, what each stage holds, what a step costs.

#include "methods/system/training/training_memory.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace orrery {

/// Times in seconds. compute … optimizer are of the mean stage and sum to `seconds`.
struct StepFigures {
    double seconds = 0;        ///< of one step
    double low = 0, high = 0;  ///< kernels and exchanges all at one side of their intervals
    double bound = 0;          ///< kernels at their least, exchanges at the wires' least; 0: not known
    double compute = 0;        ///< forwards, backwards and what is computed again
    double bubble = 0;         ///< a stage has nothing to do: filling, draining, stages that are not alike
    double tensor = 0;         ///< exposed exchanges inside layers, by the dimension of the plan
    double context = 0, expert = 0;
    double pipeline = 0;  ///< hand-overs between stages on the critical path
    double data = 0;      ///< gradients, shared parameters: what computing does not hide
    double optimizer = 0;

    std::vector<StageMemory> stages;
    double needs = 0;         ///< B of the stage that fills its device most
    double capacity = 0;      ///< B of that device; 0: not stated
    double hostNeeds = 0;     ///< B that the host holds for a device of the stage that needs most
    double hostCapacity = 0;  ///< B, a device's share of the host's memory; 0: not stated, or nothing is offloaded
    bool hostFits() const { return hostCapacity <= 0 || hostNeeds <= hostCapacity; }
    bool fits() const { return (capacity <= 0 || needs <= capacity) && hostFits(); }
    double missing() const { return capacity <= 0 ? 0 : std::max(0.0, needs - capacity); }  ///< B

    std::vector<std::int64_t> layers;  ///< of each stage, where stages stand on several kinds of device

    std::int64_t devices = 1;
    std::int64_t microbatches = 1;
    std::int64_t microbatchSize = 1;  ///< samples of a copy
    double mfu = 0;                   ///< model FLOPs of the step over the devices' peak; 0: no peak known
    double rate = 0;                  ///< tokens per second, of all devices; samples where the model has no tokens
    bool tokens = true;               ///< `rate` counts tokens
    double joules = 0;                ///< of a step: devices while they compute, and what is sent; 0: not stated
    double dollarsPerHour = 0;        ///< of all devices; 0: no price given
    double dollars() const { return dollarsPerHour * seconds / 3600; }                                ///< of a step
    double dollarsPerTrillion() const { return rate > 0 ? dollarsPerHour / 3600 / rate * 1e12 : 0; }  ///< tokens
    double deviceSeconds() const { return static_cast<double>(devices) * seconds; }                   ///< of a step
};

}  // namespace orrery
