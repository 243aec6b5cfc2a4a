#pragma once

// What makes two kernels the same question, as one number: splits hang on it, so that they can be made again from any
// file that holds the kernel, in any order, and so that repeated measurements stay together.

#include "workload/kernel.h"

#include <cstdint>
#include <string_view>

namespace orrery {

/// Of all fields that a kernel is asked by (not of flops and bytes, which follow, except for kinds that have no other).
/// Stable across runs, machines and versions: files keep splits that were made with it.
std::uint64_t kernelIdentity(const Kernel& kernel);

/// A number in [0, 1) that is spread evenly over kernels, for one seed and one device.
double splitPosition(std::uint64_t identity, std::string_view device, std::uint64_t seed);

}  // namespace orrery
