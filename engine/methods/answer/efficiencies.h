#pragma once

#include "methods/answer/stated_errors.h"

#include <string_view>

namespace orrery {

/// Which share of the data sheet's peaks large kernels reach, one number per platform class, never per device or row.
struct Efficiencies {
    double compute = 1;    ///< of the matrix units' peak, by matrix products
    double attention = 1;  ///< of the same peak, by fused attention over many queries
    double memory = 1;     ///< of the main memory's bandwidth
    std::string_view basis;
};

/// From measured matrix products of the derivation devices; for platforms without references the same numbers, and a
/// basis that says so. tests/evaluation/tst_evaluation_stated.cpp measures them again.
Efficiencies efficienciesFor(Platform platform);

}  // namespace orrery
