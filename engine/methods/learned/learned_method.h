#pragma once

// Bind, price, explain and fit for methods that learn ln(seconds) from plain features. What differs between them is
// how they train.

#include "methods/kernel_method.h"

#include <string_view>

namespace orrery {

/// Fails for nothing: without a section a kernel is answered by a roofline, not priced.
Expected<KernelPricerPtr> bindLearned(std::string_view method, const GpuView& gpu, const CalibrationSet& calibrations);

/// One section per kind and variant of kernels, and per device unless across devices (then folds leave out whole
/// devices). Fails with `learning.no-rows` if there are none, `learning.cancelled` before the first section is done.
Expected<Calibration> fitLearned(std::string_view method, std::string_view version, std::span<const KernelRows> rows,
                                 const FitOptions& options, const TrainingOptions& training);

}  // namespace orrery
