#include "hardware/check/fixes_find.h"

#include "hardware/attributes.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::fixes {
namespace {

struct Missing {
    ComponentPath path;
    NeededAttribute number;
};

void missingIn(const Component& component, ComponentPath& path, std::vector<Missing>& out) {
    // What stands in a tensor unit computes for it.
    const bool itself = component.kind != ComponentKind::TensorUnit || component.children.empty();
    for (const NeededAttribute& needed : neededAttributes(component.kind))
        if (itself && !component.find(needed.name)) out.push_back({path, needed});
    for (std::size_t i = 0; i < component.children.size(); ++i) {
        path.push_back(static_cast<int>(i));
        missingIn(component.children[i], path, out);
        path.pop_back();
    }
}

bool isClocked(const Component& root, ComponentPath path) {
    for (;; path.pop_back()) {
        if (componentAt(root, path)->find("clock")) return true;
        if (path.empty()) return false;
    }
}

bool isPerCycle(const Component& component, std::string_view attribute) {
    const Attribute* given = component.find(attribute);
    const auto* rows = given ? std::get_if<std::vector<TableRow>>(&given->value) : nullptr;
    return rows && std::ranges::any_of(*rows, [](const TableRow& row) { return row.value.perCycle; });
}

/// A usual number, which nobody has checked; of rates per cycle the clock that they need besides.
Expected<void> give(Hardware& design, const Missing& missing) {
    Component* component = componentAt(design.root, missing.path);
    if (!component) return fail("hardware.no-component", "the component is no longer there");
    const std::string name(missing.number.name);
    if (auto done = setAttribute(*component, name, std::string(missing.number.example)); !done)
        return Unexpected(done.error());
    component->find(name)->source = "unverified";
    if (!isPerCycle(*component, name) || isClocked(design.root, missing.path)) return {};
    if (const auto owner = clockOwner(design, missing.path))
        componentAt(design.root, *owner)->attributes.push_back(usualClock());
    return {};
}

Fix giveAll(std::string title, std::vector<Missing> all) {
    return {std::move(title), [all = std::move(all)](Hardware design) -> Expected<Hardware> {
                for (const Missing& one : all)
                    if (auto done = give(design, one); !done) return Unexpected(done.error());
                return design;
            }};
}

std::vector<Missing> missingIn(const Hardware& design) {
    std::vector<Missing> all;
    ComponentPath path;
    missingIn(design.root, path, all);
    return all;
}

}  // namespace

// The number that a problem names, and all that are missing; of a part alone, which a method cannot use, all of them.
Fixes missingNumber(const Hardware& design, const Found& found, const Diagnostic&) {
    const std::vector<Missing> all = missingIn(design);
    const auto named = std::ranges::find_if(all, [&](const Missing& one) {
        return one.path == found.path && one.number.name == found.attribute;
    });
    if (!found.attribute.empty() && named == all.end()) return {};
    Fixes out;
    if (named != all.end()) {
        const NeededAttribute& number = named->number;
        out.push_back(
            giveAll(fmt::format("Set `{}` to {}, marked as unverified", number.name, number.example), {*named}));
    }
    if (all.size() > out.size()) out.push_back(*allMissingNumbers(design));
    return out;
}

}  // namespace orrery::fixes

std::optional<orrery::Fix> orrery::allMissingNumbers(const Hardware& design) {
    auto all = fixes::missingIn(design);
    if (all.empty()) return std::nullopt;
    std::string title = all.size() == 1 ? std::string("Set the missing number to a usual value, marked as unverified")
                                        : fmt::format("Set all {} missing numbers to usual values, marked as unverified",
                                                      all.size());
    return fixes::giveAll(std::move(title), std::move(all));
}
