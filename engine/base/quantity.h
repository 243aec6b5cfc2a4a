#pragma once

// Typed quantities. A Quantity is one double in SI base units tagged with the exponents of time (s), data (byte),
// work (floating-point operation) and energy (J); products and quotients get the right type at compile time and
// dimensionless results decay to double. Text with units is parsed and printed in unit.h, nowhere else.

#include <cmath>
#include <compare>

namespace orrery {

template <int Time, int Data, int Work, int Energy>
struct Quantity {
    double value = 0;

    constexpr Quantity() = default;
    constexpr explicit Quantity(double si) : value(si) {}

    constexpr auto operator<=>(const Quantity&) const = default;
    constexpr Quantity& operator+=(Quantity other) { return value += other.value, *this; }
    constexpr Quantity& operator-=(Quantity other) { return value -= other.value, *this; }
    constexpr Quantity& operator*=(double factor) { return value *= factor, *this; }
    constexpr Quantity operator-() const { return Quantity(-value); }
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value + b.value); }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value - b.value); }
    friend constexpr Quantity operator*(Quantity a, double k) { return Quantity(a.value * k); }
    friend constexpr Quantity operator*(double k, Quantity a) { return Quantity(a.value * k); }
    friend constexpr Quantity operator/(Quantity a, double k) { return Quantity(a.value / k); }
};

namespace detail {
template <int T, int D, int W, int E>
constexpr auto quantity(double value) {
    if constexpr (T == 0 && D == 0 && W == 0 && E == 0) {
        return value;
    } else {
        return Quantity<T, D, W, E>(value);
    }
}
}  // namespace detail

template <int T, int D, int W, int E, int T2, int D2, int W2, int E2>
constexpr auto operator*(Quantity<T, D, W, E> a, Quantity<T2, D2, W2, E2> b) {
    return detail::quantity<T + T2, D + D2, W + W2, E + E2>(a.value * b.value);
}
template <int T, int D, int W, int E, int T2, int D2, int W2, int E2>
constexpr auto operator/(Quantity<T, D, W, E> a, Quantity<T2, D2, W2, E2> b) {
    return detail::quantity<T - T2, D - D2, W - W2, E - E2>(a.value / b.value);
}
template <int T, int D, int W, int E>
constexpr auto operator/(double k, Quantity<T, D, W, E> a) {
    return detail::quantity<-T, -D, -W, -E>(k / a.value);
}

using Seconds = Quantity<1, 0, 0, 0>;
using Bytes = Quantity<0, 1, 0, 0>;
using Flops = Quantity<0, 0, 1, 0>;  ///< a number of floating-point (or integer) operations; a multiply-add is two
using Joules = Quantity<0, 0, 0, 1>;
using Hertz = Quantity<-1, 0, 0, 0>;
using BytesPerSecond = Quantity<-1, 1, 0, 0>;
using FlopsPerSecond = Quantity<-1, 0, 1, 0>;
using FlopsPerByte = Quantity<0, -1, 1, 0>;  ///< arithmetic intensity
using Watts = Quantity<-1, 0, 0, 1>;
using JoulesPerByte = Quantity<0, -1, 0, 1>;
using JoulesPerFlop = Quantity<0, 0, -1, 1>;

template <int T, int D, int W, int E>
constexpr Quantity<T, D, W, E> max(Quantity<T, D, W, E> a, Quantity<T, D, W, E> b) {
    return a.value < b.value ? b : a;
}
template <int T, int D, int W, int E>
constexpr Quantity<T, D, W, E> min(Quantity<T, D, W, E> a, Quantity<T, D, W, E> b) {
    return b.value < a.value ? b : a;
}

}  // namespace orrery
