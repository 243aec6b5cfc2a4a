#pragma once

// A time as it is likely, and at its sides: what a closed form is evaluated at, all at once.

#include <algorithm>
#include <array>
#include <cstddef>

namespace orrery {

struct Sides {
    /// Least: kernels at their bound and exchanges at the wires' least.
    enum Side : std::size_t { Low, Likely, High, Least };
    static constexpr std::size_t count = 4;
    std::array<double, count> at{};

    double likely() const { return at[Likely]; }
    Sides& operator+=(const Sides& other) {
        for (std::size_t i = 0; i < count; ++i) at[i] += other.at[i];
        return *this;
    }
    Sides& operator-=(const Sides& other) {
        for (std::size_t i = 0; i < count; ++i) at[i] -= other.at[i];
        return *this;
    }
    friend Sides operator+(Sides a, const Sides& b) { return a += b; }
    friend Sides operator-(Sides a, const Sides& b) { return a -= b; }
    friend Sides operator*(Sides a, double factor) {
        for (double& each : a.at) each *= factor;
        return a;
    }
    friend Sides larger(Sides a, const Sides& b) {
        for (std::size_t i = 0; i < count; ++i) a.at[i] = std::max(a.at[i], b.at[i]);
        return a;
    }
};

}  // namespace orrery
