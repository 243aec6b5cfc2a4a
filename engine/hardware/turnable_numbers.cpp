#include "hardware/attribute_at.h"
#include "hardware/walk.h"

#include <fmt/format.h>

namespace orrery {

namespace {

// The shortest names by which a component is found.
std::string shortPath(const Component& root, const ComponentPath& path) {
    std::string whole = pathText(root, path);
    for (std::size_t at = whole.size(); at != std::string::npos && at > 0;) {
        at = whole.rfind('/', at - 1);
        std::string tail = at == std::string::npos ? whole : whole.substr(at + 1);
        const auto found = findComponent(root, tail);
        if (found && *found == path) return tail;
    }
    return whole;
}

}  // namespace

std::vector<TurnableNumber> turnableNumbers(const Component& root) {
    std::vector<TurnableNumber> all;
    walk(root, [&](const Component& component, const ComponentPath& path) {
        const std::string name = shortPath(root, path);
        for (const Attribute& attribute : component.attributes) {
            const AttributeSpec* spec = attributeSpec(component.kind, attribute.name);
            if (!spec || !spec->explorable) continue;
            const std::string own = name + "." + attribute.name;
            if (const auto* measure = std::get_if<Measure>(&attribute.value)) {
                if (measure->si > 0) all.push_back({own, spec, *measure});
            } else if (const auto* rows = std::get_if<std::vector<TableRow>>(&attribute.value)) {
                for (const TableRow& row : *rows)
                    if (row.value.si > 0) all.push_back({own + "." + row.key, spec, row.value});
            }
        }
        if (component.count > 1) {
            const auto count = static_cast<double>(component.count);
            all.push_back({name + ".count", nullptr, {count, false, fmt::format("{}", component.count)}});
        }
        return true;
    });
    return all;
}

}  // namespace orrery
