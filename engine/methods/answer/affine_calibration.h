#pragma once

// What a first-principles method leaves to measurement: a constant per launch, and where a method says so a share by
// which its time is stretched (a clock that does not hold, a schedule that is not perfect). Both are fitted per kind of
// kernel and device to the least mean |ln(measured ÷ predicted)|.
//
// Rows that a host timed (KernelRows::byHost) hold its call and its waiting too. What they take beyond the constant of
// rows timed on the device, or where there are none beyond the device's launch overhead, is kept apart as the
// framework's launch. A captured graph does not have it.

#include "learning/calibration.h"
#include "methods/kernel_method.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// seconds = constant + stretch × nominal.
struct Affine {
    double constant = 0, stretch = 1;
    double operator()(double nominal) const { return constant + stretch * nominal; }
};

/// Of the rows `fitTo` alone. `nominal` and `measured` in seconds. Without `fitStretch` only the constant is fitted.
/// Constants from 0 to 1 ms, stretches from 0.5 to 10. O(rows); deterministic.
Affine fitAffine(std::span<const double> nominal, std::span<const double> measured, std::span<const std::size_t> fitTo,
                 bool fitStretch);

/// Sections of one method for one device, found once.
class AffineSections {
public:
    AffineSections(std::string_view method, const CalibrationSet& calibrations, const GpuView& gpu);
    bool empty() const { return entries_.empty(); }
    /// Section for the kernel's kind and variant; null if there is none. Allocates nothing.
    const CalibrationSection* find(const Kernel& kernel) const;
    /// Its numbers, or the device's launch overhead and 1.
    Affine of(const Kernel& kernel) const;
    /// A framework's launch, that rows timed by a host have on top of the constant; 0 where none were.
    double hostLaunch(const Kernel& kernel) const;
    /// Price with the interval of its residuals. Where those are of rows timed by a host, with the seconds by which
    /// these were off, and upwards by the framework's launch too: what a captured graph keeps of it was not measured.
    /// Both up to a factor of two, which stands for what was never measured.
    KernelPrice price(const Kernel& kernel, double nominalSeconds, Bound bound) const;
    /// Correlation of residuals on this device, of the first section of that kind; 0 without one.
    double correlation(KernelKind kind) const;
    /// With the framework's launch.
    KernelPrice priceByHost(const Kernel& kernel, double nominalSeconds, Bound bound) const;

    /// Terms of the launch, for "why this number".
    void tellLaunch(const Kernel& kernel, KernelStory& story) const;
    /// What holds where nothing was fitted, or a framework's launch was; else empty.
    std::vector<std::string> assumptions() const;

private:
    struct Entry {
        const CalibrationSection* section;
        double distance;  ///< as distanceAbroad() says
    };
    const Entry* entry(const Kernel& kernel) const;
    KernelPrice priced(const Entry* found, double seconds, Bound bound) const;
    std::vector<Entry> entries_;
    CalibrationSet keep_;  ///< owns the sections
    double launch_;
};

/// A kernel's time by the method itself, without constant and stretch; 0 or less: it does not price this kernel.
using NominalSeconds = std::function<double(const Kernel&)>;
/// One section per kind, variant and device (or per kind and variant, across devices), from rows that `bound` prices.
/// Fails with `learning.…` where no row is priced; a stop ends it with what is there.
Expected<Calibration> fitAffineCalibration(std::string_view method, std::string_view version,
                                           std::span<const KernelRows> rows, const FitOptions& options, bool fitStretch,
                                           const std::function<NominalSeconds(const GpuView&)>& bound);

}  // namespace orrery
