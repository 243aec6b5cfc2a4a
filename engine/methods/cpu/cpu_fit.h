#pragma once

// What a processor leaves to measurement, per kind of kernel and, for vector kernels, per function: a constant per
// call, and how much longer than at their peaks computing and moving take.

#include "methods/cpu/cpu_roofline.h"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace orrery {

/// seconds = constant + compute × CoresTime::compute + memory × CoresTime::memory.
struct CoresShares {
    double constant = 0, compute = 1, memory = 1;
    double operator()(const CoresTime& time) const { return constant + compute * time.compute + memory * time.memory; }
};

/// The shares, none below 0, with about the least mean of |predicted ÷ measured − 1| over rows `fitTo`: least squares
/// of relative errors, weighted anew ten times. A weak pull towards `usual` decides what the rows leave open.
/// Deterministic.
CoresShares fitShares(std::span<const CoresTime> times, std::span<const double> measured,
                      std::span<const std::size_t> fitTo, const CoresShares& usual);

using SectionParameters = std::map<std::string, double, std::less<>>;
/// Under the names of calibration files: `launch constant`, `compute stretch`, `memory stretch`, and the same with
/// ` of Gelu` for one function of vector kernels.
void keepShares(const CoresShares& shares, std::string_view function, SectionParameters& parameters);
/// Of this function if it has its own, else of all. Allocates nothing.
CoresShares sharesOf(const SectionParameters& parameters, std::string_view function, const CoresShares& usual);

/// One section per device, kind and type.
Expected<Calibration> fitCores(std::string_view method, std::string_view version, std::span<const KernelRows> rows,
                               const FitOptions& options);

}  // namespace orrery
