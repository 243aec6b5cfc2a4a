#pragma once

// The work side of every analytic method: how fast the device's units do each precision, looked up once, so that the
// loop over operators reads two short arrays.

#include "base/diagnostic.h"
#include "hardware/views/device_view.h"
#include "workload/costs.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

/// Seconds per operation, by precision; 0 where no unit does that work (it is then priced by its bytes alone).
struct ComputeRates {
    std::array<double, dtypeCount> matrix{};
    std::array<double, dtypeCount> vector{};
    /// Both kinds of work take the same unit, so that their times add instead of overlapping.
    std::array<bool, dtypeCount> shared{};

    /// Shortest time for the work of operator i on full units, once.
    double seconds(const CostTable& costs, std::size_t i) const {
        return seconds(costs.type[i], costs.macs[i], costs.flops[i]);
    }
    /// Of `flops` operations in all, a multiply-accumulate counted as two.
    double seconds(DType type, double macs, double flops) const {
        const auto t = static_cast<std::size_t>(type);
        const double product = 2 * macs;
        const double rest = flops > product ? flops - product : 0.0;
        const double a = product * matrix[t];
        const double b = rest * vector[t];
        return shared[t] ? a + b : (a < b ? b : a);
    }
};

struct ComputeRatesResult {
    ComputeRates rates;
    std::vector<std::string> assumptions;
};

/// Of every type, whether a workload needs it or not.
ComputeRates ratesOf(const DeviceView& device);
/// `hardware.missing-peak`: the device multiplies no matrices in that type or a wider one.
Diagnostic missingPeak(const DeviceView& device, DType type);
/// The type in which a device without a unit for `type` multiplies: the fastest one, of equals the widest. Nothing for a
/// device that multiplies nothing.
std::optional<DType> ownType(const DeviceView& device);

/// Fails with `hardware.missing-peak` if the workload multiplies matrices in a precision for which no unit of the
/// device has a peak.
Expected<ComputeRatesResult> computeRates(const DeviceView& device, const CostTable& costs);

}  // namespace orrery
