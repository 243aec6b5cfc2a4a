#pragma once

// Which methods would answer a question that did not ask them, and why the others would not.

#include "methods/method.h"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery::app {

struct MethodStanding {
    std::string id;
    bool live = false;
    std::optional<Seconds> latency;      ///< what it would answer, where it is asked at once
    std::optional<Diagnostic> why = {};  ///< it would not: what is missing, or what it is made for
    bool applies() const { return !why; }
};

/// The built-in methods that stand in no choice of `chosen`, in their order. Live ones are asked; slow ones that price
/// kernels are bound to the device, others of the slow ones are taken at their card's word. Stopped: what was asked.
std::vector<MethodStanding> probeMethods(const Scenario& scenario, const std::vector<std::string>& chosen,
                                         const CalibrationSet* calibrations, std::stop_token stop);

}  // namespace orrery::app
