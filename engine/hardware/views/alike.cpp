#include "base/hash.h"
#include "hardware/views/device_parts.h"

#include <array>

namespace orrery::detail {
namespace {

bool isWord(std::string_view attribute) {
    constexpr std::array<std::string_view, 6> words{"source", "note", "from", "to", "from_port", "to_port"};
    for (const std::string_view word : words) {
        if (word == attribute) return true;
    }
    return false;
}

std::uint64_t hashOf(const Attribute& attribute) {
    Hash hash;
    hash.add(attribute.name);
    const auto add = [&hash](const Measure& measure) {
        hash.add(measure.si).add(static_cast<std::uint64_t>(measure.perCycle));
    };
    if (const auto* measure = std::get_if<Measure>(&attribute.value)) add(*measure);
    if (const auto* text = std::get_if<std::string>(&attribute.value)) hash.add(*text);
    if (const auto* list = std::get_if<std::vector<std::string>>(&attribute.value)) {
        for (const std::string& each : *list) hash.add(each);
    }
    if (const auto* rows = std::get_if<std::vector<TableRow>>(&attribute.value)) {
        for (const TableRow& row : *rows) {
            hash.add(row.key);
            add(row.value);
        }
    }
    return hash.value();
}

}  // namespace

// Sums do not depend on order, and n alike children add n times what one adds.
std::uint64_t alikeHash(const Component& component) {
    Hash own;
    own.add(static_cast<std::uint64_t>(component.kind));
    for (const std::int64_t side : component.mesh) own.add(static_cast<std::uint64_t>(side));
    std::uint64_t sum = 0;
    for (const Attribute& attribute : component.attributes) {
        if (!isWord(attribute.name)) sum += hashOf(attribute);
    }
    for (const Component& child : component.children) {
        Hash one;
        one.add(alikeHash(child));
        sum += one.value() * static_cast<std::uint64_t>(instancesIn(component, child));
    }
    own.add(sum);
    return own.value();
}

}  // namespace orrery::detail
