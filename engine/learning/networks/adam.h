#pragma once

// Adam with decoupled weight decay (Kingma and Ba, ICLR 2015; Loshchilov and Hutter, ICLR 2019).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

namespace orrery {

template <class Real>
class Adam {
public:
    /// Moves parameters against their slopes · `share`, and leaves the slopes 0 for the next sum.
    void step(std::span<Real> parameters, std::span<Real> slopes, Real rate, Real decay, Real share) {
        constexpr Real keepFirst = Real(0.9), keepSecond = Real(0.99), least = Real(1e-8);
        first_.resize(parameters.size());
        second_.resize(parameters.size());
        ++steps_;
        const Real first = 1 / (1 - std::pow(keepFirst, Real(steps_)));
        const Real second = 1 / (1 - std::pow(keepSecond, Real(steps_)));
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const Real slope = slopes[i] * share;
            slopes[i] = 0;
            first_[i] = keepFirst * first_[i] + (1 - keepFirst) * slope;
            second_[i] = keepSecond * second_[i] + (1 - keepSecond) * slope * slope;
            parameters[i] -=
                rate * (first * first_[i] / (std::sqrt(second * second_[i]) + least) + decay * parameters[i]);
        }
    }

private:
    std::vector<Real> first_, second_;
    int steps_ = 0;
};

/// The rate after `part` of a training, 0 to 1: up in its first twentieth, down as a cosine.
inline double warmedAndCooled(double rate, double part) {
    return rate * std::min(1.0, part * 20) * (0.5 * (1 + std::cos(std::numbers::pi * part)));
}

}  // namespace orrery
