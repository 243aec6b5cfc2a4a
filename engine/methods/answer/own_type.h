#pragma once

// A device that has no unit for the types of a model answers in its own type instead of refusing: an array of 8-bit
// integers asked about a bf16 model runs it in int8.

#include "methods/method.h"

#include <optional>

namespace orrery {

struct InOwnType {
    Scenario scenario;  ///< its workload computes in `own`
    DType asked, own;
    std::string device;
    /// Appends the assumption and the warning `precision.own-type` with its fix.
    void say(Estimate& answer) const;
};

/// The scenario with every tensor of a type that the first device cannot multiply stored in that device's own type,
/// and operators that say their type computing in it. Indices and truth values stay. Nothing where all types are known,
/// or where the device multiplies nothing.
std::optional<InOwnType> inOwnType(const Scenario& scenario);

}  // namespace orrery
