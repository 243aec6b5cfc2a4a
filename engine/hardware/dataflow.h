#pragma once

// What stays in the processing elements of an array while the rest moves (terms of Chen et al., ISCA 2016). One list
// for what is drawn, mapped and simulated; which of them a machine can run is the machine's to say.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace orrery {

enum class Dataflow : std::uint8_t { WeightStationary, OutputStationary, InputStationary, RowStationary };

/// As hardware files spell them, in the order of the enumeration.
inline constexpr std::array<std::string_view, 4> dataflowNames{"weight-stationary", "output-stationary",
                                                               "input-stationary", "row-stationary"};

constexpr std::string_view toText(Dataflow dataflow) {
    return dataflowNames[static_cast<std::size_t>(dataflow)];
}
/// As SCALE-Sim's files have them: `ws`, `os`, `is`; `rs`.
std::string_view abbreviation(Dataflow dataflow);
/// In sentences: `weight stationary`.
std::string_view title(Dataflow dataflow);
/// From a hardware file's spelling, or from its abbreviation.
std::optional<Dataflow> dataflow(std::string_view text);

}  // namespace orrery
