#pragma once

// How far the analytic methods were from measured kernels, as a few constants per method: quantiles of what was
// measured given what was predicted, by family of operators and by predicted time, because a microsecond kernel is
// missed by its launch and a millisecond kernel by its efficiency. tests/evaluation/tst_evaluation_stated.cpp measures
// them again from the reference data and fails if they have drifted.

#include "base/quantity.h"
#include "hardware/views/device_view.h"
#include "workload/costs.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace orrery {

enum class OperatorFamily : std::uint8_t { MatrixProduct, PrefillAttention, DecodeAttention, Elementwise, Convolution };
inline constexpr int operatorFamilyCount = 5;
/// Attention that reads a cache is that of decoding.
OperatorFamily familyOf(const CostTable& costs, std::size_t i);
std::string_view toText(OperatorFamily family);

/// Upper edges of the predicted-time classes, in seconds; the last class is open.
inline constexpr std::array<double, 3> errorClassEdges{10e-6, 100e-6, 1e-3};
inline constexpr int errorClassCount = 4;
inline int errorClass(double predictedSeconds) {
    int c = 0;
    while (c < errorClassCount - 1 && predictedSeconds >= errorClassEdges[static_cast<std::size_t>(c)]) ++c;
    return c;
}

/// Of the shortest class the quantiles of measured − predicted (seconds); of the others those of measured ÷ predicted.
struct ErrorQuantiles {
    double p5 = 0, p50 = 0, p95 = 0;
    int rows = 0;
    bool operator==(const ErrorQuantiles&) const = default;
};

/// Share of the rows of a device that the quantiles were not derived from that lie inside the bounds.
struct HeldOut {
    std::string_view device;
    double inside = 0;
    int rows = 0;
};

struct StatedErrors {
    std::string_view method;
    std::array<std::array<ErrorQuantiles, errorClassCount>, operatorFamilyCount> quantiles;
    std::string_view basis;  ///< data sets, date, devices that it was derived from
    std::array<HeldOut, operatorFamilyCount> heldOut;
};
/// `held out: 99.8 % of 35700 matrix products on H100 SXM, …`
std::string coverageText(const StatedErrors& errors);
/// One row per method: stated_errors_table.cpp.
std::span<const StatedErrors> statedErrorsTable();
/// Null for a method without stated errors.
const StatedErrors* statedErrors(std::string_view method);

/// A measured value lies between `low` and `high` seconds for one execution, with 90 % in the derivation set.
struct ErrorBounds {
    double low = 0, high = 0;
};
ErrorBounds errorBounds(const StatedErrors& errors, OperatorFamily family, double predictedSeconds);

/// Mean |ln(measured ÷ predicted)| to expect where 90 % of measured values lie from `low` to `high`: a normal error in
/// ln, off by its middle and as wide as the sides say. All in seconds and above 0.
double meanError(double predicted, double low, double high);
/// The same of such operators, as far as they were measured.
double meanError(const StatedErrors& errors, OperatorFamily family, double predictedSeconds);

/// Whether the device, by its name (`h100`), is of those that the quantiles were derived from or tested on.
bool statedFor(const DeviceView& device);

/// How far, in ln and for 90 %, the errors of row `i` may move where they were not measured: on a device that is none
/// of those; in formats below 16 bits, of which none was (quantising kernels and scales are in no peak and no
/// bandwidth); for attention, of which only heads of 128 in groups of up to eight were.
double statedShift(const DeviceView& device, const CostTable& costs, std::size_t i);
/// Bounds moved out by that, in ln beside their own sides.
ErrorBounds moved(const ErrorBounds& bounds, double predictedSeconds, double shift);

/// What kind of machine a view describes, as far as evidence goes.
enum class Platform : std::uint8_t { Gpu, Other };
Platform platformOf(const DeviceView& device);
/// On a platform without references, the sides of an interval are divided and multiplied by this.
inline constexpr double unknownPlatformWidening = 2.0;

}  // namespace orrery
