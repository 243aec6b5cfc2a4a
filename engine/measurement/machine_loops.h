#pragma once

// Loops that say what a machine can do: its clock, its arithmetic and its memory. Compiled with optimisation in every
// build type.

#include <cstddef>
#include <span>
#include <string_view>

namespace orrery {

/// Dependent additions, one per cycle on every core of today: their rate is the clock, in Hz. Takes about a
/// millisecond.
double clockByAdditions();

/// Vector registers that this processor can use: `avx512`, `avx2`, `128 bit`, and their width in floats.
struct VectorWidth {
    std::string_view name;
    int lanes = 4;
};
VectorWidth vectorWidth();

/// Independent fp32 multiply-additions in the widest registers on one core: FLOP/s.
double multiplyAddRate();

/// c = a + b.
void addInto(const float* a, const float* b, float* c, std::size_t count);

}  // namespace orrery
