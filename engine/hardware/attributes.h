#pragma once

// Every attribute, declared once: the parser, the inspector, tooltips, validation, `--set` and the handbook read it.

#include "base/unit.h"
#include "hardware/component.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace orrery {

enum class AttributeForm : std::uint8_t { Measure, Choice, Text, List, Table };

struct AttributeSpec {
    std::string_view name;
    AttributeForm form;
    Dimension dimension;             ///< of a Measure, or of each row of a Table
    std::uint32_t kinds;             ///< bit set over ComponentKind, see on()
    std::optional<double> fallback;  ///< SI value used, with a stated assumption, where the attribute is absent
    double lowest;                   ///< the usual range in SI units: outside it the value is flagged, not refused
    double highest;
    std::string_view meaning;                   ///< one sentence for tooltip and handbook
    std::span<const std::string_view> choices;  ///< of a Choice
    bool explorable;                            ///< gets a log-scale slider

    bool on(ComponentKind kind) const { return (kinds >> static_cast<int>(kind)) & 1u; }
};

std::span<const AttributeSpec> attributeSpecs();
const AttributeSpec* attributeSpec(ComponentKind kind, std::string_view name);

}  // namespace orrery
