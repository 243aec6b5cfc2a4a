#include "hardware/design_facts.h"

#include "hardware/attribute_at.h"
#include "hardware/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace orrery {

namespace {

std::string factText(const Measure& measure, const AttributeSpec* spec) {
    if (!spec) return measure.spelling;
    std::string text = formatMeasure(measure.si, spec->dimension, 0);
    if (measure.perCycle && text.ends_with("/s")) text.replace(text.size() - 1, 1, "cycle");
    return measure.perCycle && !text.ends_with("cycle") ? text + "/cycle" : text;
}

void addPart(DesignFacts& facts, const Component& component, const std::string& path,
             const std::vector<std::string>& turned) {
    const auto add = [&](const std::string& attribute, std::string value) {
        if (std::find(turned.begin(), turned.end(), attribute) == turned.end())
            facts.values.emplace_back(path + "." + attribute, std::move(value));
    };
    facts.parts.push_back(path);
    facts.values.emplace_back(path, std::string(toText(component.kind)));
    add("count", fmt::format("{}", component.count));
    std::string mesh;
    for (const std::int64_t extent : component.mesh) mesh += fmt::format("{}{}", mesh.empty() ? "" : " x ", extent);
    if (!mesh.empty()) add("mesh", mesh);
    for (const Attribute& attribute : component.attributes) {
        const AttributeSpec* spec = attributeSpec(component.kind, attribute.name);
        if (const auto* measure = std::get_if<Measure>(&attribute.value)) {
            add(attribute.name, factText(*measure, spec));
        } else if (const auto* rows = std::get_if<std::vector<TableRow>>(&attribute.value)) {
            for (const TableRow& row : *rows) add(attribute.name + "." + row.key, factText(row.value, spec));
        } else {
            add(attribute.name, toText(attribute.value));
        }
    }
}

}  // namespace

DesignFacts designFacts(const Hardware& design, std::span<const std::string> turned) {
    std::map<ComponentPath, std::vector<std::string>> left;
    for (const std::string& path : turned)
        if (const auto at = attributeAt(design.root, path)) left[at->component].push_back(at->attribute);
    DesignFacts facts;
    addPart(facts, design.root, pathText(design.root, {}), left[{}]);
    walk(design.root, [&](const Component& component, const ComponentPath& path) {
        addPart(facts, component, pathText(design.root, path), left[path]);
        return true;
    });
    return facts;
}

}  // namespace orrery
