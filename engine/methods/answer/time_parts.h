#pragma once

// Figures that divide the time of an answer: what worked in it, each moment counted once.

#include "methods/estimate.h"

#include <string_view>
#include <vector>

namespace orrery {

/// Figure::basis of such a figure.
inline constexpr std::string_view partOfTime = "a part of the time";

/// They add up to the latency; none where an answer is not divided so. Pointers into the answer.
inline std::vector<const Figure*> partsOfTime(const Estimate& answer) {
    std::vector<const Figure*> parts;
    for (const Figure& each : answer.figures)
        if (each.basis == partOfTime) parts.push_back(&each);
    return parts;
}

}  // namespace orrery
