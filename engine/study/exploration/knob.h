#pragma once

// What a search may change, and the values that it may take: an attribute of the drawing, an option of the workload,
// a dimension of the plan, an option of the method, a key of a serving run, the software, or a column of a table
// (table_space.h). Ranges become lists, so that
// every point of a space has a number.

#include "methods/method.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class KnobOf : std::uint8_t { Hardware, Workload, Plan, Method, Serving, Software, Column };

struct Knob {
    KnobOf of = KnobOf::Hardware;
    /// `hbm3.bandwidth`, `sm.count`; `batch`; `tp`; `method.launch`, `method.compute.launch`; `serving.rate`,
    /// `serving.pools[2]/plan/tensor`; `software`
    std::string path;
    std::vector<std::string> values;  ///< as set, in order
    std::vector<double> numbers;      ///< of the values in SI units; of words: their place in the list
    Dimension dimension = Dimension::Number;
    bool logarithmic = false;  ///< steps are ratios: for axes of plots, and for agents that move by steps
    bool words = false;        ///< values are names (`bf16`, `1f1b`), so that their order means nothing
    std::string own = {};      ///< at which the base question stands: `3.35 TB/s`; empty where it has none
    bool free = false;         ///< of a free range: its values are so close that agents move over them as over numbers
};

struct KnobRange {
    std::string from, to;
    int steps = 5;  ///< values, with both ends; 2 to mostKnobValues
    bool logarithmic = false;
    bool free = false;  ///< no steps: freeKnobValues values, a thousandth of the range apart
    int count() const;
    bool operator==(const KnobRange&) const = default;
};

inline constexpr int mostKnobValues = 4096;
inline constexpr int freeKnobValues = 1001;
inline int KnobRange::count() const {
    return free ? freeKnobValues : steps;
}

/// `method`: who answers, as an id or a choice; options of the method are knobs of this one. Fails with `search.knob`
/// where nothing of the question has that path, and with `search.value` on a value that cannot be set there.
Expected<Knob> makeKnob(const Scenario& base, std::string_view path, std::vector<std::string> values,
                        std::string_view method = {});
/// Both ends and even steps between them, as differences or as ratios. Whole where the attribute is: values that round
/// to the same one stand once. Fails as above, and with `search.range` where the ends are no numbers, are equal, or are
/// not above 0 for ratios.
Expected<Knob> makeKnob(const Scenario& base, std::string_view path, const KnobRange& range,
                        std::string_view method = {});

/// The plan with dimensions set together (`ep` needs a `dp` that it divides), in the words of parsePlan().
Expected<Plan> withPlanValues(const Plan& plan, std::span<const std::string_view> keys,
                              std::span<const std::string> values);
/// `key`: of the method's card, or of the method in one of its slots: `compute.launch`. Fails as methodChoice().
Expected<MethodChoice> withMethodValue(const MethodChoice& choice, std::string_view key, std::string_view value);
/// The run with its keys set together (setSweepValues). Fails with `sweep.key` or `sweep.value`.
Expected<Task> withServingValues(const Task& task, std::span<const Knob* const> knobs,
                                 std::span<const std::string> values);
/// `launch` of `method.launch`, `rate` of `serving.rate`; the path itself of others.
std::string_view keyOf(KnobOf of, std::string_view path);
inline std::string_view keyOf(const Knob& knob) {
    return keyOf(knob.of, knob.path);
}
/// Where a value stands between the least (0) and the largest (1) of them, by ratios where the knob's steps are; of
/// words by their place in the list. 0 where all are equal.
double placeOf(const Knob& knob, std::size_t level);

}  // namespace orrery
