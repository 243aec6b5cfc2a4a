#pragma once

// Fitting of `tile-hybrid`: the physical parameters first, then trees on what they leave.

#include "methods/kernel_method.h"

namespace orrery {

inline constexpr std::string_view tileHybridId = "tile-hybrid", tileHybridVersion = "2";

/// Sections per device hold trees over the features of kernels, or physics alone where rows are too few for trees;
/// those across devices also look at features of the device, and their residuals are of devices left out one by one.
Expected<Calibration> fitTileHybrid(std::span<const KernelRows> rows, const FitOptions& options);

}  // namespace orrery
