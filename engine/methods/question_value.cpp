#include "methods/question_value.h"

#include "base/text/words.h"
#include "hardware/attribute_at.h"
#include "hardware/copies.h"

#include <fmt/format.h>

namespace orrery {

std::string planValue(const Plan& plan, std::string_view key) {
    const std::string all = toText(plan);
    for (std::string_view rest = all; !rest.empty();) {
        const auto comma = rest.find(',');
        const std::string_view part = trimmed(rest.substr(0, comma));
        if (part.size() > key.size() && part.starts_with(key) && part[key.size()] == '=')
            return std::string(part.substr(key.size() + 1));
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    return key == "zero" || key == "shard" || key == "sp" || key == "mb" ? "0" : key == "sched" ? "1f1b" : "1";
}

std::string drawnValue(const Hardware& design, std::string_view path) {
    const auto at = attributeAt(design.root, path);
    if (!at) return {};
    const Component& component = *componentAt(design.root, at->component);
    if (at->attribute == "count")
        return fmt::format("{}", isGridOfCopies(component) ? component.instances() : component.count);
    const auto dot = at->attribute.find('.');
    const Attribute* attribute = component.find(std::string_view(at->attribute).substr(0, dot));
    if (!attribute) return {};
    if (dot == std::string::npos) return toText(attribute->value);
    if (const auto* rows = std::get_if<std::vector<TableRow>>(&attribute->value)) {
        for (const TableRow& row : *rows)
            if (row.key == at->attribute.substr(dot + 1)) return row.value.spelling;
    }
    return {};
}

}  // namespace orrery
