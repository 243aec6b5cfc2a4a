#pragma once

// The one place where text with units becomes numbers and numbers become text.
//
// Decimal prefixes (k M G T P E, m u n p f) scale by 1000, binary ones (Ki Mi Gi Ti Pi) by 1024, and the two are
// never mixed up: 80 GB is 80e9 bytes, 80 GiB is 85.9e9. Rates per clock cycle (`128 B/cycle`, `512/cycle`) keep
// their cycle until a clock is known, see Measure::perCycle.

#include "base/diagnostic.h"
#include "base/quantity.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class Dimension {
    Number,              ///< dimensionless, may be fractional
    Count,               ///< dimensionless whole number
    Fraction,            ///< 0…1, printed in percent
    Time,                ///< s
    Data,                ///< B; `bit` is accepted
    DataRate,            ///< B/s, or B/cycle
    Operations,          ///< FLOP
    OperationRate,       ///< FLOP/s (`OP/s` is accepted), or per cycle
    Frequency,           ///< Hz
    Energy,              ///< J
    Power,               ///< W
    EnergyPerData,       ///< J/B (`pJ/bit` is accepted)
    EnergyPerOperation,  ///< J/FLOP
    Intensity,           ///< FLOP/B
    Area,                ///< m², usually written mm²
};

/// A number as a person wrote it: its SI value, whether it is per clock cycle, and the exact spelling, which is what
/// a file or an inspector shows again. Bytes per second for `B/s`; bytes per cycle for `B/cycle`.
struct Measure {
    double si = 0;
    bool perCycle = false;
    std::string spelling;
    bool operator==(const Measure&) const = default;

    /// The value per second, given the clock of the component that the measure stands on.
    double perSecond(Hertz clock) const { return perCycle ? si * clock.value : si; }
};

/// Reads `3.35 TB/s`, `80GiB`, `1.98 GHz`, `128 B/cycle`, `273 cycles` (Time), `3.9 pJ/bit`, `50 %`, `1e9`. A bare
/// number is taken in the dimension's base unit. Fails with what was expected and, if a unit looks like a slip
/// (`GBps`, `Gb/s` for bytes, wrong case), a hint that names the likely one. NaN and infinities are refused.
Expected<Measure> parseMeasure(std::string_view text, Dimension dimension);

/// Prints with an SI prefix and unit: `3.35 TB/s`. `digits` significant digits; 0 prints as many as needed to read
/// the same double back.
std::string formatMeasure(double si, Dimension dimension, int digits = 3);
/// The same with binary prefixes for data: `80 GiB`, `2.5 GiB/s`.
std::string formatBinary(double si, Dimension dimension, int digits = 3);
/// The base unit's symbol: `B/s`.
std::string_view baseUnit(Dimension dimension);
/// Symbols that a person may type for the dimension, most usual first (for completion and messages).
std::vector<std::string> unitSymbols(Dimension dimension);
std::string_view toText(Dimension dimension);

inline std::string format(Seconds q, int digits = 3) {
    return formatMeasure(q.value, Dimension::Time, digits);
}
inline std::string format(Bytes q, int digits = 3) {
    return formatMeasure(q.value, Dimension::Data, digits);
}
inline std::string format(Flops q, int digits = 3) {
    return formatMeasure(q.value, Dimension::Operations, digits);
}
inline std::string format(Joules q, int digits = 3) {
    return formatMeasure(q.value, Dimension::Energy, digits);
}
inline std::string format(Hertz q, int digits = 3) {
    return formatMeasure(q.value, Dimension::Frequency, digits);
}
inline std::string format(Watts q, int digits = 3) {
    return formatMeasure(q.value, Dimension::Power, digits);
}
inline std::string format(BytesPerSecond q, int digits = 3) {
    return formatMeasure(q.value, Dimension::DataRate, digits);
}
inline std::string format(FlopsPerSecond q, int digits = 3) {
    return formatMeasure(q.value, Dimension::OperationRate, digits);
}
inline std::string format(FlopsPerByte q, int digits = 3) {
    return formatMeasure(q.value, Dimension::Intensity, digits);
}

}  // namespace orrery
