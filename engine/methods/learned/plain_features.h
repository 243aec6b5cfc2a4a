#pragma once

// What learned methods see of a kernel and of the device that it runs on: logarithms of extents, work and peaks, and
// nothing that says how a GPU works.

#include "hardware/views/gpu_view.h"
#include "workload/kernel.h"

#include <span>
#include <string_view>

namespace orrery {

inline constexpr std::size_t mostPlainFeatures = 32;

/// Names in the order of `plainFeatures`, at most mostPlainFeatures; those of the kind's extents first, then work, then
/// the device.
std::span<const std::string_view> plainFeatureNames(KernelKind kind);
/// Fills out[0 … names). Numbers of 0 (no flops, no L2) count as 1, so that every logarithm is finite. Allocates
/// nothing.
void plainFeatures(const Kernel& kernel, const GpuView& gpu, std::span<double> out);

}  // namespace orrery
