#pragma once

// What of a question a knob's path means, before there are values. For sources of this folder only.

#include "study/exploration/knob.h"

namespace orrery {

struct KnobKind {
    KnobOf of = KnobOf::Hardware;
    Dimension dimension = Dimension::Number;
    bool whole = false, words = false;
    bool either = false;  ///< words unless all of the values are numbers
};
/// Fails with `search.knob`.
Expected<KnobKind> knobKind(const Scenario& base, std::string_view path, std::string_view method);
/// An option of a method, and what it stands at: `compute.launch` leads into the method of a slot. Fails with
/// `search.knob`.
struct OptionAt {
    const MethodOption* option = nullptr;
    std::string value;
};
Expected<OptionAt> optionAt(std::string_view method, std::string_view key);
/// Fails with `search.value`.
Expected<void> settable(const Scenario& base, const KnobKind& kind, std::string_view path, std::string_view value,
                        std::string_view method);
/// Where the question stands; empty where it has no value.
std::string ownValue(const Scenario& base, const KnobKind& kind, std::string_view path, std::string_view method);

}  // namespace orrery
