#include "hardware/component.h"

#include <algorithm>
#include <array>
#include <limits>

namespace orrery {
namespace {

struct KindNames {
    std::string_view text;
    std::string_view label;
};

constexpr std::array<KindNames, componentKindCount> names{{{"system", "System"},
                                                           {"node", "Node"},
                                                           {"package", "Package"},
                                                           {"die", "Die"},
                                                           {"cluster", "Cluster"},
                                                           {"core", "Core"},
                                                           {"array", "Array"},
                                                           {"vector_unit", "Vector unit"},
                                                           {"tensor_unit", "Tensor unit"},
                                                           {"mac", "MAC"},
                                                           {"buffer", "Buffer"},
                                                           {"cache", "Cache"},
                                                           {"register_file", "Register file"},
                                                           {"dram", "DRAM"},
                                                           {"link", "Link"},
                                                           {"switch", "Switch"},
                                                           {"topology", "Topology"}}};

std::int64_t number(const Component& component, std::string_view attribute) {
    const Attribute* found = component.find(attribute);
    const Measure* measure = found ? std::get_if<Measure>(&found->value) : nullptr;
    return measure && measure->si >= 1 && measure->si < 1e9 ? static_cast<std::int64_t>(measure->si) : 1;
}

}  // namespace

std::string_view toText(ComponentKind kind) {
    return names[static_cast<std::size_t>(kind)].text;
}
std::string_view label(ComponentKind kind) {
    return names[static_cast<std::size_t>(kind)].label;
}
std::optional<ComponentKind> componentKind(std::string_view text) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].text == text) return static_cast<ComponentKind>(i);
    }
    return std::nullopt;
}

const Attribute* Component::find(std::string_view attribute) const {
    const auto found = std::find_if(attributes.begin(), attributes.end(),
                                    [attribute](const Attribute& a) { return a.name == attribute; });
    return found == attributes.end() ? nullptr : &*found;
}
Attribute* Component::find(std::string_view attribute) {
    return const_cast<Attribute*>(static_cast<const Component*>(this)->find(attribute));
}

std::int64_t Component::instances() const {
    std::int64_t product = count;
    for (const std::int64_t side : mesh) {
        if (__builtin_mul_overflow(product, side, &product)) return std::numeric_limits<std::int64_t>::max();
    }
    return product;
}

std::int64_t instancesIn(const Component& parent, const Component& child) {
    std::int64_t product = child.instances();
    const Attribute* per = parent.kind == ComponentKind::Dram ? child.find("per") : nullptr;
    const std::string* part = per ? std::get_if<std::string>(&per->value) : nullptr;
    if (!part) return product;
    product *= number(parent, "channels") * number(parent, "pseudo_channels");
    if (*part == "channel") return product;
    product *= number(parent, "ranks");
    if (*part != "rank") product *= number(parent, "chips");
    if (*part == "bank_group") product *= number(parent, "bank_groups");
    if (*part == "bank") product *= number(parent, "banks");
    return product;
}

std::string_view nameOf(const Component& component) {
    return component.name.empty() ? toText(component.kind) : std::string_view(component.name);
}

std::string_view sourceOf(const Component& component, const Attribute& attribute) {
    if (!attribute.source.empty()) return attribute.source;
    const Attribute* common = component.find("source");
    const std::string* text = common ? std::get_if<std::string>(&common->value) : nullptr;
    return text ? std::string_view(*text) : std::string_view();
}

}  // namespace orrery
