#pragma once

// How likely an answer is off by more than a factor of two, from its 90 % interval alone.

#include <cmath>
#include <limits>

namespace orrery {

/// Chance, 0 to 1, that the truth lies above 2 · seconds or below seconds ÷ 2. Each side of the interval, in ln, is the
/// 95 % point of an error whose tails are those of Student's t with three degrees of freedom: errors of kernels have
/// longer tails than normal ones, also where the interval is narrow. Not a number where the interval is empty or open.
inline double chanceOffByTwo(double seconds, double low, double high) {
    if (!(low > 0) || !(seconds >= low) || !(high >= seconds) || !(high > low) || !std::isfinite(high))
        return std::numeric_limits<double>::quiet_NaN();
    constexpr double point = 2.353363434801823;  // 95 % of t with three degrees of freedom
    constexpr double root = 1.7320508075688772, pi = 3.141592653589793;
    const double two = std::log(2.0);
    const auto beyond = [&](double side) {
        if (!(side > 0)) return 0.0;
        const double x = two / side * point / root;
        return 0.5 - (std::atan(x) + x / (1 + x * x)) / pi;
    };
    return beyond(std::log(seconds / low)) + beyond(std::log(high / seconds));
}

}  // namespace orrery
