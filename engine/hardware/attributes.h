#pragma once

// Every attribute, declared once: the parser, the inspector, tooltips, validation, `--set` and the handbook read it.

#include "base/unit.h"
#include "hardware/component.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
/// Null if components of this kind have no such attribute.
const AttributeSpec* attributeSpec(ComponentKind kind, std::string_view name);
/// What a part of this kind is of little use without; `example` is a usual value, as a file spells it.
struct NeededAttribute {
    std::string_view name, example;
};
std::span<const NeededAttribute> neededAttributes(ComponentKind kind);
/// Names of all attributes of a kind, in the order of attributeSpecs().
std::vector<std::string> attributeNames(ComponentKind kind);

/// Reads one value from text against its declaration: `3.35 TB/s`, `fat-tree`, `inputs, outputs` or `[inputs]`,
/// `bf16: 512/cycle, fp8: 1024/cycle`. Negative numbers, unknown choices, unknown or repeated types are refused.
Expected<Attribute::Value> parseAttribute(const AttributeSpec& spec, std::string_view text);
/// One number of an attribute or of a row of its table.
Expected<Measure> parseAttributeMeasure(const AttributeSpec& spec, std::string_view text);
/// Refuses keys that are not number types, and types given twice.
Expected<void> checkRows(const AttributeSpec& spec, const std::vector<TableRow>& rows);
/// Whether a number lies within the usual range. Per-cycle numbers are judged at 1 GHz.
bool isUsual(const AttributeSpec& spec, const Measure& measure);
/// The value on one line, as parseAttribute reads it.
std::string toText(const Attribute::Value& value);

}  // namespace orrery
