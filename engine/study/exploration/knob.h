#pragma once

// What a search may change, and the values that it may take: an attribute of the drawing, an option of the workload,
// or a dimension of the plan. Ranges become lists, so that every point of a space has a number.

#include "methods/method.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class KnobOf : std::uint8_t { Hardware, Workload, Plan };

struct Knob {
    KnobOf of = KnobOf::Hardware;
    std::string path;                 ///< `hbm3.bandwidth`, `sm.count`; `batch`; `tp`
    std::vector<std::string> values;  ///< as set, in order
    std::vector<double> numbers;      ///< of the values in SI units; of words: their place in the list
    Dimension dimension = Dimension::Number;
    bool logarithmic = false;  ///< steps are ratios: for axes of plots, and for agents that move by steps
    bool words = false;        ///< values are names (`bf16`, `1f1b`), so that their order means nothing
};

struct KnobRange {
    std::string from, to;
    int steps = 5;  ///< values, with both ends; 2 to mostKnobValues
    bool logarithmic = false;
    bool operator==(const KnobRange&) const = default;
};

inline constexpr int mostKnobValues = 4096;

/// Fails with `search.knob` where neither the drawing nor the workload nor the plan has it, and with `search.value` on
/// a value that cannot be set there.
Expected<Knob> makeKnob(const Scenario& base, std::string_view path, std::vector<std::string> values);
/// Both ends and even steps between them, as differences or as ratios. Whole where the attribute is: values that round
/// to the same one stand once. Fails as above, and with `search.range` where the ends are no numbers, are equal, or are
/// not above 0 for ratios.
Expected<Knob> makeKnob(const Scenario& base, std::string_view path, const KnobRange& range);

/// The plan with one dimension set, in the words of parsePlan().
Expected<Plan> withPlanValue(const Plan& plan, std::string_view key, std::string_view value);
/// The value at which the base question stands: `3.35 TB/s`; empty where it has none.
std::string valueAt(const Scenario& base, const Knob& knob);

}  // namespace orrery
